# SPDX-License-Identifier: Apache-2.0
"""The bars of STEP=3 of check-cluster about crowds, moves and neighbours: 4, 5 and 6. CONNECTIONS asks for another size of bar 4,
MIGRATE_ORDERS of bar 5."""
import os
import re
import sys

from bars import REPOSITORY, Ended, asked, box, command_run
from cluster_step_2 import POSTGRES, REDIS, program

RULES = os.path.join(REPOSITORY, "tests", "e2e", "cluster")
AT_ONCE = 4  # they wait more than they compute
KINDS = {"postgres": "PostgreSQL", "mysql": "MariaDB"}


def bar_4(bars):
    connections, many = asked("CONNECTIONS", 100000)
    bars.part("4", f"{connections} connections at six gateways, a burst of one purchase on each: no error, stock exact",
              lambda: program("cluster_connections.py", [*POSTGRES, *REDIS], "--connections", connections, seconds=box(400, many)))


def killed(name, kind):
    """A move that is killed after each of its changes: a file of tests/e2e."""
    output = command_run(["env", f"MIGRATE_KIND={kind}", sys.executable, os.path.join(RULES, f"{name}_test.py")], 400, may_fail=True)
    total = re.search(r"^(\d+) passed, (\d+) failed", output, re.M)
    if not total:
        raise Ended(output[-300:])
    wrong = [line[:200] for line in output.splitlines() if line.startswith("FAIL")]
    return " | ".join([f"{total[1]} rules passed, {total[2]} failed", *wrong[:3]]), total[2] == "0"


def bar_5(bars):
    orders, many = asked("MIGRATE_ORDERS", 100000)
    bars.parts(AT_ONCE, [part for kind, name in KINDS.items() for part in (
        (f"5 up, {name}", "migrate killed after each change: goes on, source and target never both open, what was told stays",
         lambda kind=kind: killed("migrate", kind)),
        (f"5 back, {name}", "the same from many machines to one", lambda kind=kind: killed("migrate_back", kind)))])
    for kind, name in KINDS.items():
        bars.part(f"5 size, {name}", f"{orders} orders, killed in the middle of the table: what is there is not copied again",
                  lambda kind=kind: program("cluster_migrate.py", [], "--kind", kind, "--orders", orders, seconds=box(400, many)))


def bar_6(bars):
    bars.part("6", "a flood of Stampede leaves the latency of a neighbour on the same machine unchanged (deploy/stampede-beside.conf)",
              lambda: program("cluster_neighbour.py", [], seconds=200))
