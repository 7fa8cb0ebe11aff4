# SPDX-License-Identifier: Apache-2.0
"""Returned tickets do not use up `data.tickets_max` for ever: a day after their sale their rows are given back.

Days pass in seconds by a clock that is set ahead (clocks.py)."""
import json
import os
import subprocess

from kit.clocks import WrongServer
from kit.harness import Buyer, equal, eventually, jwt, problem, rule, run, true

TICKETS_MAX = 40
HOARDERS = 8
PAID = 5
DAY_MS = 24 * 3600 * 1000
HOUR_MS = 3600 * 1000

SECRET = "a secret of the shop that is long enough"

server = WrongServer(settings={"data.tickets_max": TICKETS_MAX, "watch.unpaid_wins": 1000})
keys = os.path.join(server.folder, "jwt")
os.mkdir(keys)
with open(os.path.join(keys, "shop.secret"), "w", encoding="ascii") as file:
    file.write(SECRET)
server.write_config(session__jwt_keys=keys)
server.start()


class Past:
    """The sale that is over in the end: who bought, who hoarded, and what they were told."""
    item = 0
    passed_ms = 0
    paid, hoarders, returned, held = [], [], [], None


def signed_in(name):
    return Buyer(server, jwt({"sub": name, "exp": server.now_ms() // 1000 + 600}, SECRET))


def time_pass(ms):
    Past.passed_ms += ms
    server.wall_set(Past.passed_ms)
    server.time_pass(ms)


def alarm():
    return next(row for row in server.admin_ok("GET", "/alarms")["alarms"] if row["name"] == "tickets-nearly-full")


def reclaimed():
    return server.metrics()["stampede_tickets_reclaimed_total"]


def cancel(buyer, won):
    buyer.order(won["ticket"])
    equal(server.request("POST", f"/v1/orders/{won['order']}/cancel", session=buyer.session).status, 200)


def reconcile():
    done = subprocess.run([server.binary, "reconcile", "--json", "--url", f"http://127.0.0.1:{server.port}"],
                          capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["admin"]})
    return json.loads(done.stdout)["findings"]


@rule
def hoarders_fill_the_table_and_nobody_can_win():
    Past.item = server.open_item(total=100, sale_fields={"lasts_ms": HOUR_MS}, limit_per_user=3)
    Past.paid = [(buyer, buyer.win(Past.item, key="mine")) for buyer in (Buyer(server) for _ in range(PAID))]
    for number, (buyer, won) in enumerate(Past.paid):
        buyer.order(won["ticket"])
        body = {"amount": 99900, "currency": "CNY", "reference": f"paid-{number}"}
        equal(server.admin("POST", f"/orders/{won['order']}/paid", body).status, 200)
    Past.hoarders = [signed_in(f"hoarder-{number}") for number in range(HOARDERS)]
    for number in range(TICKETS_MAX - PAID):
        hoarder = Past.hoarders[number % HOARDERS]
        won = hoarder.win(Past.item, key=f"hoard-{number}")
        cancel(hoarder, won)
        Past.returned.append((number % HOARDERS, f"hoard-{number}", won))
        eventually(lambda: server.counts(Past.item)["held"] == 0, "the unit does not come back")
    eventually(lambda: alarm()["up"], "no alarm")
    eventually(lambda: server.get("/readyz").status == 503, "a full table is not told")
    true(b"tickets_max" in server.get("/readyz").body, server.get("/readyz"))
    problem(Buyer(server).buy(Past.item, key="honest"), 503, "unavailable")


@rule
def while_the_sale_runs_and_for_a_day_a_key_hears_its_old_answer():
    who, key, won = Past.returned[3]
    for pause_ms in (0, 2 * HOUR_MS, DAY_MS - 3 * HOUR_MS):
        time_pass(pause_ms)
        hoarder = signed_in(f"hoarder-{who}")
        if pause_ms == 0:
            equal(hoarder.win(Past.item, key=key)["ticket"], won["ticket"])
        equal(hoarder.order(won["ticket"])["state"], "closed")
        equal(reclaimed(), 0)


@rule
def a_day_after_the_sale_its_returned_tickets_give_their_rows_back():
    time_pass(3 * HOUR_MS)
    eventually(lambda: reclaimed() == len(Past.returned), "rows are not given back")
    eventually(lambda: not alarm()["up"], "the alarm stays")
    eventually(lambda: server.get("/readyz").status == 200, "wins stay stopped")


def honest_users_buy(count):
    item = server.open_item(total=count)
    told = {won["ticket"] for _, _, won in Past.returned} | {won["ticket"] for _, won in Past.paid}
    wins = [Buyer(server).win(item)["ticket"] for _ in range(count)]
    equal(len(told | set(wins)), len(told) + count, "a ticket's number was told twice")
    return wins


@rule
def honest_users_buy_again_and_no_number_is_told_twice():
    honest_users_buy(12)


@rule
def after_a_crash_and_after_a_stop_it_is_the_same():
    server.restart(kill=True)
    equal(reconcile(), [], "reconciliation finds something")
    honest_users_buy(5)
    server.stop()
    server.verify()
    server.start()
    honest_users_buy(5)
    equal(server.counts(Past.item)["sold"], PAID, "the paid units of the past sale")


@rule
def orders_of_forgotten_tickets_are_still_shown_to_their_owners():
    for who, _, won in Past.returned[:3]:
        owner = signed_in(f"hoarder-{who}")
        equal(owner.order(won["ticket"])["reason"], "cancelled")
        equal(owner.get(f"/v1/orders/{won['order']}").json()["order"], won["order"])
        for path in (f"/v1/tickets/{won['ticket']}", f"/v1/orders/{won['order']}"):
            problem(Buyer(server).get(path), 404, "unknown-order")
    equal(server.item_orders(Past.item), (TICKETS_MAX, TICKETS_MAX), "orders and units in the database")


run()
