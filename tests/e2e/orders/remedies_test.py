# SPDX-License-Identifier: Apache-2.0
"""Units that were sold twice: a case, its orders, one remedy each, the customer's notice by webhook and mail, what it cost."""
import os

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true
from kit.smtp_receiver import MailReceiver
from kit.webhook_receiver import Receiver, settings_for

answers = {}
hooks = Receiver()
post = MailReceiver(answer=lambda mail, earlier: answers.get(mail.recipient, lambda _: "250 taken")(earlier), user="shop", password="secret words")
server = Server(settings={"payment.providers": "sandbox", "payment.query_ms": 300, "orders.grace_ms": 0})
with open(os.path.join(server.folder, "mail.password"), "w", encoding="ascii") as file:
    file.write("secret words\n")
os.chmod(file.name, 0o600)
settings_for(server, hooks.url, mail__server=post.url, mail__from="shop@example.org", mail__user="shop", mail__password_file=file.name).start()
reports = iter(range(1, 1000))


def order_of(item, email=None, pays=True):
    buyer = Buyer(server)
    order = buyer.win(item)["order"]
    eventually(lambda: server.admin("GET", f"/orders/{order}").status == 200, "no order")
    if email:
        where = {"name": "Li", "phone": "13800138000", "address": "Street 1", "note": "", "email": email}
        equal(server.request("PUT", f"/v1/orders/{order}/details", where, session=buyer.session).status, 200)
    if pays:
        payment = server.request("POST", f"/v1/orders/{order}/pay", {}, session=buyer.session).json()["payment"]["url"].split("id=")[1]
        equal(server.request("POST", f"/sandbox/v1/pay/{payment}", {"how": "pay"}).status, 200)
        eventually(lambda: state(order) == "paid", "not paid")
    return order


def view(order):
    return server.admin_ok("GET", f"/orders/{order}")["view"]


def state(order):
    return view(order)["state"]


def case_open(item, missing=1, **more):
    return server.admin_ok("POST", "/cases", {"item": item, "channel": "tmall", "reference": f"r{next(reports)}", "missing": missing,
                                              "reason": "sold after the end", **more}, role="operator")


def case(number):
    return server.admin_ok("GET", f"/cases/{number}", role="viewer")


def apply(number, order, remedy, **more):
    return server.admin("POST", f"/cases/{number}/apply", {"order": order, "remedy": remedy, **more})


def log(number):
    return [note["text"] for note in server.admin_ok("GET", f"/cases/{number}/notes")["notes"]]


@rule
def a_report_opens_one_case_with_the_newest_orders():
    item = server.open_item(total=5, flash_price=10000)
    orders = [order_of(item) for _ in range(3)] + [order_of(item, pays=False)]
    server.admin_ok("POST", f"/orders/{orders[2]}/ship", {"carrier": "DHL", "tracking": "1"})
    body = {"item": item, "channel": "tmall", "reference": "2026-11-11/1", "missing": 2, "reason": "sold after the end"}
    first = server.admin("POST", "/cases", body)
    equal((first.status, first.json()["orders"], first.json()["undecided"], first.json()["state"]), (201, 2, 2, "open"))
    again = server.admin("POST", "/cases", body)
    equal((again.status, again.json()), (200, first.json()))
    rows = case(first.json()["id"])["rows"]
    equal({row["order"] for row in rows}, {orders[1], orders[3]})
    proposed = {row["order"]: row["proposed"] for row in rows}
    equal(proposed[orders[1]], ["refund-coupon", "wait-coupon", "substitute", "ship-at-a-loss", "dismiss"])
    equal(proposed[orders[3]], ["refund-coupon", "wait-coupon", "dismiss"])
    second = case_open(item, 9)
    equal({row["order"] for row in case(second["id"])["rows"]}, {orders[0]}, "an order is in two open cases")
    for number in (first.json()["id"], second["id"]):
        for row in case(number)["rows"]:
            equal(apply(number, row["order"], "dismiss").status, 200)
        server.admin_ok("POST", f"/cases/{number}/close", {"outcome": "for another test"})


