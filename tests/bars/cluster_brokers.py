#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One of three Kafka brokers is killed while a crowd buys (bar 3 of step 3 of check-cluster).

  tools/with-postgres tools/with-redis --cluster tools/with-kafka --three --nice python3 tests/bars/cluster_brokers.py [--kills 3]

Two gateways and two workers; each message has three copies and is acknowledged when two brokers have it. The brokers are killed one
after the other (kill -9), so each partition of the topic loses its leader; each comes back with its data before the next goes. Nobody may
be refused meanwhile: each purchase is answered `202`, won or being decided. In the end every purchase is one order, nothing is void, and
reconciliation and `stampede verify` find nothing. A broker that starts gives way to other processes (--nice): else the start of a Java program on two
processors keeps Redis and gateways from answering within `inventory.timeout_ms`, which brokers on machines of their own can't do.
Prints a line of figures, then what is wrong; exit status 1 if something is.
"""
import collections
import os
import socket
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from cluster_lost import STOPS, redis_times  # noqa: E402
from cluster_shop import Shop, arguments_read, redis_nodes, redis_pid  # noqa: E402
from cluster_torture import Sale, figure, shop_judged  # noqa: E402
from kit import crowd, kafka  # noqa: E402
from kit.harness import Buyer, Failure, eventually  # noqa: E402

DOWN_S, UP_S = 6, 3  # more than brokers need to notice; with load after it
BACK_S = 240
SECONDS_PER_KILL = 20
FIRST = 16  # purchases at each gateway before the crowd comes: both shards are open then
FINE = ("202 won", "202 deciding", "409 in-progress", "409 already-bought", "0 lost")  # a repeated key may come while its first is on its way


class Watched(Sale):
    """Remembers when somebody was refused."""

    def __init__(self, *words):
        self.refused, self.began = [], time.monotonic_ns()
        super().__init__(*words)

    def read(self, users, requests):
        super().read(users, requests)
        self.refused += [(f"{request.status} {request.what}", (request.start - self.began) // 10**9) for request in requests
                         if f"{request.status} {request.what}" not in FINE]


class Brokers:
    def __init__(self, given):
        self.given, self.findings = given, crowd.Findings()
        self.early, self.kills = set(), []
        self.users = int(given.rate * SECONDS_PER_KILL * (given.kills + 1))
        self.shop = Shop(2, 2, {**kafka.settings(), "data.tickets_max": 8 * self.users + 1000, "server.connections_max": 1000}).start()

    def broker_killed(self, number):
        with kafka.down(number):
            time.sleep(DOWN_S)
        host, port = kafka.brokers()[number - 1].rsplit(":", 1)

        def listens():
            try:
                socket.create_connection((host, int(port)), timeout=1).close()
                return True
            except OSError:
                return False
        eventually(listens, "the broker does not listen again", BACK_S)

    def copies_whole(self, before):
        """What waits for brokers comes to nothing, and more has gone through them."""
        def flows():
            return self.shop.metric("stampede_broker_backlog") == 0 and self.shop.metric("stampede_broker_messages_total") > before
        eventually(flows, "records still wait for Kafka", BACK_S)

    def closed(self):
        """Reason → how many partitions the workers have closed, which nothing here is a reason for."""
        found = collections.Counter()
        for worker in self.shop.workers:
            for name, count in worker.metrics().items():
                if name.startswith("stampede_partition_closed_total") and count:
                    found[name.partition("=")[2]] += int(count)
        return dict(found)

    def redis_faults(self):
        """Nodes of Redis that get no processor for seconds take one another for gone: no fault of what is tried here."""
        logs = [os.path.join(os.readlink(f"/proc/{redis_pid(address)}/cwd"), "log") for address in redis_nodes()]
        return f"nodes of Redis stopped serving {sum(len(redis_times(log, STOPS)) for log in logs)} times"

    def item_opened(self):
        """Brokers that have just started may be slow: then a sale is not published in time, and another one is."""
        try:
            return self.shop.workers[0].open_item(total=2 * self.users, sale_fields={"shards": 2})
        except Failure:
            return None

    def first_sold(self, item):
        for gateway in self.shop.gateways:
            eventually(lambda g=gateway: g.get(f"/v1/items/{item}").status == 200, "a gateway does not show the item")
            for buyer in (Buyer(gateway) for _ in range(FIRST)):
                eventually(lambda b=buyer: b.buy(item, key="first").status == 202, "it does not sell")
                self.early.add(buyer.user)

    def play(self):
        item = eventually(self.item_opened, "no sale can be published", BACK_S)
        for gateway in self.shop.gateways:
            eventually(lambda g=gateway: (g.counts(item) or {}).get("free") == 2 * self.users, "a gateway does not see the units")
        self.first_sold(item)
        sale = Watched(self.shop, item, self.users, self.given, 0)
        for number in range(self.given.kills):
            time.sleep(UP_S)
            before = self.shop.metric("stampede_broker_messages_total")
            self.kills.append((time.monotonic_ns() - sale.began) // 10**9)
            self.broker_killed(number % len(kafka.brokers()) + 1)
            self.copies_whole(before)
            print(f"  {number + 1} of {self.given.kills}", file=sys.stderr, flush=True)
        time.sleep(UP_S)
        sale.end(self.findings)
        sale.asked |= self.early
        if closed := self.closed():
            self.findings.say("closed", f"partitions: {closed}")
        return sale, *sale.judge(self.findings)


def main():
    given = arguments_read("One of three brokers is killed while a crowd buys.", 100, kills=3)
    brokers = Brokers(given)
    try:
        played = brokers.play()
        if played[0].refused:
            brokers.findings.say("refused", f"{len(played[0].refused)}, what and in which second: {dict(collections.Counter(played[0].refused))}; "
                                 f"brokers were killed in seconds {brokers.kills}; {brokers.redis_faults()}")
        if played[2]["void"]:
            brokers.findings.say("void without a fault of Redis", f"{played[2]['void']} tickets")
        shop_judged(brokers.shop, brokers.findings)
    except Failure as failure:
        print(f"{given.kills} kills, did not end: {failure}; seed {given.seed}, 1 findings")
        print("\n".join(brokers.findings))
        return 1
    print(f"{len(kafka.brokers())} brokers, {given.kills} kills of one: {sum(played[0].answers.values())} requests "
          f"({dict(played[0].answers)}), {len(played[0].refused)} refused; {figure(played)}; seed {given.seed}, {len(brokers.findings)} findings")
    print("\n".join(brokers.findings))
    return 1 if brokers.findings else 0


if __name__ == "__main__":
    sys.exit(main())
