# SPDX-License-Identifier: Apache-2.0
"""A shop on several processes: a worker and a gateway share PostgreSQL, Redis and a secret."""
import os

from kit import databases
from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, temp_folder, true

databases.beside("postgres", "redis")

from kit.cluster import at  # noqa: E402

store, name = databases.fresh("postgres")
SHARED = {**store, **databases.inventory_settings(temp_folder()), "orders.grace_ms": 0, "inventory.tell_ms": 5000,
          "inventory.timeout_ms": 5000}
worker = Server(settings={**SHARED, "cluster.role": "worker"})
gateway = Server(settings={**SHARED, "cluster.role": "gateway"})


def number(sql):
    return int(databases.ask("postgres", name, sql))


def shown_at(server, item):
    """The gateway has read what the worker wrote."""
    eventually(lambda: server.get(f"/v1/items/{item}").status == 200, "the item is not shown", patience_s=60)
    return item


@rule
def without_the_secret_it_does_not_start_and_names_the_setting():
    short = os.path.join(temp_folder(), "secret")
    with open(short, "w", encoding="utf-8") as file:
        file.write("too short\n")
    os.chmod(short, 0o600)
    for path in (short, short + ".missing"):
        code, text = Server(settings={**SHARED, "cluster.secret_file": path}).start_refused()
        true(code != 0 and "cluster.secret_file" in text, text)


@rule
def a_redis_address_that_is_none_is_refused_by_name():
    code, text = Server(settings={**SHARED, "inventory.url": "127.0.0.1:99999"}).start_refused()
    true(code != 0 and "inventory.url" in text, text)


@rule
def a_worker_and_a_gateway_start_and_are_ready():
    equal(databases.migrate(worker).returncode, 0)
    worker.start(patience_s=60)
    gateway.start(patience_s=60)


@rule
def a_win_at_the_gateway_is_an_order_everywhere_and_paid_there():
    item = shown_at(gateway, worker.open_item(total=5))
    buyer = Buyer(gateway)
    won = buyer.win(item)
    equal(won["outcome"], "won")
    equal(buyer.order(won["ticket"])["state"], "pending")
    eventually(lambda: worker.counts(item)["held"] == 1, "the worker does not show it")
    equal(at(worker, buyer).order(won["ticket"])["state"], "pending")
    order = worker.admin_ok("GET", f"/orders?item={item}")["orders"][0]["view"]
    paid = worker.admin("POST", f"/orders/{order['order']}/paid", {
        "reference": "outside", "amount": order["amount"], "currency": order["currency"]})
    equal(paid.status, 200, paid.body)
    eventually(lambda: buyer.order(won["ticket"])["state"] == "paid", "the gateway does not show it")


@rule
def a_sale_gets_a_partition_for_each_shard_when_it_is_prepared():
    sale = worker.sale(shards=2)
    item = worker.item(sale, total=3)
    of_sale = f"FROM parts WHERE part >= {sale * 32} AND part < {sale * 32 + 32}"
    for shards in (5, 3):
        equal(worker.admin_ok("PATCH", f"/sales/{sale}", {"shards": shards, "limit_per_user": shards})["shards"], shards)
    equal(number(f"SELECT count(*) {of_sale}"), 0, "a change of a draft prepares nothing")
    worker.publish(sale)
    equal(number(f"SELECT count(*) {of_sale}"), 3)
    equal(number(f"SELECT count(*) {of_sale} AND shards = 3"), 3)
    document = problem(gateway.admin("PATCH", f"/sales/{sale}", {"shards": 4}), 409, "conflict")
    true("prepared with 3 shards; that can't change" in document["detail"], document)
    equal(gateway.admin_ok("PATCH", f"/sales/{sale}", {"shards": 3, "title": "Same"})["shards"], 3)
    equal(Buyer(gateway).win(shown_at(gateway, item))["outcome"], "won")


@rule
def two_processes_sell_each_unit_once():
    units = 10
    item = shown_at(gateway, worker.open_item(total=units))
    buyers = [Buyer(server) for _ in range(units + 5) for server in (worker, gateway)]
    replies = [buyer.buy(item) for buyer in buyers]
    won = [reply.json()["ticket"] for reply in replies if reply.status == 202]
    equal(len(won), units)
    equal(len(set(won)), units)
    eventually(lambda: number(f"SELECT count(*) FROM orders WHERE item = {item}") == units, "an order is missing")
    equal(number(f"SELECT sold FROM items WHERE id = {item}"), units)


@rule
def what_was_told_is_there_after_the_worker_was_killed():
    item = shown_at(gateway, worker.open_item(total=20))
    buyers = [Buyer(gateway) for _ in range(5)]
    tickets = [buyer.win(item)["ticket"] for buyer in buyers]
    worker.restart(kill=True)
    for buyer, ticket in zip(buyers, tickets):
        equal(buyer.order(ticket)["state"], "pending")
    late = Buyer(gateway)
    eventually(lambda: late.buy(item, key="late").status == 202, "the gateway sells no more", patience_s=60)
    eventually(lambda: number(f"SELECT count(*) FROM orders WHERE item = {item}") == len(buyers) + 1, "an order is missing")


@rule
def both_stop_without_a_fault():
    gateway.stop()
    worker.stop()


run()
