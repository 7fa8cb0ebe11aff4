# SPDX-License-Identifier: Apache-2.0
"""The table "What a client hears" of docs/cluster.md, on real servers that are killed, stopped and cut off. ROWS names the rules of
each row."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from kit.harness import REPOSITORY, Buyer, Connection, equal, eventually, halt, problem, request_bytes, rule, run, true
from kit.push_client import Push
from kit.servers import Postgres, Redis, Relay
from kit.webhook_receiver import Receiver, settings_for

if not shutil.which("redis-server") or not os.path.isdir("/usr/lib/postgresql"):
    print("skipped: no Redis or no PostgreSQL")
    sys.exit(77)

LAG_MAX, STOP_S, NOT_READY_S = 1000, 40, 10  # the last: on a busy machine; without one it is one second
ROWS = {  # of docs/cluster.md; rules of other files with their file
    "nothing": ("a_win_that_the_database_keeps_late_is_being_decided_and_becomes_an_order_by_push_and_poll",),
    "a Redis master is gone, restarted, moved or empty": (
        "a_sale_is_unavailable_while_its_redis_is_gone_and_views_go_on",
        "a_purchase_that_redis_loses_while_it_is_being_decided_ends_void_and_its_unit_is_free",
        "an_emptied_redis_sells_nothing_until_it_is_loaded_again",
        "kafka_test.py what_redis_lost_and_kafka_has_becomes_orders",
        "../../bars/cluster_lost.py migrated", "../../bars/cluster_lost.py back_again"),
    "no answer of Redis in time": ("a_purchase_that_redis_answers_too_late_is_unavailable_and_its_key_finds_the_win",),
    "the database is away": (
        "purchases_are_decided_later_while_the_database_is_away_and_order_pages_say_so",
        "beyond_the_bound_of_lag_purchases_are_unavailable_and_all_that_were_decided_become_orders",
        "views_test.py views_go_on_while_the_database_is_away"),
    "Kafka is away, if it is set": ("kafka_test.py while_the_broker_is_gone_wins_are_being_decided_and_afterwards_told",),
    "a worker or the leader is gone": (
        "another_worker_takes_the_partition_of_one_that_is_gone", "webhooks_of_a_leader_that_is_gone_are_sent_by_the_next_one"),
    "a gateway is gone, or can't reach Redis or the database": (
        "a_gateway_that_reaches_neither_redis_nor_the_database_is_not_ready_and_another_one_tells_the_same",
        "a_gateway_that_is_cut_off_is_soon_not_ready_also_where_nothing_breaks", "a_process_whose_database_is_silent_can_be_stopped",
        "front_test.py"),
}
redis, database = Redis().start(), Postgres()
database.make()
os.environ.update({"STAMPEDE_TEST_REDIS": redis.address, "STAMPEDE_TEST_POSTGRES": database.url})

from kit import databases  # noqa: E402
from kit.cluster import KIND, Cluster  # noqa: E402

receiver = Receiver()
shop = Cluster(gateways=1, workers=2, settings={"inventory.tell_ms": 300, "orders.lag_max": LAG_MAX, "orders.grace_ms": 0,
                                                "store.connections": 4})
to_redis, to_database = Relay(redis.port), Relay(database.port)
apart = shop.member("gateway", more={"inventory.url": to_redis.address,
                                     "store.url": shop.settings["store.url"].replace(str(database.port), str(to_database.port))})
shop.gateways.append(apart)
for member in shop.workers:
    settings_for(member, receiver.url)
shop.start()
gateway = shop.gateways[0]
name = shop.settings["store.url"].rpartition("/")[2]


def sql(text):
    return databases.ask(KIND, name, text)


def all_is_well():
    """All processes are ready, and operators can write: each connection of a database that was killed says so once."""
    for server in shop.all:
        eventually(lambda: server.get("/readyz").status == 200, "it is not ready again", 90)
    eventually(lambda: shop.worker.admin("POST", "/products", {"name": "n", "list_price": 1, "currency": "CNY"}).status == 201, "no change", 90)
    eventually(lambda: gateway.admin("GET", "/sales").status == 200, "no list", 90)


def held(server, item):
    """None: the connection that asked is one of a database that was killed."""
    reply = server.admin("GET", f"/items/{item}/counts")
    return reply.json()["counts"]["held"] if reply.status == 200 and reply.json()["counts"] else None


def item_of(total=20, **more):
    all_is_well()
    item = shop.worker.open_item(total=total, **more)
    shop.everywhere(item)
    eventually(lambda: Buyer(gateway).buy(item, key="warm").status == 202, "it does not sell")
    for server in (shop.worker, gateway):
        eventually(lambda: held(server, item) == 1, "the first order is not counted")
    return item


def kept_late(item):
    """While nothing can be written of the item's partition."""
    return databases.holding(KIND, name, f"SELECT part FROM parts WHERE part >= {shop.worker.sale_of(item) * 32} FOR UPDATE")


