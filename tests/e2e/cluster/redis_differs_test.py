# SPDX-License-Identifier: Apache-2.0
"""Fields that somebody has changed in Redis: reconciliation finds them at whichever process it is asked, names partition,
field and both values, and has the partition loaded anew. Real processes on PostgreSQL and Redis."""
import json

from kit import databases

databases.beside("postgres", "redis")

from kit.cluster import Cluster, reconcile, redis  # noqa: E402
from kit.harness import Buyer, equal, eventually, rule, run, true  # noqa: E402

ALARM = 'stampede_alarm{name="reconcile"}'
shop = Cluster(gateways=1, workers=2, settings={"orders.grace_ms": 0, "reconcile.interval_ms": 0,
                                                "inventory.tell_ms": 5000, "inventory.timeout_ms": 5000}).start()
gateway = shop.gateways[0]
Sold = {}


def clean(server, *words):
    code, report = reconcile(server, *words)
    equal((code, report["found"], report["skipped"]), (0, 0, 0), json.dumps(report, indent=1))


def key(letter):
    """The partition of the first item; each sale is one."""
    part = shop.worker.sale_of(Sold["items"][0]) * 32
    names = redis("KEYS", f"st:*:{{{part}}}:{letter}")
    equal(len(names), 1, names)
    return names[0]


def win(item):
    buyer = Buyer(gateway)
    reply = buyer.buy(item)
    return reply.status == 202 and reply.json()["outcome"] == "won"


@rule
def a_shop_that_nobody_touched_has_no_findings_at_any_process():
    Sold["items"] = [shop.worker.open_item(total=50) for _ in range(3)]
    for item in Sold["items"]:
        shop.everywhere(item)
        for _ in range(3):
            buyer = Buyer(gateway)
            buyer.order(buyer.win(item, key=f"key-{item}")["ticket"])
    for server in shop.all:
        clean(server)
        clean(server, "--recent")


@rule
def a_wrong_field_of_each_hash_is_found_named_and_repaired():
    part = shop.worker.sale_of(Sold["items"][0]) * 32
    for letter, server in zip("mutk", (gateway, *shop.workers, gateway), strict=True):
        name = key(letter)
        field = f"i{Sold['items'][0]}" if letter == "m" else redis("HKEYS", name)[0]
        had = redis("HGET", name, field)[0]
        redis("HSET", name, field, "7 7 7")
        code, report = reconcile(server)
        equal((code, report["found"], report["left"]), (1, 1, 1), json.dumps(report, indent=1))
        finding = report["findings"][0]
        equal((finding["code"], finding["repairable"], finding["repaired"]), ("redis-differs", True, False))
        for words in (f"partition {part}: field {field} of :{letter}: ", 'Redis has "7 7 7"', "the log has ", had[:12]):
            true(words in finding["text"], f"no {words!r} in {finding['text']!r}")
        equal((server.metrics()[ALARM], server.metrics()["stampede_reconcile_findings"]), (1, 1))
        code, report = reconcile(server, "--repair")
        equal((code, report["found"], report["repaired"], report["left"]), (0, 1, 1, 0), json.dumps(report, indent=1))
        equal(redis("HGET", name, field)[0].split()[0], had.split()[0])
        clean(server)
        equal(server.metrics()[ALARM], 0)
    trail = [entry for entry in shop.worker.admin_ok("GET", "/audit")["audit"] if entry["action"] == "reconcile.repair"]
    equal([entry["detail"].split(":")[0] for entry in trail], ["redis-differs"] * 4, trail)


@rule
def it_goes_on_selling_afterwards():
    eventually(lambda: win(Sold["items"][0]), "no purchase is won", patience_s=60)
    clean(gateway)


@rule
def a_sale_that_redis_calls_sold_out_is_found_by_the_scheduled_run():
    item = Sold["items"][0]
    name, field = key("m"), f"i{item}"
    words = redis("HGET", name, field)[0].split()
    redis("HSET", name, field, " ".join(words[:12] + ["0"] * 8))  # nothing is free in any channel
    true(not win(item), "it was sold")
    for worker in shop.workers:
        worker.write_config(reconcile__interval_ms=1000)
        shop.restart(worker)
    eventually(lambda: any(worker.metrics().get(ALARM) == 1 for worker in shop.workers), "nobody raises the alarm",
               patience_s=120)
    for worker in shop.workers:
        worker.write_config(reconcile__interval_ms=0)
        shop.restart(worker)
    code, report = reconcile(gateway, "--repair")
    equal((code, report["repaired"]), (0, 1), json.dumps(report, indent=1))
    eventually(lambda: win(item), "no purchase is won", patience_s=60)


@rule
def a_win_that_redis_grants_and_the_engine_does_not_is_told_and_nobody_gets_it():
    """Somebody removed from Redis that a user has bought: the script says won, the engine says already bought."""
    item = shop.worker.open_item(total=5, limit_per_user=1)
    shop.everywhere(item)
    Sold["items"] = [item]
    buyer = Buyer(gateway)
    buyer.order(buyer.win(item, key="first")["ticket"])
    for field in redis("HKEYS", key("u")):
        redis("HDEL", key("u"), field)
    tries = iter(range(10 ** 6))

    def told():
        reply = buyer.buy(item, key=f"again-{next(tries)}")
        true(reply.status != 202 or reply.json()["outcome"] != "won", "the user has bought twice")
        return any("raised name=script-differs" in server.log() for server in shop.all)
    eventually(told, f"nobody is told: {shop.log()}", patience_s=60)
    eventually(lambda: all(server.metrics()['stampede_alarm{name="script-differs"}'] == 0 for server in shop.all), "the alarm stays",
               patience_s=60)
    eventually(lambda: buyer.buy(item, key="last").status == 409, "Redis was not loaded anew", patience_s=60)
    equal(shop.worker.counts(item)["held"], 1)
    clean(gateway)


@rule
def a_partition_that_redis_has_lost_is_told_and_opened_again():
    item = shop.worker.open_item(total=20)
    shop.everywhere(item)
    Sold["items"] = [item]
    eventually(lambda: win(item), "no unit is won", patience_s=60)
    redis("DEL", key("m"))

    def told():
        win(item)
        return any("raised name=partition-closed" in server.log() for server in shop.all)
    eventually(told, "nobody is told", patience_s=60)
    eventually(lambda: win(item), "it is not sold any more", patience_s=60)
    eventually(lambda: all(server.metrics()['stampede_alarm{name="partition-closed"}'] == 0 for server in shop.all), "the alarm stays",
               patience_s=60)
    clean(gateway)


run()
