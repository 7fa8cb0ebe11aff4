# SPDX-License-Identifier: Apache-2.0
"""Every answer that a purchase can get, with its status, its members and what it leaves unchanged."""
from kit.harness import Buyer, Server, equal, jwt, problem, rule, run, true
import os
import time

SECRET = "0123456789abcdef0123456789abcdef"
server = Server(settings={"channels.names": "web,app,store"})
keys = os.path.join(server.folder, "jwt")
os.mkdir(keys)
with open(os.path.join(keys, "shop.secret"), "w") as file:
    file.write(SECRET)
server.write_config(session__jwt_keys=keys)
server.start()


def named(subject, **claims):
    return Buyer(server, jwt({"sub": subject, "exp": int(time.time()) + 600, **claims}, SECRET))


@rule
def the_last_unit_sells_once_and_a_refusal_changes_nothing():
    item = server.open_item(total=2)
    Buyer(server).win(item)
    Buyer(server).win(item)
    before = server.counts(item)
    equal((before["free"], before["held"]), (0, 2))
    for _ in range(3):
        problem(Buyer(server).buy(item), 409, "sold-out", free=0)
    equal(server.counts(item), before)
    true(server.get(f"/v1/items/{item}").json()["sold_out"])


@rule
def sold_out_says_how_many_are_left_when_too_many_were_asked_for():
    item, buyer = server.open_item(total=3, limit_per_user=10), Buyer(server)
    problem(buyer.buy(item, quantity=4, key="k"), 409, "sold-out", free=3)
    equal(buyer.win(item, quantity=3, key="k")["quantity"], 3)
    problem(Buyer(server).buy(item, quantity=1, key="k"), 409, "sold-out", free=0)


@rule
def sold_out_is_as_exact_for_who_has_bought_before():
    item, buyer = server.open_item(total=5, limit_per_user=10), Buyer(server)
    won = buyer.win(item, quantity=2, key="a")
    problem(buyer.buy(item, quantity=4, key="b"), 409, "sold-out", free=3)
    buyer.win(item, quantity=3, key="b")
    problem(buyer.buy(item, quantity=1, key="c"), 409, "sold-out", free=0)
    equal(buyer.win(item, quantity=2, key="a"), won)


@rule
def a_limit_of_one_is_one_and_the_second_purchase_shows_the_ticket():
    item, buyer = server.open_item(total=5), Buyer(server)
    problem(buyer.buy(item, quantity=2), 409, "limit-reached")
    won = buyer.win(item)
    problem(buyer.buy(item), 409, "already-bought", ticket=won["ticket"])
    problem(buyer.buy(item, quantity=3), 409, "already-bought", ticket=won["ticket"])
    equal(server.counts(item)["held"], 1)


@rule
def a_limit_above_one_counts_quantities_and_needs_a_key():
    item, buyer = server.open_item(total=50, limit_per_user=5), Buyer(server)
    problem(buyer.buy(item), 400, "key-required")
    won = buyer.win(item, quantity=3, key="a")
    problem(buyer.buy(item, quantity=3, key="b"), 409, "limit-reached", ticket=won["ticket"])
    second = buyer.win(item, quantity=2, key="b")
    problem(buyer.buy(item, quantity=1, key="c"), 409, "limit-reached", ticket=second["ticket"])
    equal(buyer.mine(item)["quantity"], 5)
    equal(server.counts(item)["held"], 5)


@rule
def without_a_limit_one_user_may_buy_as_often_as_there_are_units():
    item, buyer = server.open_item(total=4, limit_per_user=0), Buyer(server)
    problem(buyer.buy(item), 400, "key-required")
    for key in "abcd":
        buyer.win(item, key=key)
    problem(buyer.buy(item, key="e"), 409, "sold-out", free=0)


@rule
def the_limit_of_a_sale_counts_over_all_its_items():
    sale = server.sale(limit_per_user=3)
    first, second = server.item(sale, limit_per_user=2), server.item(sale, limit_per_user=2)
    server.publish(sale)
    buyer = Buyer(server)
    buyer.win(first, quantity=2, key="a")
    problem(buyer.buy(second, quantity=2, key="b"), 409, "limit-reached")
    won = buyer.win(second, quantity=1, key="b")
    problem(buyer.buy(second, quantity=1, key="c"), 409, "limit-reached", ticket=won["ticket"])
    equal((server.counts(first)["held"], server.counts(second)["held"]), (2, 1))


