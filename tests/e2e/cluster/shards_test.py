# SPDX-License-Identifier: Apache-2.0
"""A sale with several shards: a worker and two gateways on PostgreSQL and Redis."""
import random
import subprocess

from kit import databases
from kit.harness import Buyer, equal, eventually, places_of, rule, run, true

databases.beside("postgres", "redis")

from kit.cluster import Cluster, reconcile  # noqa: E402

SHARDS, UNITS = 4, 10
shop = Cluster(gateways=2, workers=1, settings={"orders.grace_ms": 0, "inventory.tell_ms": 1000, "inventory.timeout_ms": 5000})
chance = random.Random(7)


def anywhere():
    return Buyer(chance.choice(shop.gateways))


def bought(buyer, item, **words):
    """The last answer: whoever hears that it is too popular asks again, with the same key."""
    last = []

    def answered():
        last[:] = [buyer.buy(item, **words)]
        return not (last[0].status == 503 and last[0].json()["type"].endswith("too-popular"))
    eventually(answered, "no unit comes to this shard", patience_s=60)
    return last[0]


def prepared(**fields):
    item = shop.worker.open_item(total=UNITS, sale_fields={"shards": SHARDS}, **fields)
    shop.everywhere(item)
    return item


def shown(item, **wanted):
    def stands(server):
        counts = server.counts(item, at_rest=False)
        return counts["given"] == places_of(counts) and all(counts[name] == value for name, value in wanted.items())
    for server in shop.all:
        eventually(lambda s=server: stands(s), f"not everywhere: {wanted}, but {server.counts(item, at_rest=False)}", patience_s=60)


@rule
def all_processes_start():
    shop.start()


@rule
def every_unit_is_sold_once_and_nobody_hears_sold_out_before():
    item = prepared(limit_per_user=1)
    replies = [bought(anywhere(), item, key=f"k-{number}") for number in range(3 * UNITS)]
    equal([reply.status for reply in replies[:UNITS]], [202] * UNITS, "the first ones win, whatever shard is theirs")
    equal({(reply.status, reply.json()["type"]) for reply in replies[UNITS:]}, {(409, "/problems/sold-out")})
    equal(len({reply.json()["ticket"] for reply in replies[:UNITS]}), UNITS)
    shown(item, free=0, held=UNITS, given=UNITS)


@rule
def operators_change_all_shards():
    item = prepared()
    sale = shop.worker.sale_of(item)
    done = shop.gateways[0].admin_ok("POST", f"/items/{item}/adjust", {"delta": 7})
    equal(done["applied"], 7)
    shown(item, free=UNITS + 7, given=UNITS + 7)
    shop.worker.admin_ok("POST", f"/sales/{sale}/pause")
    equal({anywhere().buy(item).json()["type"] for _ in range(8)}, {"/problems/paused"})
    shop.worker.admin_ok("POST", f"/sales/{sale}/resume")
    equal(bought(anywhere(), item).status, 202)


@rule
def a_unit_that_comes_back_goes_to_whoever_waits():
    item = prepared()
    buyers = [anywhere() for _ in range(UNITS)]
    tickets = [bought(buyer, item).json()["ticket"] for buyer in buyers]
    shown(item, free=0)
    waiters = [anywhere() for _ in range(3)]
    for waiter in waiters:
        equal(waiter.wait(item, None).status, 201)
    for buyer, ticket in list(zip(buyers, tickets))[:3]:
        order = buyer.order(ticket)["order"]
        equal(buyer.server.request("POST", f"/v1/orders/{order}/cancel", session=buyer.session).status, 200)
    for waiter in waiters:
        eventually(lambda w=waiter: w.server.request("GET", f"/v1/items/{item}/waitlist", session=w.session).json()["state"] == "offered",
                   "a waiter has no offer", patience_s=60)
    shown(item, free=0, held=UNITS, given=UNITS)
    # Nobody waits any more: the next one goes to whoever asks.
    order = buyers[5].order(tickets[5])["order"]
    equal(buyers[5].server.request("POST", f"/v1/orders/{order}/cancel", session=buyers[5].session).status, 200)
    shown(item, free=1)
    equal(bought(anywhere(), item).status, 202)


@rule
def reconciliation_finds_nothing():
    eventually(lambda: shop.worker.metrics()["stampede_stock_events_open"] == 0, "the events stay open", patience_s=60)
    code, report = reconcile(shop.worker)
    equal(code, 0, report)
    equal(report["found"], 0, report)


@rule
def the_logs_of_all_shards_verify():
    shop.stop()
    worker = shop.worker
    done = subprocess.run([worker.binary, "verify", "--config", worker.config], capture_output=True, text=True, timeout=180)
    equal(done.returncode, 0, done.stdout[-2000:] + done.stderr[-500:])
    true("all checks hold" in done.stdout, done.stdout[-500:])


run()
