# SPDX-License-Identifier: Apache-2.0
"""Order views that the processes of a shop share in Redis: read once, dropped with each change, there while the database is away."""
from kit import databases
from kit.harness import Buyer, equal, eventually, rule, run, true

databases.beside("postgres", "redis")

from kit.cluster import Cluster, at, redis  # noqa: E402

shop = Cluster(gateways=2, workers=1, settings={"orders.grace_ms": 0, "inventory.tell_ms": 5000, "inventory.timeout_ms": 5000})
here, there = shop.gateways
bought = []


def shared(server):
    """How many views this process has answered from Redis."""
    return server.metrics()["stampede_order_views_shared_total"]


def view(buyer, ticket, query=""):
    return buyer.get(f"/v1/tickets/{ticket}{query}")


def comes_from_redis(buyer, ticket):
    """Until a view is answered from Redis, and that view. Just after a change all are read from the database."""
    last = []

    def answered():
        before = shared(buyer.server)
        last[:] = [view(buyer, ticket)]
        equal(last[0].status, 200, last[0].body)
        return shared(buyer.server) > before
    eventually(answered, "no view comes from Redis", patience_s=60)
    return last[0].json()


def won(item):
    buyer = Buyer(here)
    ticket = buyer.win(item)["ticket"]
    equal(buyer.order(ticket)["state"], "pending")
    return buyer, ticket


@rule
def all_processes_start():
    shop.start()


@rule
def what_one_process_has_read_the_others_show():
    item = shop.worker.open_item(total=50)
    shop.everywhere(item)
    buyer, ticket = won(item)
    first = comes_from_redis(buyer, ticket)
    equal(first["state"], "pending")
    equal(comes_from_redis(at(there, buyer), ticket), first)
    bought.append((item, buyer, ticket))


@rule
def a_change_is_shown_at_every_process_at_once():
    item, *_ = bought[0]
    for _ in range(3):
        buyer, ticket = won(item)
        pending = comes_from_redis(at(there, buyer), ticket)
        done = buyer.server.request("POST", f"/v1/orders/{pending['order']}/cancel", session=buyer.session)
        equal(done.status, 200, done.body)
        # Whoever says what they have seen is never shown less, wherever they ask.
        version = done.json()["version"]
        true(version > pending["version"], done.body)
        equal(view(at(there, buyer), ticket, f"?version={version}").json()["state"], "closed")
        equal(view(buyer, ticket).json()["state"], "closed", "where it was changed")
        eventually(lambda b=buyer, t=ticket: view(at(there, b), t).json()["state"] == "closed", "where it was not changed")
        equal(comes_from_redis(at(there, buyer), ticket)["reason"], "cancelled")


@rule
def nobody_is_shown_the_order_of_another():
    _, buyer, ticket = bought[0]
    comes_from_redis(buyer, ticket)
    equal(view(Buyer(there), ticket).status, 404)


@rule
def a_view_that_somebody_has_spoilt_is_read_again():
    _, buyer, ticket = bought[0]
    comes_from_redis(buyer, ticket)
    keys = redis("--scan", "--pattern", "st:*:order:*")
    true(keys)
    for key in keys:
        redis("DEL", key)
        redis("SET", key, "nonsense")
    equal(view(at(there, buyer), ticket).json()["state"], "pending")
    for key in keys:
        redis("DEL", key)
    equal(comes_from_redis(buyer, ticket)["state"], "pending")


@rule
def views_go_on_while_the_database_is_away():
    item, buyer, ticket = bought[0]
    other, unseen = Buyer(here), None
    unseen = other.win(item)["ticket"]  # nobody has looked at it yet
    kept = comes_from_redis(buyer, ticket)
    with shop.database_away():
        for server in (here, there):
            equal(view(at(server, buyer), ticket).json(), kept)
        equal(view(other, unseen).status, 503, "there is no view of it")
        done = buyer.server.request("POST", f"/v1/orders/{kept['order']}/cancel", session=buyer.session, timeout_s=60)
        equal(done.status, 503, "nothing can be changed")
        equal(view(buyer, ticket).json(), kept)
    eventually(lambda: view(other, unseen).status == 200, "the database is there again", patience_s=60)
    done = []

    def cancelled():
        done[:] = [buyer.server.request("POST", f"/v1/orders/{kept['order']}/cancel", session=buyer.session)]
        return done[0].status == 200
    eventually(cancelled, f"it can't be cancelled: {done}", patience_s=60)
    equal(view(buyer, ticket).json()["state"], "closed")


@rule
def all_processes_stop():
    shop.stop()


run()
