# SPDX-License-Identifier: Apache-2.0
"""A limit over a period on many machines: what was bought at one gateway is refused at another, before it takes a unit."""
from kit import databases
from kit.harness import Buyer, equal, eventually, problem, rule, run

databases.beside("postgres", "redis")

from kit.cluster import Cluster, at  # noqa: E402

LIMIT = {"limit_per_user": 0, "period_limit": 2, "period_days": 30}
shop = Cluster(gateways=2, workers=1, settings={"orders.grace_ms": 0}).start()
here, there = shop.gateways


def two_sales():
    product = shop.worker.product()
    items = [shop.worker.open_item(product=product, **LIMIT) for _ in range(2)]
    shop.everywhere(*items)
    return items


def buys(buyer, item, key, **wish):
    return buyer.order(buyer.win(item, key=key, **wish)["ticket"])


def refused(buyer, item, key):
    return problem(buyer.buy(item, key=key), 409, "limit-reached", limit="period")


def known_at(server, count):
    """Until the gateway has heard of so many holders."""
    eventually(lambda: server.metrics()["stampede_limit_holders"] >= count, "a gateway has not heard of a buyer")


@rule
def what_was_bought_at_one_gateway_is_refused_at_the_other():
    first, second = two_sales()
    buyer = Buyer(here)
    won = buyer.win(first, key="a", quantity=2)
    order = buyer.order(won["ticket"])
    known_at(there, 1)
    refused(at(there, buyer), second, "b")
    refused(buyer, second, "c")
    equal(shop.worker.counts(second)["free"], 10)
    equal(at(there, buyer).win(first, key="a", quantity=2)["ticket"], won["ticket"], "a repeated win")
    equal(here.request("POST", f"/v1/orders/{order['order']}/cancel", session=buyer.session).status, 200)
    equal(buys(at(there, buyer), second, "d", quantity=2)["state"], "pending")


@rule
def a_gateway_that_starts_reads_who_has_units():
    first, second = two_sales()
    buyer = Buyer(here)
    buys(buyer, first, "a", quantity=2)
    shop.restart(there, kill=True)
    known_at(there, 2)
    refused(at(there, buyer), second, "b")


@rule
def without_the_database_nobody_past_the_limit_holds_a_unit_and_a_win_is_told_again():
    first, second = two_sales()
    buyer = Buyer(here)
    won = buyer.win(first, key="a", quantity=2)
    buyer.order(won["ticket"])
    repeat = buyer.purchase_request(first, key="a", quantity=2)
    more = buyer.purchase_request(second, key="b")
    with shop.database_away():
        for data, statuses in ((more, (503,)), (repeat, (202,))):
            with here.connect() as connection:
                connection.send(data)
                reply = connection.read_reply()
            equal(reply.status in statuses, True, str(reply))
    equal(reply.json()["ticket"], won["ticket"])
    eventually(lambda: buyer.buy(second, key="c").status == 409, "the database is back")
    eventually(lambda: shop.worker.admin("GET", f"/items/{second}/counts").status == 200, "the worker is connected again")
    equal(shop.worker.counts(second)["free"], 10)


@rule
def all_processes_stop():
    shop.stop()


run()
