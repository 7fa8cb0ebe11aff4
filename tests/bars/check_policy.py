#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Merchant policy and operation, one line per bar with its figure.

  make check-policy
  make check-policy POLICY_ARGS='--bars 4'
  make check-policy POLICY_ARGS='--bars 1' POLICY_SEEDS=100000

ARCHIVED_SALES=100 makes bar 5 smaller, FOLLOW_KILLS=100 bar 6 larger. Exit status 1 if a bar is missed. Leave the machine alone meanwhile.
"""
import os
import sys

sys.dont_write_bytecode = True

import policy_archive  # noqa: E402
import policy_follow  # noqa: E402
import policy_image  # noqa: E402
import policy_metrics  # noqa: E402
import policy_package  # noqa: E402
import policy_rehearse  # noqa: E402
import policy_remedies  # noqa: E402
import policy_tls  # noqa: E402
from bars import BUILD_ROOT, CLEAN_ENVIRONMENT, asked, box, main, mutants_seen, rules, several, simulate, units  # noqa: E402

os.environ["E2E_SERVER"] = CLEAN_ENVIRONMENT["E2E_SERVER"] = os.path.join(BUILD_ROOT, "release", "stampede")

PLANTED_BUGS = 26  # that the simulator must see; six more rows name the suite of the store (make mutate MUTANTS=merchant-)


def bar_1(bars):
    seeds, long_form = asked("POLICY_SEEDS", 5000)
    stored = seeds // 50
    bars.part("1 shares", "100,000 random cases: sums exact, order kept; 10 units of 0.40/0.32/0.28 are 4/3/3",
              lambda: several([units("policy/allocation", 120), units("policy/safety_stock", 60)]))
    bars.part("1 units", "preview, apply, give back, safety stock", lambda: rules("allocation", 300))
    bars.part("1 channels", "a channel sells its own units once, and none of another's", lambda: rules("channel_api", 300))
    bars.part("1 sales", f"{seeds:,} simulated sales with channels, safety stock, remedies, presale, deposits, shared stock: no violation",
              lambda: (simulate(["--seeds", str(seeds)], box(600, long_form)).splitlines()[-3], True))
    bars.part("1 store", f"{stored:,} of them with the real store, no violation",
              lambda: (simulate(["--seeds", str(stored), "--store", "sqlite"], box(600, long_form)).splitlines()[-3], True))
    bars.part("1 bugs", "each planted bug of presale, deposits, shared stock, channels, safety stock and remedies is seen",
              lambda: mutants_seen("merchant-", box(1800, long_form), least=PLANTED_BUGS))


def bar_2(bars):
    policy_remedies.parts(bars)


def bar_3(bars):
    policy_metrics.parts(bars)


def bar_4(bars):
    policy_rehearse.parts(bars)


def bar_5(bars):
    policy_archive.parts(bars)


def bar_6(bars):
    policy_follow.parts(bars)


def bar_7(bars):
    bars.part("7", "the Debian package installs, sells, is upgraded and purged in a clean system; no error of lintian",
              policy_package.package)
    bars.part("7 image", "the container file builds, and what it builds sells", policy_image.image)


def bar_8(bars):
    policy_tls.parts(bars)


if __name__ == "__main__":
    sys.exit(main("check-policy", __doc__, {"1": bar_1, "2": bar_2, "3": bar_3, "4": bar_4, "5": bar_5, "6": bar_6, "7": bar_7, "8": bar_8}))
