# SPDX-License-Identifier: Apache-2.0
"""nginx and HAProxy in front of three gateways, with the files of deploy/cluster as they are but for ports: what is shared, what is
hidden, and that visitors hear an answer while gateways are killed. Restarts of everything: rolling_test.py."""
import select
import time

from kit import databases

databases.beside("postgres", "redis")

from kit.cluster import Cluster  # noqa: E402
from kit.fronts import FRONTS, SETTINGS, Load, limit_counts_the_client, purchase_made  # noqa: E402
from kit.harness import Buyer, Closed, equal, eventually, halt, rule, run, true  # noqa: E402
from kit.push_client import Push  # noqa: E402

KILLS, AT_ONCE, STUCK_S = 6, 9, 1
shops, fronts = {}, {}
for kind, front in FRONTS.items():
    shops[kind] = Cluster(gateways=3, workers=1, settings={"inventory.tell_ms": 2000, "data.tickets_max": 100000}, gateway_kind=front.gateway_kind,
                          gateway_settings=front.gateway_settings).start()
    fronts[kind] = front(shops[kind]).start()


def item_of(shop, total=100000):
    item = shop.worker.open_item(total=total)
    shop.everywhere(item)
    return item


def accepted(shop):
    return sum(gateway.metrics()["stampede_edge_connections_accepted_total"] for gateway in shop.gateways)


def each_front(test):
    """A rule for each kind of proxy."""
    for kind in FRONTS:
        def one(kind=kind):
            test(shops[kind], fronts[kind])
        one.__name__ = f"{kind}_{test.__name__}"
        rule(one)


@each_front
def carries_a_purchase_and_push_and_hides_what_is_inside(shop, front):
    purchase_made(front, item_of(shop))
    for path in ("/metrics", "/admin/v1/sales"):
        equal(front.get(path).status, 404, f"{path} is open to the world")


@each_front
def keeps_connections_to_the_gateways(shop, front):
    before = accepted(shop)
    with front.connect() as connection:
        for _ in range(50):
            equal(connection.request("GET", "/v1/time").status, 200)
    true(accepted(shop) - before < 25, f"{accepted(shop) - before} connections for 50 requests of one client")


@each_front
def loses_no_request_that_may_be_repeated_when_gateways_are_killed(shop, front):
    item = item_of(shop)
    load = Load(front, item).start()
    for number in range(KILLS):
        time.sleep(0.7)
        shop.restart(shop.gateways[number % 3], kill=True)
    time.sleep(1)
    load.end()
    print(f"     {KILLS} kills: {dict(load.answers)}")
    equal(load.lost("buy", "view"), {}, "requests that may be repeated, without an answer")
    true(sum(count for (what, answer), count in load.answers.items() if what == "buy" and answer == 202) > 50, "hardly anybody bought")
    orders = {row["view"]["ticket"]: row["user"] for row in orders_of(shop.worker, item)}
    equal({ticket: orders.get(ticket) for ticket in load.told}, load.told, "told and kept")


def sent_to_a_gateway_that_is_killed(shop, front, requests):
    """The statuses of requests that were with a gateway when it was killed: it had stopped reading before."""
    gateway = shop.gateways[0]
    halt(gateway.process.pid)
    connections = [front.connect() for _ in requests]
    for connection, data in zip(connections, requests):
        connection.send(data)
    time.sleep(STUCK_S)
    ready, _, _ = select.select([connection.socket for connection in connections], [], [], 0)
    stuck = [connection for connection in connections if connection.socket not in ready]
    true(stuck, "no request went to the gateway that had stopped")
    gateway.kill()
    statuses = [connection.read_reply().status for connection in stuck]
    for connection in connections:
        connection.close()
    shop.ready(gateway.spawn())
    return statuses


@each_front
def repeats_a_purchase_that_has_a_key_at_another_gateway_and_no_other_one(shop, front):
    item = item_of(shop)
    for key, wanted in (("once", {202}), (None, {502})):
        buyers = [Buyer(front) for _ in range(AT_ONCE)]
        requests = [buyer.purchase_request(item, key=key) for buyer in buyers]
        time.sleep(3)  # HAProxy has seen that all are ready
        equal(set(sent_to_a_gateway_that_is_killed(shop, front, requests)), wanted, f"key {key}")


def orders_of(server, item):
    rows, before = [], ""
    while True:
        page = server.admin_ok("GET", f"/orders?item={item}&limit=100{before}")
        rows += page["orders"]
        if "next" not in page:
            return rows
        before = f"&before={page['next']}"


@each_front
def leads_push_to_another_gateway_when_its_own_is_killed(shop, front):
    item = item_of(shop)
    buyer = Buyer(front)
    ticket = buyer.win(item)["ticket"]
    buyer.order(ticket)
    for gateway in shop.gateways:
        push = Push(front, buyer.session)
        push.until(lambda message: message["type"] == "state" and message["orders"])
        [mine] = [one for one in shop.gateways if one.metrics()["stampede_push_sockets"] == 1]
        mine.kill()
        try:
            push.closed()
        except (Closed, ConnectionError):
            pass
        with Push(front, buyer.session) as again:  # it is told all that it had missed
            state = again.until(lambda message: message["type"] == "state")
            equal([order["ticket"] for order in state["orders"]], [ticket])
        shop.ready(mine.spawn())
        eventually(lambda: sum(one.metrics()["stampede_push_sockets"] for one in shop.gateways) == 0, "a push connection stays")


@rule
def haproxy_sends_nothing_to_a_gateway_that_is_not_ready():
    shop, front = shops["haproxy"], fronts["haproxy"]
    outside = shop.gateways[0]
    item = item_of(shop)
    outside.write_config(inventory__url="127.0.0.1:1")  # where no Redis is
    outside.stop()
    outside.spawn()
    eventually(lambda: outside.alive() and answers(outside) == 503, "it is ready without Redis")
    time.sleep(3)  # as long as HAProxy needs to notice: 2 checks, a second each
    asked = outside.metrics()["stampede_edge_requests_total"]
    for _ in range(10):
        equal(Buyer(front).buy(item, key="k").status, 202)
    checks = outside.metrics()["stampede_edge_requests_total"] - asked
    true(checks <= 15, f"{checks} requests reached it, of which one each second are checks")
    outside.write_config(inventory__url=shop.settings["inventory.url"])
    shop.restart(outside)


def answers(server):
    try:
        return server.get("/readyz").status
    except OSError:
        return 0


@each_front
def counts_limits_of_an_address_for_all_gateways_together(shop, front):
    front.end()
    shop.stop()
    for server in shop.all:
        server.write_config(**{name.replace(".", "__"): value for name, value in SETTINGS.items() if name.startswith("limits.")})
    shop.start()
    front.start()
    limit_counts_the_client(front, servers=3)


run()
