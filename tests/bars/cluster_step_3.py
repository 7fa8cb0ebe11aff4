# SPDX-License-Identifier: Apache-2.0
"""The bars of STEP=3 of check-cluster that are about faults: everything is killed in turn, and networks are cut."""
from bars import Ended, asked, box
from cluster_crowded import bar_4, bar_5, bar_6
from cluster_step_2 import CLUSTER, program


def bar_2(bars):
    kills, many = asked("KILLS", 10)
    bars.part("2", f"{kills} kills under load: each told win is one order, all that was being decided ends, no void without a fault of Redis, "
              "reconcile and verify find nothing",
              lambda: program("cluster_torture.py", CLUSTER, "--kills", kills, seconds=box(900, many)))


def bar_3(bars):
    cuts, many = asked("CUTS", 6)
    most = 30 if many else 8

    def networks():
        try:
            return program("cluster_cuts.py", [], "--cuts", cuts, "--most", most, seconds=box(900, many))
        except Ended as ended:
            if "skipped: " in str(ended):  # no root, or no network namespaces: it says which
                return str(ended).strip().splitlines()[-1], True
            raise
    bars.part("3", f"{cuts} cuts between machines, both ways and one way, of 5 to {most} s (Redis from Redis: 5 s longer): the same, "
              "and both gateways sell again", networks)


BARS = {"2": bar_2, "3": bar_3, "4": bar_4, "5": bar_5, "6": bar_6}
