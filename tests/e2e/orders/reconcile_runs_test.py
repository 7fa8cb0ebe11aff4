#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""When reconciliation runs by itself."""
from kit.harness import Server, equal, eventually, rule, run

server = Server().start()

@rule
def it_runs_by_itself_while_a_sale_is_open():
    server.open_item()
    server.write_config(reconcile__interval_ms=200)
    server.restart()
    eventually(lambda: server.admin_ok("GET", "/reconcile")["run"] >= 3, "no run by itself")
    server.write_config(reconcile__interval_ms=0)
    server.restart()
    equal(server.admin_ok("GET", "/reconcile")["state"], "never")


@rule
def it_rests_while_no_sale_is_open():
    for sale in server.admin_ok("GET", "/sales")["sales"]:
        server.admin_ok("POST", f"/sales/{sale['id']}/end")
    server.write_config(reconcile__interval_ms=100)
    server.restart()
    server.sale(start_in_ms=3600000)
    eventually(lambda: server.metrics()["stampede_order_lag"] == 0)
    equal(server.admin_ok("GET", "/reconcile")["run"], 0)


run()