@rule
def a_refund_with_coupon_is_made_once_told_by_webhook_and_mail_and_the_books_balance():
    item = server.open_item(total=2, flash_price=10001)
    order = order_of(item, "buyer@example.org")
    number = case_open(item)["id"]
    problem(server.admin("POST", f"/cases/{number}/close", {"outcome": "done"}), 409, "conflict")
    done = apply(number, order, "refund-coupon")
    equal((done.status, done.json()["undecided"]), (200, 0))
    equal(apply(number, order, "refund-coupon").status, 200)
    problem(apply(number, order, "wait-coupon"), 409, "conflict")
    row = case(number)["rows"][0]["done"]
    equal((row["refund"], row["coupon"]["value"], row["coupon"]["currency"], row["remedy"]), (10001, 1001, "CNY", "refund-coupon"))
    eventually(lambda: len(hooks.of(order, "order.remedy")) == 1, "the shop was not told")
    told = hooks.of(order, "order.remedy")[0]
    true(told.genuine)
    equal(told.data["remedy"]["coupon"], row["coupon"])
    eventually(lambda: len(post.to("buyer@example.org")) == 1, "no mail")
    mail = post.to("buyer@example.org")[0]
    equal((mail.sender, mail.user), ("shop@example.org", "shop"))
    for word in (order, row["coupon"]["code"], "10.01 CNY", "goes back", "退回"):
        true(word in mail.text, mail.text)
    equal((state(order), view(order)["remedy"]["coupon"]["code"]), ("refunded", row["coupon"]["code"]))
    eventually(lambda: any("A mail was sent" in text for text in log(number)), "the log does not say so")
    closed = server.admin_ok("POST", f"/cases/{number}/close", {"outcome": "refunded"}, role="operator")
    equal(closed["state"], "closed")
    problem(server.admin("POST", f"/cases/{number}/assign", {"assignee": "Wang"}), 409, "conflict")
    equal(case(number)["costs"][0]["refunds"], 10001)

    def at_rest():
        money = server.admin_ok("GET", "/payments/totals")
        return money["wanted"] == 0 and money["captured"] - money["refunded"] == money["paid"]
    eventually(at_rest, "the books do not balance")
    actions = [e["action"] for e in server.admin_ok("GET", "/audit?after=0")["audit"] if e["detail"].startswith(f"case {number}")]
    equal(actions, ["case.open", "case.remedy", "case.close"])
    equal(server.counts(item)["free"], 1, "the unit that is gone is for sale again")


@rule
def other_remedies_keep_the_order_and_their_cost_is_added_up():
    item = server.open_item(total=5, flash_price=20000)
    orders = [order_of(item) for _ in range(3)]
    before = {cost["currency"]: cost for cost in server.admin_ok("GET", "/cases/costs")["costs"]}["CNY"]
    number = case_open(item, 3)["id"]
    equal(apply(number, orders[0], "wait-coupon", coupon_percent=5).status, 200)
    equal(apply(number, orders[1], "substitute", loss="12.50", note="The blue one").status, 200)
    equal(apply(number, orders[2], "ship-at-a-loss", loss=300).status, 200)
    equal([state(order) for order in orders], ["paid"] * 3)
    cost = case(number)["costs"][0]
    equal((cost["orders"], cost["refunds"], cost["coupons"], cost["losses"]), (3, 0, 1000, 1550))
    after = server.admin_ok("GET", "/cases/costs", role="viewer")["costs"][0]
    equal((after["coupons"] - before["coupons"], after["losses"] - before["losses"]), (1000, 1550))
    codes = {row["done"].get("coupon", {}).get("code") for row in case(number)["rows"]}
    equal(len(codes), 2)


@rule
def an_unpaid_order_is_closed_and_a_case_has_a_person_and_a_log():
    item = server.open_item(total=1)
    order = order_of(item, pays=False)
    number = case_open(item)["id"]
    equal(server.admin_ok("POST", f"/cases/{number}/assign", {"assignee": "Wang Fang"}, role="operator")["assignee"], "Wang Fang")
    server.admin("POST", f"/cases/{number}/notes", {"way": "call", "text": "Called, no answer", "order": order}, role="operator")
    true("Called, no answer" in log(number))
    problem(apply(number, order, "substitute"), 409, "conflict")
    equal(apply(number, order, "refund-coupon", coupon_percent=0).status, 200)
    equal((state(order), "coupon" in case(number)["rows"][0]["done"]), ("closed", False))
    problem(server.admin("POST", f"/cases/{number}/notes", {"way": "call", "text": "x", "order": "0" * 15 + "1"}), 404, "unknown-order")


