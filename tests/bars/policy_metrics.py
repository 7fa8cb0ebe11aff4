# SPDX-License-Identifier: Apache-2.0
"""Bar 3: metrics, alarms and traces."""
from bars import rules, several

SECONDS = 900


def parts(bars):
    bars.part("3 metrics", "a real Prometheus scrapes and evaluates the rules; promtool passes",
              lambda: several([rules("server_metrics", SECONDS), rules("prometheus", SECONDS)]))
    bars.part("3 alarms", "each alarm fires in a test that causes it, and recovers",
              lambda: several([rules("alarms", SECONDS), rules("alarm_rules", SECONDS)]))
    bars.part("3 trace", "a trace of one purchase is whole from request to webhook", lambda: rules("trace", SECONDS))
