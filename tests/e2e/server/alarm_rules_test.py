#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Alarms that follow from the server's counters: each is caused here, told once to a signed webhook, and recovers."""
import json
import os
import sqlite3

from kit import webhook_receiver
from kit.disks import SlowServer
from kit.harness import Buyer, Server, equal, eventually, rule, run, temp_folder, true
from kit.paying_signs import signed

receiver = webhook_receiver.Receiver()
SECRET_FILE = os.path.join(temp_folder(), "alarms.secret")
with open(os.path.join(SECRET_FILE), "w", encoding="ascii") as secret:
    secret.write("whsec_" + webhook_receiver.SECRET)
os.chmod(SECRET_FILE, 0o600)
TOLD = {"alarms.webhook_url": f"http://127.0.0.1:{receiver.port}/alarms", "alarms.webhook_secret_file": SECRET_FILE,
        "alarms.webhook_allow_private": "yes", "alarms.remind_ms": 3000, "reconcile.interval_ms": 0}
server = Server(settings={**TOLD, "alarms.attack_per_s": 5, "alarms.calm_ms": 1000, "alarms.order_lag": 3,
                          "alarms.sold_out_early_s": 86400}).start()

PAID = {"payment.providers": "sandbox", "payment.query_ms": 300, "orders.grace_ms": 0, "alarms.calm_ms": 1000}
WRONG_TICKET, SETTLE_RETURN = 4000, 1  # a number that nobody has; a step of contract/command.h
REFUNDED, REFUND_STUCK = 2, 3  # enum refund_state of contract/payment.h


def heard(name, kind):
    return [message for message in receiver.messages if message.type == f"alarm.{kind}" and message.data["name"] == name]


def is_up(name, of=server):
    return of.metrics()[f'stampede_alarm{{name="{name}"}}'] == 1


def begins(name, of=server):
    eventually(lambda: is_up(name, of), f"{name} is not raised")
    message = eventually(lambda: heard(name, "raised"), f"{name} is not told")[0]
    true(message.genuine and message.data["up"] and message.data["detail"], message.body)


def recovers(name, of=server):
    eventually(lambda: not is_up(name, of), f"{name} stays")
    message = eventually(lambda: heard(name, "cleared"), f"the end of {name} is not told")[0]
    true(message.genuine and not message.data["up"] and message.data["ended_ms"] >= message.data["since_ms"], message.body)
    row = next(row for row in of.admin_ok("GET", "/alarms")["alarms"] if row["name"] == name)
    equal((row["up"], row["last_since_ms"], row["last_end_ms"]), (False, message.data["since_ms"], message.data["ended_ms"]))


def ordered(shop):
    """A buyer with an order that is not paid."""
    buyer = Buyer(shop)
    return buyer, buyer.order(buyer.win(shop.open_item())["ticket"])["order"]


def begun(shop, buyer, order):
    """The number of the payment at the bank."""
    reply = shop.request("POST", f"/v1/orders/{order}/pay", session=buyer.session)
    equal(reply.status, 200, reply.body)
    return reply.json()["payment"]["url"].split("id=")[1]


@rule
def an_attack_is_told_and_its_end_too():
    item = server.open_item()

    def attack():
        for _ in range(60):
            server.request("POST", f"/v1/items/{item}/buy", headers={"Stampede-Pass": "forged"})
        return is_up("attack")
    eventually(attack, "no alarm", every_s=0.5)
    begins("attack")
    recovers("attack")
    equal(len({message.id for message in heard("attack", "raised")}), 1)


