#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Merchant policy and operation, one line per bar with its figure.

  make check-policy
  make check-policy POLICY_ARGS='--bars 3'

Exit status 1 if a bar is missed.
"""
import sys

sys.dont_write_bytecode = True

from bars import main, rules, several  # noqa: E402

SECONDS = 900


def bar_3(bars):
    """Metrics and alarms."""
    bars.part("3 metrics", "a real Prometheus scrapes and evaluates the rules; promtool passes",
              lambda: several([rules("server_metrics", SECONDS), rules("prometheus", SECONDS)]))
    bars.part("3 alarms", "each alarm fires in a test that causes it, and recovers",
              lambda: several([rules("alarms", SECONDS), rules("alarm_rules", SECONDS)]))
    bars.part("3 trace", "a trace of one purchase is whole from request to webhook",
              lambda: rules("trace", SECONDS))


if __name__ == "__main__":
    sys.exit(main("check-policy", __doc__, {"3": bar_3}))
