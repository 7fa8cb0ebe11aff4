# SPDX-License-Identifier: Apache-2.0
"""The bars of STEP=3 of check-cluster that are about faults: everything is killed in turn, and networks are cut."""
from bars import asked, box
from cluster_step_2 import CLUSTER, program


def bar_2(bars):
    kills, many = asked("KILLS", 10)
    bars.part("2", f"{kills} kills under load: each told win is one order, all that was being decided ends, no void without a fault of Redis, "
              "reconcile and verify find nothing",
              lambda: program("cluster_torture.py", CLUSTER, "--kills", kills, seconds=box(900, many)))


BARS = {"2": bar_2}
