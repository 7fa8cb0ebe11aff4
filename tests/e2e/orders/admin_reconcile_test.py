#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reconciliation by admin API: who may, what is refused, what the report says."""
from kit.harness import Server, among, equal, eventually, problem, rule, run

server = Server(settings={"reconcile.interval_ms": 0}).start()

@rule
def before_the_first_run_the_report_says_so():
    report = server.admin_ok("GET", "/reconcile", role="viewer")
    equal((report["state"], report["run"], report["findings"]), ("never", 0, []))


@rule
def roles_and_bad_bodies():
    problem(server.admin("POST", "/reconcile", {}, "viewer"), 403, "admin-role")
    problem(server.admin("POST", "/reconcile", {"repair": True}, "operator"), 403, "admin-role")
    problem(server.admin("POST", "/reconcile", {"repair": 1}, "admin"), 422, "bad-value")
    problem(server.admin("POST", "/reconcile", {"mend": True}, "admin"), 422, "bad-value")
    among(server.admin("POST", "/reconcile", {}, "operator").status, (202,))


@rule
def a_run_is_counted_and_ends():
    report = eventually(lambda: server.admin_ok("GET", "/reconcile")["state"] == "done" and server.admin_ok("GET", "/reconcile"))
    equal((report["run"], report["left"], report["trouble"]), (1, 0, ""))
    equal(server.metrics()["stampede_reconcile_findings"], 0)


run()