@rule
def orders_that_lag_are_told_and_an_alarm_that_lasts_is_told_again():
    item = server.open_item(total=20)
    other = sqlite3.connect(os.path.join(server.data, "stampede.db"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for _ in range(5):
        Buyer(server).win(item)
    begins("orders-lag")
    begins("database-away")
    reminders = eventually(lambda: len(heard("orders-lag", "reminded")) >= 2 and heard("orders-lag", "reminded"), "no reminder")
    equal(len({message.id for message in reminders}), len(reminders), "two reminders with one id")
    equal(len(heard("orders-lag", "raised")), 1)
    other.execute("ROLLBACK")
    other.close()
    recovers("orders-lag")
    recovers("database-away")


@rule
def an_item_that_sells_out_at_once_is_told():
    item = server.open_item(total=1)
    Buyer(server).win(item)
    begins("sold-out-early")
    server.admin_ok("POST", f"/sales/{server.sale_of(item)}/end")
    recovers("sold-out-early")


@rule
def a_message_that_is_not_accepted_is_sent_again_under_its_id():
    receiver.answer = lambda message, earlier: 503 if earlier == 0 else 200
    count = len(heard("sold-out-early", "raised"))
    item = server.open_item(total=1)
    Buyer(server).win(item)
    tries = eventually(lambda: len(heard("sold-out-early", "raised")) >= count + 2 and heard("sold-out-early", "raised")[count:], "no second try")
    equal(tries[0].id, tries[1].id)
    receiver.answer = lambda message, earlier: 200
    true(server.metrics()['stampede_alarm_messages_total{result="retried"}'] >= 1)
    server.admin_ok("POST", f"/sales/{server.sale_of(item)}/end")
    eventually(lambda: not is_up("sold-out-early"), "it stays")


@rule
def a_slow_journal_is_told():
    slow = SlowServer(settings={**TOLD, "alarms.sync_ms": 300}).start()
    item = slow.open_item(total=50)
    buyer = Buyer(slow)
    with slow.held():
        with slow.connect() as connection:
            connection.send(buyer.purchase_request(item))
            held_s = 1.0
            eventually(lambda began=slow.now_ms(): slow.now_ms() - began > held_s * 1000, "the clock stands")
    begins("journal-slow", slow)
    recovers("journal-slow", slow)
    slow.stop()


@rule
def a_disk_with_little_room_is_told_and_a_restart_tells_it_again():
    low = Server(settings={**TOLD, "alarms.disk_free_bytes": 1 << 50}).start()
    begins("disk-low", low)
    count = len({message.id for message in heard("disk-low", "raised")})
    low.restart()
    eventually(lambda: len({message.id for message in heard("disk-low", "raised")}) > count, "it is not told again")
    low.stop()


@rule
def a_payment_of_another_amount_is_told():
    shop = Server(settings={**TOLD, **PAID}).start()
    buyer, order = ordered(shop)
    equal(shop.request("POST", f"/sandbox/v1/pay/{begun(shop, buyer, order)}", {"how": "wrong-amount"}).status, 200)
    begins("payment-mismatch", shop)
    eventually(lambda: buyer.get(f"/v1/orders/{order}").json()["state"] == "paid", "the provider is not asked")
    recovers("payment-mismatch", shop)
    shop.stop()


@rule
def a_payment_of_an_order_that_the_database_lost_is_told_until_the_order_is_back():
    """The provider reports it again and again: at first there is no such order, then there is."""
    shop = Server(settings={**TOLD, **PAID, "payment.query_ms": 600000}).start()
    buyer, order = ordered(shop)
    payment = begun(shop, buyer, order)
    database = sqlite3.connect(os.path.join(shop.data, "stampede.db"), isolation_level=None, timeout=30)
    rows = database.execute("SELECT * FROM orders").fetchall()
    [(reference,)] = database.execute("SELECT reference FROM payments").fetchall()
    with open(os.path.join(shop.data, "sandbox.secret"), "rb") as file:
        secret = file.read().strip()
    shown, path = buyer.get(f"/v1/orders/{order}").json(), "/v1/payments/sandbox/callback"
    body = json.dumps({"state": "captured", "id": payment, "reference": reference, "currency": shown["currency"],
                       "amount": shown["amount"]}).encode()
    database.execute("BEGIN IMMEDIATE")
    for table in ("payments", "orders"):
        database.execute(f"DELETE FROM {table}")  # noqa: S608
    database.execute("COMMIT")

    equal(shop.request("POST", path, body, signed(secret, "POST", path, body)).status, 503)
    begins("payment-unknown", shop)
    database.execute(f"INSERT INTO orders VALUES({','.join('?' * len(rows[0]))})", rows[0])  # noqa: S608
    database.close()
    equal(shop.request("POST", path, body, signed(secret, "POST", path, body)).status, 204)
    recovers("payment-unknown", shop)
    shop.stop()


@rule
def a_refund_that_the_provider_refuses_is_told_until_it_is_made():
    shop = Server(settings={**TOLD, **PAID}).start()
    buyer, order = ordered(shop)
    equal(shop.request("POST", f"/sandbox/v1/pay/{begun(shop, buyer, order)}", {"how": "pay"}).status, 200)
    eventually(lambda: buyer.get(f"/v1/orders/{order}").json()["state"] == "paid", "it is not paid")
    equal(shop.admin("POST", f"/orders/{order}/refund", {"to": "stock"}).status, 200)
    path = os.path.join(shop.data, "stampede.db")
    eventually(lambda: sqlite3.connect(path, timeout=30).execute("SELECT count(*) FROM refunds WHERE state = ?", (REFUNDED,)).fetchone()[0] == 1,
               "the money is not given back")
    shop.stop()
    with sqlite3.connect(path) as database:  # as if the provider had refused it
        database.execute("UPDATE refunds SET state = ?, next_ms = 99999999999999", (REFUND_STUCK,))
    shop.start()
    begins("refund-stuck", shop)
    with sqlite3.connect(path, timeout=30) as database:
        database.execute("UPDATE refunds SET state = ?", (REFUNDED,))
    recovers("refund-stuck", shop)
    shop.stop()


@rule
def a_stock_event_that_the_inventory_refuses_is_told_until_it_is_gone():
    shop = Server(settings=TOLD).start()
    Buyer(shop).win(shop.open_item())
    shop.stop()
    path = os.path.join(shop.data, "stampede.db")
    with sqlite3.connect(path) as database:
        database.execute("INSERT INTO stock_events(ticket, step, destination) VALUES(?, ?, 0)", (WRONG_TICKET, SETTLE_RETURN))
    shop.start()
    begins("stock-event-refused", shop)
    true(shop.metrics()["stampede_stock_events_refused_total"] == 1)
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM stock_events WHERE ticket = ?", (WRONG_TICKET,))
    recovers("stock-event-refused", shop)
    shop.stop()


run()
