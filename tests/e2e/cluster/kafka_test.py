#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A shop on two gateways and two workers with a Redis Cluster, Kafka and PostgreSQL."""
import os
import subprocess

from kit import databases, kafka
from kit.cluster import Cluster
from kit.harness import Buyer, Server, equal, eventually, rule, run, true

databases.beside("postgres", "cluster", "kafka")
PATIENCE_S = 120
BACKLOG_MAX = 10
shop = Cluster(gateways=2, workers=2, settings={**kafka.settings(), "queue.backlog_max": BACKLOG_MAX, "orders.grace_ms": 0, "inventory.tell_ms": 1000,
                                                "inventory.timeout_ms": 5000, "alarms.calm_ms": 1000})
name = shop.settings["store.url"].partition("?")[0].rpartition("/")[2]


def number(sql):
    return int(databases.ask("postgres", name, sql))


def of_workers(metric):
    return sum(worker.metrics()[metric] for worker in shop.workers)


def ready_says(server):
    reply = server.request("GET", "/readyz")
    return reply.status, reply.body.decode()


def sold_everywhere(total, **sale):
    item = shop.worker.open_item(total=total, sale_fields=sale)
    shop.everywhere(item)
    return item


def sold_one(gateway, item):
    buyer = Buyer(gateway)
    equal(buyer.order(buyer.win(item)["ticket"])["state"], "pending")


def orders_of(item):
    return number(f"SELECT count(*) FROM orders WHERE item = {item}")


def redis_masters(*words):
    """A command at each master, whichever nodes that are by now."""
    for address in os.environ["STAMPEDE_TEST_CLUSTER"].split(","):
        host, _, port = address.partition(":")
        asked = ["redis-cli", "-h", host, "-p", port]
        role = subprocess.run([*asked, "ROLE"], capture_output=True, text=True, timeout=60, check=True).stdout
        if role.startswith("master"):
            subprocess.run([*asked, *words], stdout=subprocess.DEVNULL, timeout=60, check=True)


@rule
def gateways_and_workers_start_and_the_topic_is_made():
    shop.start()
    for worker in shop.workers:
        true("broker-away" not in worker.log(), worker.log()[-2000:])


@rule
def settings_that_can_not_be_are_refused_by_name():
    for wrong, words in (({"queue.url": "nowhere"}, "queue.url"), ({"queue.topic": "a b"}, "queue.topic"),
                         ({"queue.partitions": 0}, "queue.partitions"), ({"queue.settings_file": "/nowhere"}, "queue.settings_file")):
        code, text = Server(settings={**shop.settings, "cluster.role": "worker", **wrong}).start_refused()
        true(code == 2 and words in text, f"{code}: {text}")


@rule
def two_gateways_sell_each_unit_once_and_all_of_it_went_through_kafka():
    units = 12
    item = sold_everywhere(units, shards=2)
    buyers = [Buyer(gateway) for _ in range(units) for gateway in shop.gateways]
    replies = [buyer.buy(item, key=f"key-{at}") for at, buyer in enumerate(buyers)]
    won = [(buyer, reply.json()["ticket"]) for buyer, reply in zip(buyers, replies) if reply.status == 202]
    equal(len({ticket for _, ticket in won}), units)
    for buyer, ticket in won:
        equal(buyer.order(ticket)["state"], "pending")
    equal(orders_of(item), units)
    true(of_workers("stampede_broker_messages_total") >= units, "Kafka has fewer messages than there were wins")
    eventually(lambda: of_workers("stampede_broker_backlog") == 0, "something still waits for Kafka")
    equal(of_workers("stampede_broker_away"), 0)


@rule
def while_the_broker_is_gone_wins_are_being_decided_and_afterwards_told():
    item = sold_everywhere(30)
    before = Buyer(shop.gateways[0])
    bought = before.win(item)["ticket"]
    equal(before.order(bought)["state"], "pending")
    with kafka.down():
        eventually(lambda: of_workers("stampede_broker_away") > 0, "nobody notices", patience_s=PATIENCE_S)
        worker = next(each for each in shop.workers if each.metrics()["stampede_broker_away"] > 0)
        eventually(lambda: "Kafka" in ready_says(worker)[1], "/readyz does not tell", patience_s=PATIENCE_S)
        equal(ready_says(worker)[0], 503)
        eventually(lambda: worker.metrics()['stampede_alarm{name="broker-away"}'] == 1, "no alarm")
        buyers = [Buyer(gateway) for gateway in shop.gateways for _ in range(3)]
        tickets = [buyer.win(item) for buyer in buyers]
        equal({each["outcome"] for each in tickets}, {"deciding"})
        equal(orders_of(item), 1)
        true(of_workers("stampede_broker_backlog") > 0, "nothing waits")
        equal(before.order(bought)["state"], "pending", "who has bought is served as ever")
        more = [Buyer(shop.gateways[0]) for _ in range(BACKLOG_MAX)]
        replies = [buyer.buy(item) for buyer in more]
        taken = [(buyer, reply.json()) for buyer, reply in zip(more, replies) if reply.status == 202]
        equal(len(tickets) + len(taken), BACKLOG_MAX, "so many may wait")
        equal({reply.status for reply in replies}, {202, 503})
        buyers, tickets = buyers + [buyer for buyer, _ in taken], tickets + [ticket for _, ticket in taken]
    for buyer, each in zip(buyers, tickets):
        eventually(lambda: buyer.get(f"/v1/tickets/{each['ticket']}").json().get("state") == "pending", "it is never told",
                   patience_s=PATIENCE_S)
    equal(orders_of(item), 1 + len(buyers))
    for worker in shop.workers:
        eventually(lambda: ready_says(worker)[0] == 200, "a worker does not recover", patience_s=PATIENCE_S)
        eventually(lambda: worker.metrics()['stampede_alarm{name="broker-away"}'] == 0, "the alarm stays")
    sold_one(shop.gateways[1], item)


