# SPDX-License-Identifier: Apache-2.0
"""What Redis has of a sale that is over: after a reconciliation that found nothing wrong its keys go, and a late refund
brings them back. Real processes on PostgreSQL and Redis."""
from kit import databases

databases.beside("postgres", "redis")

from kit.cluster import Cluster, reconcile, redis  # noqa: E402
from kit.harness import Buyer, equal, eventually, rule, run, true  # noqa: E402

shop = Cluster(gateways=1, workers=2, settings={"orders.grace_ms": 0, "reconcile.interval_ms": 0, "inventory.keep_ms": 1000,
                                                "inventory.tell_ms": 5000, "inventory.timeout_ms": 5000}).start()
gateway = shop.gateways[0]
Sold = {}


def keys(item):
    """The keys of an item's partition; each sale is one."""
    part = shop.worker.sale_of(item) * 32
    return sorted(name.rpartition(":")[2] for name in redis("KEYS", f"st:*:{{{part}}}:*") if name[-2:] in (":m", ":u", ":t", ":k"))


def clean():
    code, report = reconcile(gateway)
    equal((code, report["found"], report["skipped"]), (0, 0, 0), report)


def resting():
    return gateway.metrics()["stampede_partitions_resting"]


@rule
def a_sale_with_an_open_order_or_that_goes_on_stays_in_redis():
    Sold["over"], Sold["open"] = (shop.worker.open_item(total=5) for _ in range(2))
    shop.everywhere(Sold["over"], Sold["open"])
    buyer = Sold["buyer"] = Buyer(gateway)
    Sold["ticket"] = buyer.win(Sold["over"], key="late-1")["ticket"]
    Sold["order"] = buyer.order(Sold["ticket"])["order"]
    shop.worker.admin_ok("POST", f"/sales/{shop.worker.sale_of(Sold['over'])}/end")
    clean()
    equal(keys(Sold["over"]), ["k", "m", "t", "u"])
    true("m" in keys(Sold["open"]), "it is not open")
    equal(resting(), 0)


@rule
def after_the_last_payment_its_keys_go_and_nobody_has_it_open():
    paid = shop.worker.admin("POST", f"/orders/{Sold['order']}/paid", {"reference": "r", "amount": 99900, "currency": "CNY"})
    equal(paid.status, 200, paid.body)
    eventually(lambda: shop.worker.counts(Sold["over"])["sold"] == 1, "the payment does not come to the inventory")
    clean()
    eventually(lambda: keys(Sold["over"]) == [], "the keys stay")
    eventually(lambda: resting() == 1, "the gateway does not know that it rests")
    eventually(lambda: sum(worker.metrics()["stampede_partitions_owned"] for worker in shop.workers) == 1, "it has a lease")
    true("m" in keys(Sold["open"]), "it has gone, too")
    for server in shop.all:
        equal(server.get("/readyz").status, 200)
        equal(server.metrics()['stampede_alarm{name="partition-closed"}'], 0)
    clean()  # nothing to compare


@rule
def processes_that_start_are_ready_and_leave_it_at_rest():
    shop.restart(shop.workers[0])
    shop.restart(gateway)
    eventually(lambda: resting() == 1, "the gateway does not know that it rests")
    equal(keys(Sold["over"]), [])
    equal(Sold["buyer"].order(Sold["ticket"])["state"], "paid")


@rule
def a_late_refund_brings_it_back_and_its_unit_to_stock():
    equal(shop.worker.counts(Sold["over"])["sold"], 1)
    shop.worker.admin_ok("POST", f"/orders/{Sold['order']}/refund", {"to": "stock"})
    eventually(lambda: shop.worker.counts(Sold["over"])["sold"] == 0, "the unit does not come back", patience_s=60)
    equal(keys(Sold["over"]), ["k", "m", "t", "u"])
    true(all(redis("PTTL", name) == ["-1"] for name in redis("KEYS", "st:*:m")), "a key has an expiry")
    eventually(lambda: shop.worker.metrics()["stampede_stock_events_open"] == 0, "the event stays open", patience_s=60)
    clean()
    eventually(lambda: keys(Sold["over"]) == [], "it does not rest again")


run()