def state_of(buyer, ticket):
    reply = buyer.get(f"/v1/tickets/{ticket}")
    return reply.json()["state"] if reply.status == 200 else reply.status


def becomes(buyer, ticket, wanted, patience_s=60):
    eventually(lambda: state_of(buyer, ticket) == wanted, f"the ticket does not become {wanted}", patience_s)


def sells_again(item):
    eventually(lambda: Buyer(gateway).buy(item, key="again").status == 202, "it does not sell again", 90, every_s=0.1)


def owner_of(lease):
    """The worker that has it."""
    def found():
        told = sql(f"SELECT members.name FROM members JOIN leases ON holder = process WHERE leases.name = '{lease}'")
        return next((worker for worker in shop.workers if worker.alive() and told.endswith(f":{worker.port}")), None)
    return eventually(found, f"nobody has {lease}")


def table_rows(path, heading):
    """The first column of the table below a heading."""
    with open(os.path.join(REPOSITORY, "docs", path), encoding="utf-8") as file:
        text = re.split(r"^#+ ", file.read(), flags=re.M)
    [section] = [part for part in text if part.startswith(heading + "\n")]
    return [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")][1:]


@rule
def each_row_of_the_table_has_its_rules_and_a_line_for_operators():
    equal(table_rows("cluster.md", "What a client hears"), list(ROWS))
    equal(table_rows("operations.md", "Several machines"), ["many purchases are *deciding*", *list(ROWS)[1:]])
    for rules_of_row in ROWS.values():
        for words in rules_of_row:
            file, _, named = words.rpartition(" ") if " " in words else (words, "", "") if words.endswith(".py") else (__file__, "", words)
            with open(os.path.join(os.path.dirname(os.path.realpath(__file__)), file), encoding="utf-8") as text:
                true(f"def {named}(" in text.read() or not named, f"{file} has no {named}")


@rule
def a_win_that_the_database_keeps_late_is_being_decided_and_becomes_an_order_by_push_and_poll():
    item = item_of()
    equal(Buyer(gateway).win(item)["outcome"], "won")
    buyer = Buyer(gateway)
    with Push(gateway, buyer.session) as push:
        push.until(lambda message: message["type"] == "state")
        with kept_late(item):
            reply = buyer.buy(item, key="late")
            ticket = reply.json()["ticket"]
            equal((reply.status, reply.json()["outcome"], reply.headers["retry-after"]), (202, "deciding", "1"))
            equal(state_of(buyer, ticket), "deciding")
        told = push.until(lambda message: message["type"] == "order")
        equal((told["event"], told["order"]["ticket"]), ("created", ticket))
    becomes(buyer, ticket, "pending")
    equal(buyer.buy(item, key="late").json()["ticket"], ticket)


@rule
def a_sale_is_unavailable_while_its_redis_is_gone_and_views_go_on():
    item = item_of()
    buyer = Buyer(gateway)
    ticket = buyer.win(item)["ticket"]
    late = Buyer(gateway)
    given = late.get_pass(item)
    redis.kill()
    eventually(lambda: late.buy(item, key="k", give=given).status == 503, "it goes on without Redis")
    problem(late.buy(item, key="k", give=given), 503, "unavailable")
    equal(buyer.order(ticket)["state"], "pending")
    equal(gateway.get(f"/v1/items/{item}").status, 200)
    redis.start()
    sells_again(item)
    equal(buyer.order(ticket)["state"], "pending")


@rule
def a_purchase_that_redis_loses_while_it_is_being_decided_ends_void_and_its_unit_is_free():
    item = item_of(total=3)
    free = shop.worker.counts(item)["free"]
    for worker in shop.workers:  # nobody keeps what Redis proposes
        halt(worker.process.pid)
    buyer = Buyer(gateway)
    reply = buyer.buy(item, key="lost")
    equal((reply.status, reply.json()["outcome"]), (202, "deciding"))
    redis.kill()
    redis.start()
    for worker in shop.workers:
        worker.process.send_signal(signal.SIGCONT)
    becomes(buyer, reply.json()["ticket"], "void", 90)
    eventually(lambda: buyer.buy(item, key="lost").status == 202, "it does not sell again", 90, every_s=0.1)
    eventually(lambda: shop.worker.counts(item)["free"] == free - 1, "the unit is not free")
    eventually(lambda: int(sql(f"SELECT count(*) FROM orders WHERE item = {item}")) == 3 - free + 1, "other orders than those that were told")


@rule
def an_emptied_redis_sells_nothing_until_it_is_loaded_again():
    item = item_of(total=3)
    counts = shop.worker.counts(item)
    redis.ask("FLUSHALL")
    sells_again(item)
    eventually(lambda: shop.worker.counts(item)["held"] == counts["held"] + 1, "units are lost")
    equal(shop.worker.counts(item)["given"], counts["given"])


@rule
def a_purchase_that_redis_answers_too_late_is_unavailable_and_its_key_finds_the_win():
    item = item_of()
    buyer = Buyer(gateway)
    given = buyer.get_pass(item)
    before = shop.worker.counts(item)["held"]
    redis.pause()
    problem(buyer.buy(item, key="slow", give=given), 503, "unavailable")
    redis.go_on()
    first = eventually(lambda: (r := buyer.buy(item, key="slow", give=given)).status == 202 and r.json(), "no answer after Redis went on")
    equal(buyer.buy(item, key="slow", give=given).json()["ticket"], first["ticket"])
    becomes(buyer, first["ticket"], "pending")
    eventually(lambda: shop.worker.counts(item)["held"] == before + 1, "it took other than one unit")


@rule
def purchases_are_decided_later_while_the_database_is_away_and_order_pages_say_so():
    item = item_of()
    early = Buyer(gateway)
    won = early.win(item)
    kept, order = won["ticket"], won["order"]
    buyer = Buyer(gateway)
    given = buyer.get_pass(item)
    database.kill()
    reply = buyer.buy(item, key="away", give=given)
    equal((reply.status, reply.json()["outcome"]), (202, "deciding"))
    eventually(lambda: early.get(f"/v1/tickets/{kept}").status == 503, "an order page without a database")
    problem(early.get(f"/v1/tickets/{kept}"), 503, "unavailable")
    problem(gateway.request("POST", f"/v1/orders/{order}/cancel", session=early.session), 503, "unavailable")
    eventually(lambda: gateway.get("/readyz").status == 503, "it is ready without a database")
    database.start()
    becomes(buyer, reply.json()["ticket"], "pending", 90)
    equal(buyer.buy(item, key="away", give=given).json()["ticket"], reply.json()["ticket"])
    eventually(lambda: gateway.get("/readyz").status == 200, "it is not ready again")


def passes_of(item, count):
    done = subprocess.run([gateway.binary, "mint", "--config", gateway.config, "--item", str(item), "--users", f"0:{count}"],
                          capture_output=True, text=True, check=True)
    return [line.split()[0] for line in done.stdout.splitlines()]


def bought(item, passes):
    """The statuses of purchases that are sent one behind the other."""
    with Connection(gateway.port) as connection:
        for one in passes:
            connection.send(request_bytes("POST", f"/v1/items/{item}/buy", None, {"Stampede-Pass": one}))
        return [connection.read_reply().status for _ in passes]


@rule
def beyond_the_bound_of_lag_purchases_are_unavailable_and_all_that_were_decided_become_orders():
    item = item_of(total=3 * LAG_MAX)
    before = int(sql(f"SELECT count(*) FROM orders WHERE item = {item}"))
    passes = passes_of(item, LAG_MAX + 200)
    database.kill()
    statuses = []
    for start in range(0, len(passes), 100):
        statuses += bought(item, passes[start:start + 100])
    won = statuses.count(202)
    equal(set(statuses), {202, 503})
    true(LAG_MAX - 100 <= won <= LAG_MAX + 10, f"{won} were let through with a bound of {LAG_MAX}")
    database.start()
    eventually(lambda: int(sql(f"SELECT count(*) FROM orders WHERE item = {item}")) == before + won, "an order is missing", 90, every_s=0.2)
    sells_again(item)


@rule
def another_worker_takes_the_partition_of_one_that_is_gone():
    item = item_of()
    part = sql(f"SELECT part FROM parts WHERE part >= {shop.worker.sale_of(item) * 32}")
    owner = owner_of(f"part {part}")
    owner.kill()
    buyer = Buyer(gateway)
    reply = buyer.buy(item, key="meanwhile")
    equal((reply.status, reply.json()["outcome"]), (202, "deciding"))
    becomes(buyer, reply.json()["ticket"], "pending", 30)
    true(owner_of(f"part {part}") is not owner, "who is gone has it still")
    shop.ready(owner.spawn())


@rule
def webhooks_of_a_leader_that_is_gone_are_sent_by_the_next_one():
    item = item_of()
    leader = owner_of("leader")
    other = next(worker for worker in shop.workers if worker is not leader)
    buyer = Buyer(gateway)
    won = buyer.win(item)
    order = buyer.order(won["ticket"])
    leader.kill()
    paid = other.admin("POST", f"/orders/{order['order']}/paid", {"reference": "r", "amount": order["amount"], "currency": order["currency"]})
    equal(paid.status, 200, paid.body)
    eventually(lambda: receiver.of(order["order"], "order.paid"), "nobody tells the shop", 60)
    equal(owner_of("leader"), other)
    shop.ready(leader.spawn())


@rule
def a_gateway_that_reaches_neither_redis_nor_the_database_is_not_ready_and_another_one_tells_the_same():
    for relay in (to_redis, to_database):
        item = item_of()
        buyer = Buyer(apart)
        given = buyer.get_pass(item)
        first = eventually(lambda: (r := buyer.buy(item, key="same", give=given)).status == 202 and r.json(), "it does not sell")
        relay.cut()
        eventually(lambda: apart.get("/readyz").status == 503, "it is ready all the same", 90)
        eventually(lambda: gateway.get("/readyz").status == 200, "another gateway is not ready")
        elsewhere = Buyer.__new__(Buyer)
        elsewhere.__dict__.update(buyer.__dict__, server=gateway)
        equal(elsewhere.buy(item, key="same", give=given).json()["ticket"], first["ticket"])
        relay.mend()
        eventually(lambda: apart.get("/readyz").status == 200, "it is not ready again", 90)
        again = eventually(lambda: (r := buyer.buy(item, key="same", give=given)).status == 202 and r.json(), "it does not sell again")
        equal(again["ticket"], first["ticket"])


@rule
def a_gateway_that_is_cut_off_is_soon_not_ready_also_where_nothing_breaks():
    longest = 0
    for relay in (to_redis, to_database):
        for how in (relay.cut, relay.hush):
            item_of()
            eventually(lambda: apart.get("/readyz").status == 200, "it is not ready", 90)
            how()
            began = time.monotonic()
            eventually(lambda: apart.get("/readyz").status == 503, "it is ready all the same", 90)
            longest = max(longest, time.monotonic() - began)
            if how == relay.hush:
                relay.cut()
            relay.mend()
    print(f"     not ready after {longest:.1f} s at most")
    true(longest < NOT_READY_S, f"it was ready for {longest:.1f} s")
    eventually(lambda: apart.get("/readyz").status == 200, "it is not ready again", 90)


@rule
def a_process_whose_database_is_silent_can_be_stopped():
    all_is_well()
    eventually(lambda: apart.admin("GET", "/sales").status == 200, "no connection for what operators read")
    to_database.hush()
    eventually(lambda: apart.get("/readyz").status == 503, "it is ready all the same", 90)
    began = time.monotonic()
    apart.stop(STOP_S)
    print(f"     stopped after {time.monotonic() - began:.0f} s")
    to_database.cut()
    to_database.mend()
    shop.ready(apart.spawn())


try:
    run()
finally:
    database.end()