@rule
def a_sale_that_is_published_while_the_broker_is_gone_is_not_refused_but_to_be_tried_again():
    sale = shop.worker.sale()
    item = shop.worker.item(sale, total=5)
    with kafka.down():
        eventually(lambda: of_workers("stampede_broker_away") > 0, "nobody notices", patience_s=PATIENCE_S)
        reply = shop.worker.admin("POST", f"/sales/{sale}/publish")
        true(reply.status in (503, 504), f"{reply.status} {reply.body}")
    eventually(lambda: shop.worker.admin("POST", f"/sales/{sale}/publish").status == 200, "it is never published", patience_s=PATIENCE_S)
    shop.everywhere(item)
    sold_one(shop.gateways[0], item)


@rule
def what_redis_lost_and_kafka_has_becomes_orders():
    item = sold_everywhere(20)
    for gateway in shop.gateways:
        sold_one(gateway, item)
    buyers = [Buyer(gateway) for gateway in shop.gateways for _ in range(3)]
    passes = [buyer.get_pass(item) for buyer in buyers]
    relayed = of_workers("stampede_broker_messages_total")
    void = sum(gateway.metrics()["stampede_proposals_void_total"] for gateway in shop.gateways)
    # No process can write to the database, or reach it: nothing can be told.
    databases.client("postgres", os.environ["STAMPEDE_TEST_POSTGRES"], sql=f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    databases.client("postgres", os.environ["STAMPEDE_TEST_POSTGRES"],
                     sql=f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{name}'")
    try:
        replies = [buyer.buy(item, give=give, key=f"lost-{at}") for at, (buyer, give) in enumerate(zip(buyers, passes))]
        equal([reply.status for reply in replies], [202] * len(buyers), [reply.body for reply in replies])
        tickets = [reply.json() for reply in replies]
        equal({each["outcome"] for each in tickets}, {"deciding"})
        eventually(lambda: of_workers("stampede_broker_messages_total") >= relayed + len(buyers), "Kafka does not get them",
                   patience_s=20)
        redis_masters("FLUSHALL")
        for worker in shop.workers:  # they have confirmed some of it, in memory
            shop.kill(worker)
    finally:
        databases.client("postgres", os.environ["STAMPEDE_TEST_POSTGRES"], sql=f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    for worker in shop.workers:
        shop.ready(worker.spawn())
    for buyer, each in zip(buyers, tickets):
        eventually(lambda: buyer.get(f"/v1/tickets/{each['ticket']}").json().get("state") == "pending", "it is never an order",
                   patience_s=PATIENCE_S)
    equal(orders_of(item), 2 + len(buyers))
    true(of_workers("stampede_broker_records_back_total") >= len(buyers), "they were not read back")
    equal(sum(gateway.metrics()["stampede_proposals_void_total"] for gateway in shop.gateways), void)
    eventually(lambda: Buyer(shop.gateways[1]).buy(item).status == 202, "it is not sold any more", patience_s=PATIENCE_S)


@rule
def a_message_of_a_stranger_is_told_and_passed_over_and_the_alarm_ends():
    item = sold_everywhere(10)
    sold_one(shop.gateways[0], item)
    for partition in range(shop.settings["queue.partitions"]):
        kafka.put(shop.settings["queue.topic"], partition, b'{"hello": 1}')
    redis_masters("FLUSHALL")  # every partition is opened again, and reads what Kafka has

    def told(what):
        return next((worker for worker in shop.workers if f"{what} name=message-unreadable" in worker.log()), None)
    worker = eventually(lambda: told("raised"), "no alarm", patience_s=PATIENCE_S)
    true(worker.metrics()["stampede_broker_unreadable_total"] >= 1)
    true("a message of the broker can't be read part=" in worker.log(), "the log does not say where it is")
    eventually(lambda: told("cleared"), "the alarm stays", patience_s=PATIENCE_S)
    eventually(lambda: all(each.metrics()['stampede_alarm{name="message-unreadable"}'] == 0 for each in shop.workers), "it is still up",
               patience_s=PATIENCE_S)
    eventually(lambda: Buyer(shop.gateways[1]).buy(item).status == 202, "it is not sold any more", patience_s=PATIENCE_S)


@rule
def another_worker_goes_on_when_one_is_killed():
    item = sold_everywhere(10)
    sold_one(shop.gateways[0], item)
    shop.kill(shop.workers[1])
    eventually(lambda: Buyer(shop.gateways[1]).buy(item).json().get("outcome") == "won", "nobody relays it", patience_s=PATIENCE_S)
    shop.ready(shop.workers[1].spawn())


@rule
def a_topic_with_another_number_of_partitions_is_told_and_not_touched():
    shop.restart(shop.workers[1])
    odd = shop.workers[1]
    odd.stop()
    odd.write_config(**{"queue.partitions": 3})
    odd.spawn()

    def tells():
        try:
            return "another number of partitions" in ready_says(odd)[1]
        except OSError:
            return False
    eventually(tells, "/readyz does not tell", patience_s=PATIENCE_S)
    for _ in range(4):  # it holds up nobody: it takes no partition that it can't open
        sold_one(shop.gateways[0], sold_everywhere(3))
    odd.stop()


@rule
def all_stop_and_the_logs_verify():
    shop.stop()
    shop.worker.verify()


run(stop=False)
