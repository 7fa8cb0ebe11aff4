# SPDX-License-Identifier: Apache-2.0
"""Bar 3: metrics, alarms and traces."""
from bars import rules, several

SECONDS = 900
# Where alarms are caused; those of webhooks, mails, statements, dead letters, members and brokers have tests of their own.
ALARMS = ("alarms", "alarm_rules", "server_disk", "crowded_tables", "folder_bounds", "redis_differs")


def parts(bars):
    bars.part("3 metrics", "a real Prometheus scrapes and evaluates the rules; promtool passes",
              lambda: several([rules("server_metrics", SECONDS), rules("prometheus", SECONDS)]))
    bars.part("3 alarms", "each alarm fires in a test that causes it, and recovers",
              lambda: several([rules(name, SECONDS) for name in ALARMS]))
    bars.part("3 trace", "a trace of one purchase is whole from request to webhook, on one machine and on several",
              lambda: several([rules("trace", SECONDS), rules("trace_parts", SECONDS)]))