@rule
def before_the_start_nobody_gets_in_and_hears_when_it_opens():
    sale = server.sale(start_in_ms=1000)
    item = server.item(sale)
    server.publish(sale)
    start = server.get(f"/v1/items/{item}").json()["start_ms"]
    buyer = Buyer(server)
    give = buyer.get_pass(item)  # within pass.early_ms
    problem(buyer.buy(item, give=give), 403, "not-started", start_ms=start)
    equal(server.counts(item)["held"], 0)
    time.sleep(max(0, (start - server.now_ms()) / 1000))
    while server.now_ms() < start:
        time.sleep(0.005)
    equal(buyer.buy(item, give=give).status, 202, "at the start the same pass wins")


@rule
def at_the_end_it_is_over():
    sale = server.sale(lasts_ms=1900)
    item = server.item(sale)
    server.publish(sale)
    buyer, late = Buyer(server), Buyer(server)
    give = late.get_pass(item)
    won = buyer.win(item)
    end = server.get(f"/v1/items/{item}").json()["end_ms"]
    while server.now_ms() < end:
        time.sleep(0.01)
    problem(late.buy(item, give=give), 410, "ended")
    problem(buyer.buy(item), 409, "already-bought", ticket=won["ticket"])
    equal(server.get(f"/v1/items/{item}").json()["state"], "ended")
    equal(server.counts(item)["held"], 1)


@rule
def an_invited_sale_sells_to_its_guests_only():
    sale = server.sale(eligible_only=True)
    item = server.item(sale)
    server.publish(sale)
    equal(server.admin_ok("POST", f"/sales/{sale}/users", {"users": ["ann", "bob"]})["loaded"], 2)
    equal(server.admin_ok("POST", f"/sales/{sale}/users", {"users": ["ann", "cid"]})["loaded"], 1)
    named("ann").win(item)
    named("cid").win(item)
    problem(named("eve").buy(item), 403, "not-eligible")
    problem(Buyer(server).buy(item), 403, "not-eligible")
    equal(server.counts(item)["held"], 2)


@rule
def hundreds_of_users_can_be_invited_at_once():
    sale = server.sale(eligible_only=True)
    item = server.item(sale)
    server.publish(sale)
    users = [f"user-{number}" for number in range(300)]
    equal(server.admin_ok("POST", f"/sales/{sale}/users", {"users": users})["loaded"], 300)
    equal(server.admin_ok("POST", f"/sales/{sale}/users", {"users": users})["loaded"], 0)
    named("user-299").win(item)


@rule
def each_channel_sells_its_own_units():
    item = server.open_item(total=6, safety=1, channels={"web": 2, "app": 3}, limit_per_user=10)
    buyer = Buyer(server)
    buyer.win(item, quantity=2, key="a")
    problem(buyer.buy(item, key="b"), 409, "sold-out", free=0)
    for channel in ("app", "store", "phone", "safety"):  # a buyer can't choose
        problem(buyer.buy(item, key="b", channel=channel), 422, "bad-channel")
    problem(named("s", channel="store").buy(item, key="b"), 409, "sold-out", free=0)
    shopper = named("a", channel="app")
    shopper.win(item, key="b", quantity=3)
    problem(shopper.buy(item, key="b", quantity=2), 422, "key-reused")
    shopper.buy(item, key="b", quantity=3, channel="app")
    equal(server.counts(item)["channels"], {"web": 0, "app": 0, "store": 0})
    equal(server.counts(item)["safety"], 1)


@rule
def prices_are_the_flash_price_times_the_quantity():
    item, buyer = server.open_item(flash_price=333, limit_per_user=10), Buyer(server)
    won = buyer.win(item, quantity=3, key="a")
    order = buyer.order(won["ticket"])
    equal((won["unit_price"], order["unit_price"], order["amount"]), (333, 333, 999))


run()
