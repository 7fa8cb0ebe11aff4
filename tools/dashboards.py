#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the Grafana dashboards in deploy/grafana: sale, machine, money. `tools/dashboards.py --check` only compares."""
import json
import os
import sys

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "deploy", "grafana")
SOURCE = {"type": "prometheus", "uid": "${source}"}
WIDE, HIGH = 12, 8  # of a panel; a row has 24

# Dashboard: (title, [(panel, unit, [(expression, legend)…])…])
BOARDS = {
    "sale": ("Stampede: sale", [
        ("Requests and wins a second", "reqps", [("stampede:requests:rate1m", "requests"), ("stampede:wins:rate1m", "wins")]),
        ("Answers of the door", "reqps", [("stampede:door:rate1m", "{{answer}}")]),
        ("Purchases by sale", "reqps", [("sum by (sale, answer) (rate(stampede_sale_purchases_total[1m]))", "{{sale}} {{answer}}")]),
        ("Units left, by item", "short", [('stampede_item_units{state="free"}', "sale {{sale}} item {{item}}")]),
        ("Units held and sold", "short", [('sum by (state) (stampede_item_units{state=~"held|sold"})', "{{state}}")]),
        ("A purchase, door to answer", "s", [("stampede:purchase_seconds:p50", "p50"), ("stampede:purchase_seconds:p99", "p99"),
                                             ("stampede:purchase_seconds:p999", "p999")]),
        ("Refused by a limit", "reqps", [("sum by (layer) (rate(stampede_limits_refused_total[1m]))", "{{layer}}")]),
        ("Human check", "reqps", [("sum by (answer) (rate(stampede_human_total[1m]))", "{{answer}}")]),
        ("Bans in force, and found by rules", "short", [("stampede_bans", "bans of {{kind}}"),
                                                        ("increase(stampede_watch_found_total[5m])", "found by {{rule}}")]),
        ("Alarms", "short", [("stampede_alarm > 0", "{{name}}")]),
    ]),
    "machine": ("Stampede: machine", [
        ("Ready, wins stopped", "short", [("stampede_ready", "ready"), ("stampede_wins_stopped", "wins stopped, reason")]),
        ("Connections", "short", [("stampede_edge_connections_open", "open"), ("stampede_edge_connections_max", "bound")]),
        ("Requests by route, p99", "s", [("stampede:request_seconds:p99", "{{route}}")]),
        ("Requests by route, p999", "s", [("stampede:request_seconds:p999", "{{route}}")]),
        ("Journal sync, p99", "s", [("stampede:journal_sync_seconds:p99", "sync")]),
        ("Order lag", "short", [("stampede_order_lag", "records"), ("stampede_partition_lag", "proposals")]),
        ("Decision to order, p99", "s", [("stampede:order_lag_seconds:p99", "order")]),
        ("Transactions of the database, p99", "s", [("stampede:store_transaction_seconds:p99", "transaction")]),
        ("Work at the worker", "short", [("stampede_jobs_open", "{{share}}"), ("stampede_stock_events_open", "stock events")]),
        ("Bounds of the data folder", "percentunit", [("stampede_bound_used / stampede_bound_max", "{{of}}")]),
        ("Push connections", "short", [("stampede_push_sockets", "open")]),
        ("Alarms", "short", [("stampede_alarm > 0", "{{name}}")]),
    ]),
    "money": ("Stampede: money", [
        ("Orders a second", "reqps", [("rate(stampede_orders_written_total[1m])", "written"),
                                      ("rate(stampede_orders_expired_total[1m])", "expired")]),
        ("Messages of providers", "reqps", [("sum by (result) (rate(stampede_payment_news_total[1m]))", "{{result}}")]),
        ("Calls to providers and to the shop, p99", "s", [("stampede:outgoing_call_seconds:p99", "{{to}}")]),
        ("Calls open", "short", [("stampede_outgoing_calls_open", "open"), ("stampede_outgoing_calls_max", "bound")]),
        ("Webhooks", "reqps", [("sum by (result) (rate(stampede_webhooks_total[1m]))", "{{result}}")]),
        ("Messages that the shop has not accepted", "short", [("stampede_webhooks_open", "open")]),
        ("Refunds done", "reqps", [("rate(stampede_refunds_done_total[1m])", "refunds")]),
        ("Callbacks refused", "reqps", [("rate(stampede_payment_callbacks_refused_total[1m])", "refused")]),
        ("Findings of reconciliation, dead letters", "short", [("stampede_reconcile_findings", "findings"),
                                                               ("stampede_dead_letters_open", "dead letters")]),
        ("Sandbox (1: no real money)", "short", [("stampede_sandbox", "sandbox")]),
    ]),
}


def panel(number, title, unit, series):
    at = number - 1
    return {
        "id": number, "type": "timeseries", "title": title, "datasource": SOURCE,
        "gridPos": {"x": at % 2 * WIDE, "y": at // 2 * HIGH, "w": WIDE, "h": HIGH},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "targets": [{"refId": chr(ord("A") + i), "datasource": SOURCE, "expr": expression, "legendFormat": legend}
                    for i, (expression, legend) in enumerate(series)],
    }


def dashboard(name):
    title, panels = BOARDS[name]
    return {
        "uid": f"stampede-{name}", "title": title, "tags": ["stampede"], "schemaVersion": 38, "version": 1, "editable": True,
        "refresh": "5s", "time": {"from": "now-30m", "to": "now"},
        "templating": {"list": [{"name": "source", "label": "Prometheus", "type": "datasource", "query": "prometheus"}]},
        "panels": [panel(number, *row) for number, row in enumerate(panels, 1)],
    }


def main():
    check, differ = "--check" in sys.argv[1:], []
    for name in BOARDS:
        path = os.path.join(FOLDER, f"stampede-{name}.json")
        wanted = json.dumps(dashboard(name), indent=2) + "\n"
        if check:
            with open(path, encoding="utf-8") as file:
                differ += [name] if file.read() != wanted else []
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(wanted)
    if differ:
        sys.exit(f"tools/dashboards.py: not as written by it: {', '.join(differ)}; run it without --check")


main()
