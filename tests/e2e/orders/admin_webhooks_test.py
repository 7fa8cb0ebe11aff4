# SPDX-License-Identifier: Apache-2.0
"""The admin's view of webhooks: lists in pages, replays, the command line, and what is refused."""
import os
import subprocess

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true
from kit.webhook_receiver import Receiver, settings_for

receiver = Receiver()
server = settings_for(Server(), receiver.url).start()
MEMBERS = ["id", "event", "type", "order", "version", "time_ms", "state", "tries", "next_ms", "http_status", "error", "tried_ms"]


def settled(count):
    eventually(lambda: len(server.admin_ok("GET", "/webhooks?state=delivered")["webhooks"]) >= count, "not delivered")


@rule
def the_list_comes_in_pages_and_by_state():
    item = server.open_item(total=120)
    for _ in range(120):
        Buyer(server).win(item)
    settled(100)
    first = server.admin_ok("GET", "/webhooks", role="viewer")
    equal(len(first["webhooks"]), 100)
    equal(list(first["webhooks"][0]), MEMBERS)
    equal([r["id"] for r in first["webhooks"]], list(range(1, 101)))
    eventually(lambda: len(server.admin_ok("GET", "/webhooks?state=delivered&after=100")["webhooks"]) == 20, "not 120")
    rest = server.admin_ok("GET", f"/webhooks?after={first['next']}")
    equal((len(rest["webhooks"]), "next" in rest), (20, False))
    equal(server.admin_ok("GET", "/webhooks?state=failed"), {"webhooks": []})


@rule
def those_of_one_order_are_found_with_the_time_of_the_last_try():
    buyer = Buyer(server)
    begun_ms = server.now_ms()
    order = buyer.win(server.open_item(total=1))["order"]
    eventually(lambda: server.admin("GET", f"/orders/{order}").status == 200, "no order")
    server.admin_ok("POST", f"/orders/{order}/cancel")

    def delivered():
        return server.admin_ok("GET", f"/webhooks?order={order}&state=delivered", role="viewer")["webhooks"]
    eventually(lambda: len(delivered()) == 2, "not both")
    rows = delivered()
    equal([(row["order"], row["type"], row["tries"]) for row in rows], [(order, "order.created", 1), (order, "order.closed", 1)])
    true(all(row["tried_ms"] >= max(begun_ms, row["time_ms"]) for row in rows), rows)
    equal([row["id"] for row in server.admin_ok("GET", f"/webhooks?order={order}&after={rows[0]['id']}")["webhooks"]], [rows[1]["id"]])
    equal(server.admin_ok("GET", f"/webhooks?order={order}&state=failed"), {"webhooks": []})
    equal(server.admin_ok("GET", "/webhooks?order=00000000000000ff"), {"webhooks": []})
    for wrong in ("ff", "x" * 16, "0" * 16, ""):
        problem(server.admin("GET", f"/webhooks?order={wrong}"), 400, "bad-query")


@rule
def a_replay_is_sent_again_under_the_same_id_and_is_audited():
    before = len(receiver.messages)
    equal(server.admin_ok("POST", "/webhooks/1/replay", role="operator"), {"replayed": 1})
    eventually(lambda: len(receiver.messages) == before + 1, "not sent again")
    again = receiver.messages[-1]
    true(again.genuine, "the signature is wrong")
    equal(len(receiver.of(again.data["order"])), 2)
    equal(receiver.of(again.data["order"])[0].id, again.id)
    true(any(e["action"] == "webhook.replay" for e in server.admin_ok("GET", "/audit?after=0")["audit"]), "no audit")


@rule
def a_replay_from_a_time_takes_all_since_then():
    eventually(lambda: not server.admin_ok("GET", "/webhooks?state=waiting")["webhooks"], "something waits")
    before = len(receiver.messages)
    equal(server.admin_ok("POST", "/webhooks/replay", {"from_ms": server.now_ms() + 1000}), {"replayed": 0})
    equal(server.admin_ok("POST", "/webhooks/replay", {"from_ms": 0}), {"replayed": 122})
    eventually(lambda: len(receiver.messages) == before + 122, "not all were sent again")


@rule
def what_is_wrong_is_refused_and_changes_nothing():
    problem(server.admin("GET", "/webhooks?state=lost"), 400, "bad-query")
    problem(server.admin("GET", "/webhooks?after=x"), 400, "bad-query")
    problem(server.admin("POST", "/webhooks/99999/replay"), 404, "not-found")
    problem(server.admin("POST", "/webhooks/replay", {}), 422, "bad-value")
    problem(server.admin("POST", "/webhooks/replay", {"from_ms": -1}), 422, "bad-value")
    problem(server.admin("POST", "/webhooks/1/replay", role="viewer"), 403, "admin-role")
    problem(server.admin("DELETE", "/webhooks"), 405, "method-not-allowed")


@rule
def without_a_webhook_a_replay_is_refused():
    plain = Server().start()
    problem(plain.admin("POST", "/webhooks/1/replay"), 409, "conflict")
    problem(plain.admin("POST", "/webhooks/replay", {"from_ms": 0}), 409, "conflict")
    equal(plain.admin_ok("GET", "/webhooks"), {"webhooks": []})


@rule
def the_command_line_lists_and_replays():
    key = os.path.join(server.folder, "key")
    with open(key, "w", encoding="ascii") as file:
        file.write(server.keys["operator"])

    def admin(*words):
        command = [server.binary, "admin", "--url", f"http://127.0.0.1:{server.port}", "--key-file", key, *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        return done.returncode, done.stdout + done.stderr

    code, shown = admin("webhook", "list", "--state", "delivered")
    equal(code, 0, shown)
    true("order.created" in shown and "evt_" in shown, shown)
    equal(admin("webhook", "replay", "2"), (0, "replayed: 1\n"))
    code, shown = admin("webhook", "replay-from", "2030-01-01T00:00:00Z")
    equal((code, shown), (0, "replayed: 0\n"))


run()
