# SPDX-License-Identifier: Apache-2.0
"""The shop is told of every change of an order, signed, at least once, whatever breaks in between."""
import os
import subprocess
import threading

from kit.harness import Buyer, Server, equal, eventually, rule, run, true
from kit.webhook_receiver import SECRET, Receiver, settings_for

receiver = Receiver()
server = settings_for(Server(), receiver.url).start()


def bought(of=None, item=None):
    """A new order: its view."""
    shop = of or server
    buyer = Buyer(shop)
    return buyer.order(buyer.win(item or shop.open_item())["ticket"])


def pay(view, of=None):
    body = {"amount": view["amount"], "currency": view["currency"], "reference": "bank " + view["order"]}
    return (of or server).admin_ok("POST", f"/orders/{view['order']}/paid", body)


def told(order, kind, at=None):
    return eventually(lambda: (at or receiver).of(order, kind), f"{order} {kind} was not told", 40)[0]


def rows(of=None, query=""):
    return (of or server).admin_ok("GET", "/webhooks" + query, role="viewer")["webhooks"]


def row(order, kind, of=None):
    return next((r for r in rows(of) if r["order"] == order and r["type"] == kind), None)


def alarm_is_up():
    return server.metrics()['stampede_alarm{name="webhook-failed"}'] == 1


@rule
def each_change_is_told_signed_with_the_order_as_it_was():
    created = bought()
    message = told(created["order"], "order.created")
    true(message.genuine, "the signature is wrong")
    equal(message.members, ["type", "timestamp", "data"])
    equal(message.data, {**created, "customer": None, "details": None})
    equal(message.headers["content-type"], "application/json")
    equal(message.id, f"evt_{created['order']}_1")
    paid = pay(created)
    message = told(created["order"], "order.paid")
    equal((message.genuine, message.data), (True, {**paid, "customer": None, "details": None}))
    refunded = server.admin_ok("POST", f"/orders/{created['order']}/refund", {"to": "stock"})
    refunded.pop("returning", None)  # of that moment: the units may still be on their way
    message = told(created["order"], "order.refunded")
    equal((message.genuine, message.data), (True, {**refunded, "customer": None, "details": None}))
    cancelled = bought()
    closed = server.admin_ok("POST", f"/orders/{cancelled['order']}/cancel")
    closed.pop("returning", None)
    message = told(cancelled["order"], "order.closed")
    equal((message.genuine, message.data, message.data["reason"]), (True, {**closed, "customer": None, "details": None}, "cancelled"))
    eventually(lambda: not rows(query="?state=waiting"), "something still waits")
    equal([m.type for m in receiver.of(created["order"])], ["order.created", "order.paid", "order.refunded"])


@rule
def an_order_that_expires_is_told_as_closed():
    order = bought(item=server.open_item(pay_window_ms=1000))
    equal(told(order["order"], "order.closed").data["reason"], "expired")


@rule
def while_an_answer_is_awaited_the_message_is_not_sent_again():
    item, go_on = server.open_item(total=10), threading.Event()
    receiver.answer = lambda message, earlier: 200 if message.data["item"] != item or go_on.wait(20) else 503
    slow = Buyer(server).win(item)["order"]
    told(slow, "order.created")
    for _ in range(3):  # each makes the server look for what is due
        told(bought()["order"], "order.created")
    first, *others = receiver.of(slow)
    true(all(other.at - first.at > 4.9 for other in others), "sent again before it was answered")
    go_on.set()
    eventually(lambda: row(slow, "order.created")["state"] == "delivered", "not settled")
    receiver.answer = lambda message, earlier: 200


