# SPDX-License-Identifier: Apache-2.0
"""What the shop does to one order by admin API and command line: paid, cancel, refund; roles, bad input, strangers."""
import os
import subprocess

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

PRICE = 99900
server = Server().start()


def pay(order, reference, amount=PRICE, currency="CNY", role="operator", shop=None):
    body = {"amount": amount, "currency": currency, "reference": reference}
    return (shop or server).admin("POST", f"/orders/{order}/paid", body, role)


def refund(order, to, role="admin"):
    return server.admin("POST", f"/orders/{order}/refund", {"to": to}, role)


def cancel(buyer, order):
    return server.request("POST", f"/v1/orders/{order}/cancel", session=buyer.session)


def bought(item):
    buyer = Buyer(server)
    return buyer, buyer.order(buyer.win(item)["ticket"])


def view(buyer, order):
    return buyer.get(f"/v1/orders/{order['order']}").json()


def settles(item, **wanted):
    """The inventory ends with these counts."""
    eventually(lambda: all(server.counts(item)[name] == value for name, value in wanted.items()),
               f"item {item}: wanted {wanted}, last {server.counts(item)}")


@rule
def refunds_go_to_stock_to_safety_or_nowhere():
    item = server.open_item(total=4, limit_per_user=0)
    for number, to in enumerate(("stock", "safety", "write-off")):
        buyer = Buyer(server)
        order = buyer.order(buyer.win(item, key=to)["ticket"])
        problem(refund(order["order"], to), 409, "not-paid", state="pending")
        equal(pay(order["order"], f"refund-{to}").status, 200)
        problem(refund(order["order"], "nowhere"), 422, "bad-value")
        problem(refund(order["order"], to, role="operator"), 403, "admin-role")
        reply = refund(order["order"], to)
        equal((reply.status, reply.json()["state"], reply.json()["version"]), (200, "refunded", 3))
        again = refund(order["order"], to).json()
        # `returning`: whether the units are back by now.
        equal({**again, "returning": None}, {**reply.json(), "returning": None})
        problem(pay(order["order"], f"again-{to}"), 409, "order-closed", state="refunded")
        settles(item, held=0, sold=0, safety=int(number >= 1), written_off=int(number >= 2))
    settles(item, free=2, given=4)


@rule
def strangers_and_small_roles_move_nothing():
    item = server.open_item(total=2)
    buyer, order = bought(item)
    problem(cancel(Buyer(server), order["order"]), 404, "unknown-order")
    problem(cancel(buyer, "0123456789abcdef"), 404, "unknown-order")
    problem(cancel(buyer, "xyz"), 404, "unknown-order")
    problem(server.request("POST", f"/v1/orders/{order['order']}/cancel"), 401, "session-required")
    problem(server.request("GET", f"/v1/orders/{order['order']}/cancel", session=buyer.session), 405, "method-not-allowed")
    problem(pay(order["order"], "x", role="viewer"), 403, "admin-role")
    problem(server.admin("POST", f"/orders/{order['order']}/cancel", role="viewer"), 403, "admin-role")
    problem(pay("0123456789abcdef", "x"), 404, "unknown-order")
    problem(pay(order["order"], ""), 422, "bad-value")
    problem(pay(order["order"], "x" * 65), 422, "bad-value")
    problem(server.admin("POST", f"/orders/{order['order']}/paid", b"{", headers={"Content-Type": "application/json"}),
            400, "bad-body")
    for bad in ("12", "0123456789abcdeg", "0123456789abcdef0"):
        problem(pay(bad, "x"), 404, "unknown-order")
    equal(view(buyer, order), order)


@rule
def the_command_line_pays_cancels_and_refunds():
    item = server.open_item(total=2)
    (_, first), (_, second) = bought(item), bought(item)

    def cli(*words):
        done = subprocess.run([server.binary, "admin", "--url", f"http://127.0.0.1:{server.port}", "order", *words],
                              capture_output=True, text=True, timeout=30,
                              env={**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["admin"]})
        return done.returncode, done.stdout + done.stderr
    paying = ("paid", first["order"], "--amount", str(PRICE), "--currency", "CNY", "--reference", "cli-1")
    code, text = cli(*paying)
    true(code == 0 and "paid" in text, text)
    equal(cli(*paying)[0], 0)
    code, text = cli("refund", first["order"], "--to", "stock")
    true(code == 0 and "refunded" in text, text)
    equal(cli("cancel", second["order"])[0], 0)
    equal(cli("paid", second["order"], "--amount", str(PRICE), "--currency", "CNY", "--reference", "cli-2")[0], 1)
    equal(cli("cancel", "12")[0], 2)
    settles(item, free=2)


@rule
def a_note_is_kept_with_its_writer_and_never_changes_the_order():
    item = server.open_item()
    buyer, order = bought(item)
    before = view(buyer, order)
    words = "called <b>twice</b>, 请尽快发货"
    for note in (words, "second"):
        equal(server.admin("POST", f"/orders/{order['order']}/notes", {"note": note}, "operator").status, 201)
    rows, after = [], 0
    while after is not None:
        page = server.admin_ok("GET", f"/audit?after={after}")
        rows += [(row["actor"], row["detail"]) for row in page["audit"] if row["action"] == "order.note"]
        after = page.get("next")
    equal(rows, [("operator", f"order {order['order']}: {words}"), ("operator", f"order {order['order']}: second")])
    equal(view(buyer, order), before)
    problem(server.admin("POST", f"/orders/{order['order']}/notes", {"note": "x"}, "viewer"), 403, "admin-role")
    problem(server.admin("POST", "/orders/0123456789abcdef/notes", {"note": "x"}, "operator"), 404, "unknown-order")
    for wrong in ({"note": ""}, {"note": "x" * 301}, {"note": 1}, {}, {"note": "x", "more": 1}):
        problem(server.admin("POST", f"/orders/{order['order']}/notes", wrong, "operator"), 422, "bad-value")


run()
