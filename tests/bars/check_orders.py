#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The bars of an order's life in a quick form: one line per part, with its figure, its goal and the time it took.

  make check-orders                          some minutes on two cores, quickest after `make test`
  make check-orders ORDERS_ARGS='--bars 2,5'
  make check-orders ORDERS=10000 PAYMENTS=5000 KILLS=100 SEEDS=20000 FORGED=10000 PUSH_CLIENTS=10000     the long form

Each part runs the tests of that bar against the real binary and tells what they counted. A part that fails, is skipped or
does not end in its box of time has fallen short. Exit status 1 if any has.
"""
import os
import sys

sys.dont_write_bytecode = True

from bars import BUILD_ROOT, CLEAN_ENVIRONMENT, asked, box, main, mutants_seen, rules, several, simulate  # noqa: E402

# What shops run is measured, not the build with sanitizers.
CLEAN_ENVIRONMENT["E2E_SERVER"] = os.path.join(BUILD_ROOT, "release", "stampede")


def bar_1(bars):
    orders, long_form = asked("ORDERS", 10000)
    bars.part("1", f"paid against expired at one moment, {orders:,} times: never both, returned exactly when closed",
              lambda: rules("order_life", box(300, long_form), "payment_and_expiry", ORDERS=orders))


def bar_2(bars):
    payments, long_form = asked("PAYMENTS", 500)
    bars.part("2", "every payment ends right within the query period; captured − refunded = price of paid orders",
              lambda: rules("weak_network", box(240, long_form), PAYMENTS=payments))


def bar_3(bars):
    kills, long_form = asked("KILLS", 10)
    seeds, _ = asked("SEEDS", 3000)
    bars.part("3a", "every mutant of the order side is seen, each within 60 s",
              lambda: mutants_seen("store contract orders", box(900, long_form)))
    bars.part("3b", "no violation with crashes at any point, payments and waitlists among them",
              lambda: (simulate(["--seeds", str(seeds)], box(180, long_form)).splitlines()[-3], True))
    bars.part("3c", "the same on SQLite, over a file layer that forgets what was not synced",
              lambda: (simulate(["--seeds", str(max(1, seeds // 20)), "--store", "sqlite"],
                                box(180, long_form)).splitlines()[-3], True))
    bars.part("3d", f"kill -9 of the real server {kills} times: every order in one state, verify passes",
              lambda: rules("order_life", box(180, long_form), "kill_9", KILLS=kills))


def bar_4(bars):
    forged, long_form = asked("FORGED", 10000)
    bars.part("4a", f"{forged:,} forged, replayed, stale, wrong, foreign callbacks over HTTP: none accepted",
              lambda: rules("forged_callbacks", box(240, long_form), FORGED=forged))
    bars.part("4b", "10,000 for Alipay and for WeChat Pay: none accepted",
              lambda: rules("providers", box(240, long_form), "ten_thousand"))


def bar_5(bars):
    clients, long_form = asked("PUSH_CLIENTS", 10000)
    bars.part("5a", f"{clients:,} WebSocket clients get their order event",
              lambda: rules("push_text", box(240, long_form), "crowd", PUSH_CLIENTS=clients))
    bars.part("5b", "reconnecting clients end right; who never reads costs bounded memory",
              lambda: rules("push", box(120, long_form)))


def bar_6(bars):
    _, long_form = asked("ORDERS", 0)
    bars.part("6", "each planted inconsistency (at least ten) is found and mended, or told; nothing on a healthy shop",
              lambda: several([rules(f"reconcile_{name}", box(240, long_form))
                               for name in ("tickets", "sums", "suspects", "money", "command")]))


def bar_7(bars):
    _, long_form = asked("FORGED", 0)
    bars.part("7a", "real server against the SDKs of Alipay and WeChat Pay", lambda: rules("alipay_wechat", box(240, long_form)))
    bars.part("7b", "real server against Stripe's SDK", lambda: rules("stripe", box(240, long_form)))
    bars.part("7c", "a flipped bit anywhere is refused", lambda: rules("providers", box(300, long_form), "bit"))


BARS = {"1": bar_1, "2": bar_2, "3": bar_3, "4": bar_4, "5": bar_5, "6": bar_6, "7": bar_7}

if __name__ == "__main__":
    sys.exit(main("check-orders", "The bars of an order's life, one line each.", BARS))