@rule
def what_is_wrong_is_refused_and_changes_nothing():
    item = server.open_item(total=2)
    order = order_of(item)
    good = {"item": item, "channel": "jd", "reference": "x", "missing": 1, "reason": "y"}
    for wrong in ({"missing": 0}, {"channel": ""}, {"reference": "a\nb"}, {"reason": ""}, {"more": 1}):
        problem(server.admin("POST", "/cases", {**good, **wrong}), 422, "bad-value")
    problem(server.admin("POST", "/cases", {**good, "item": 65000}), 404, "unknown-item")
    problem(server.admin("POST", "/cases", good, role="viewer"), 403, "admin-role")
    number = case_open(item)["id"]
    for wrong in ({"remedy": "gift"}, {"remedy": "refund-coupon", "coupon_percent": 101}, {"remedy": "refund-coupon", "to": "bin"},
                  {"remedy": "refund-coupon", "email": "a@b c"}, {"remedy": "refund-coupon", "email": "a@b.c>\r\nRCPT"}):
        problem(server.admin("POST", f"/cases/{number}/apply", {"order": order, **wrong}), 422, "bad-value")
    problem(server.admin("POST", f"/cases/{number}/apply", {"order": order, "remedy": "dismiss"}, role="operator"), 403, "admin-role")
    other = order_of(server.open_item(total=1))
    problem(apply(number, other, "dismiss"), 404, "unknown-order")
    problem(server.admin("POST", f"/cases/{number}/orders", {"orders": [other]}), 409, "conflict")
    problem(server.admin("GET", "/cases/4711"), 404, "not-found")
    problem(server.admin("GET", "/cases?state=lost"), 400, "bad-query")
    equal((state(order), case(number)["undecided"]), ("paid", 1))


@rule
def a_mail_that_is_not_accepted_is_tried_again_and_one_that_is_refused_is_given_up():
    item = server.open_item(total=3)
    answers["later@example.org"] = lambda earlier: "451 later" if earlier == 0 else "250 taken"
    answers["never@example.org"] = lambda earlier: "550 no such box"
    orders = [order_of(item, "later@example.org"), order_of(item, "never@example.org"), order_of(item)]
    number = case_open(item, 3)["id"]
    for order in orders:
        equal(apply(number, order, "wait-coupon").status, 200)

    def states():
        return {mail["order"]: mail["state"] for mail in case(number)["mails"]}
    eventually(lambda: states() == {orders[0]: "sent", orders[1]: "failed"}, f"mails: {states()}")
    equal((len(post.to("later@example.org")), len({mail.id for mail in post.to("later@example.org")})), (2, 1))
    true(any("Given up" in text for text in log(number)) and any("tried again" in text for text in log(number)), log(number))
    is_up = lambda: server.metrics()['stampede_alarm{name="mail-failed"}'] == 1  # noqa: E731
    eventually(is_up, "no alarm")
    server.admin("POST", f"/cases/{number}/notes", {"way": "call", "text": "Called instead", "order": orders[1]}, role="operator")
    eventually(lambda: not is_up(), "the alarm stays though a person has told the customer")


@rule
def a_crash_while_a_mail_is_sent_sends_it_again_and_says_so():
    item = server.open_item(total=1)
    answers["crash@example.org"] = lambda earlier: (server.kill() or "drop") if earlier == 0 else "250 taken"
    order = order_of(item, "crash@example.org")
    number = case_open(item)["id"]
    apply(number, order, "wait-coupon")
    eventually(lambda: not server.alive(), "it lives")
    equal(len(post.to("crash@example.org")), 1)
    server.sql("UPDATE mails SET next_ms = 0 WHERE state = 4")
    server.start()
    eventually(lambda: [mail["state"] for mail in case(number)["mails"]] == ["sent"], "not sent again")
    equal((len(post.to("crash@example.org")), len({mail.id for mail in post.to("crash@example.org")})), (2, 1))
    true(any("may come twice" in text for text in log(number)), log(number))


run()