@rule
def what_fails_hangs_or_is_gone_is_tried_again_or_given_up():
    answers = {}
    item = server.open_item(total=10)
    buyers = [Buyer(server) for _ in range(3)]
    receiver.answer = lambda message, earlier: 200 if earlier else answers.setdefault(
        message.data["order"], (503, "hang", 410)[len(answers) % 3])
    orders = [buyer.win(item)["order"] for buyer in buyers]
    eventually(lambda: len(answers) == 3, "not all were tried")
    failing, hanging, gone = (next(o for o in orders if answers[o] == how) for how in (503, "hang", 410))
    eventually(lambda: (row(failing, "order.created") or {}).get("tries") == 1, "the try was not counted")
    kept = row(failing, "order.created")
    equal((kept["state"], kept["http_status"]), ("waiting", 503))
    eventually(lambda: row(gone, "order.created")["state"] == "failed", "410 did not end it")
    eventually(lambda: "was given up" in server.log(), "nobody was told")
    eventually(alarm_is_up, "no alarm")
    for order in (failing, hanging):
        eventually(lambda order=order: len(receiver.of(order)) == 2, f"{answers[order]}: not tried again", 60)
        first, second = receiver.of(order)
        true(first.genuine and second.genuine, "a signature is wrong")
        equal((second.id, second.body), (first.id, first.body))
        true(second.at - first.at > 4.9, f"too early: {second.at - first.at}")
        eventually(lambda order=order: row(order, "order.created")["state"] == "delivered", "not settled")
    equal(len(receiver.of(gone)), 1)
    server.admin_ok("POST", f"/webhooks/{row(gone, 'order.created')['id']}/replay")
    eventually(lambda: row(gone, "order.created")["state"] == "delivered", "the replay was not delivered")
    equal(receiver.of(gone)[1].id, receiver.of(gone)[0].id)
    eventually(lambda: not alarm_is_up(), "the alarm stays")
    receiver.answer = lambda message, earlier: 200


@rule
def what_was_not_delivered_survives_a_stop_and_a_kill():
    for kill in (False, True):
        receiver.close()
        orders = [bought() for _ in range(5)]
        eventually(lambda: all((row(o["order"], "order.created") or {}).get("tries") for o in orders), "not tried")
        if kill:
            server.kill()
        else:
            server.stop()
        receiver.closed.clear()
        receiver.open()
        server.start()
        for order in orders:
            true(told(order["order"], "order.created").genuine, "the signature is wrong")


@rule
def a_kill_in_the_middle_loses_no_change():
    item = server.open_item(total=60)
    orders = []
    for _ in range(3):
        orders += [Buyer(server).win(item)["order"] for _ in range(20)]
        server.restart(kill=True)
    for order in orders:
        told(order, "order.created")
    eventually(lambda: not rows(query="?state=waiting"), "something still waits", 40)


@rule
def a_private_address_is_refused_unless_it_is_allowed():
    shut = settings_for(Server(), receiver.url, webhook__allow_private="no").start()
    order = bought(of=shut)
    waiting = eventually(lambda: next((r for r in rows(shut) if r["tries"]), None), "not tried")
    equal((waiting["order"], waiting["state"], waiting["http_status"]), (order["order"], "waiting", 0))
    true("private" in waiting["error"], waiting["error"])
    equal(receiver.of(order["order"]), [])
    metrics = shut.metrics()
    equal(metrics['stampede_webhooks_total{result="retried"}'], 1)
    eventually(lambda: shut.metrics()["stampede_webhooks_open"] == 1, "the gauge does not show it")


@rule
def without_a_webhook_nothing_is_kept():
    plain = Server().start()
    order = bought(of=plain)
    pay(order, of=plain)
    equal(rows(plain), [])
    equal(plain.metrics()["stampede_webhooks_open"], 0)


@rule
def the_secret_is_in_no_log_argument_or_setting_that_is_shown():
    with open(f"/proc/{server.process.pid}/cmdline", "rb") as file:
        true(SECRET.encode() not in file.read(), "in the arguments")
    shown = subprocess.run([server.binary, "config", "--config", server.config], capture_output=True, check=False)
    for text in (shown.stdout, shown.stderr, server.log().encode(), receiver.messages[0].body):
        true(SECRET.encode() not in text, "shown")


@rule
def settings_that_can_not_work_are_refused_at_the_start():
    for changes, said in (
            ({"webhook__url": "ftp://shop.example/"}, "webhook.url"),
            ({"webhook__url": "https://me:word@shop.example/"}, "webhook.url"),
            ({"webhook__secret_file": ""}, "webhook.secret_file"),
            ({"webhook__secret_file": "/nowhere"}, "webhook.secret_file"),
            ({"webhook__secret_file": os.devnull}, "webhook.secret_file")):
        refused = settings_for(Server(), "https://shop.example/", **changes)
        code, log = refused.start_refused()
        equal((code != 0, said in log), (True, True), log)


run()
