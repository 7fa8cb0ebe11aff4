#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks are cut while a crowd buys (bar 3 of step 3 of check-cluster).

  python3 tests/bars/cluster_cuts.py [--cuts 9] [--least 5] [--most 8] [--rate 150] [--seed N]

Two gateways, three workers, a Redis Cluster of six, a PostgreSQL and a Kafka broker, each on a machine of its own (cluster_networks.py). In a
first sale all packets between a gateway and Redis, or between a worker and the database, are dropped for some seconds: both ways, or one
way only. In a second sale a Redis master is cut off from the other nodes of Redis, while gateways and workers reach it. A second shop
has Kafka between Redis and its workers: there the worker of the sale is cut off from the broker. In the end all holds that
cluster_torture.py checks; void tickets are possible in the second sale only. After each cut both gateways must sell again; in the
first sale the gateway that was not cut off sells all the while, and in the third gateways go on to take purchases, which wait.
Where no broker can be had, the last part is left out, and the line says so.
Prints a line of figures, then what is wrong; exit status 1 if something is, 77 where there are no network namespaces.
"""
import collections
import os
import random
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import cluster_networks  # noqa: E402

cluster_networks.enter()

from cluster_lost import NODE_TIMEOUT_S, master_of  # noqa: E402
from cluster_networks import Machine, cut  # noqa: E402
from cluster_shop import Shop, arguments_read, redis_ask, redis_nodes  # noqa: E402
from cluster_torture import Sale, figure, shop_judged  # noqa: E402
from kit import crowd, harness, kafka  # noqa: E402
from kit.harness import Buyer, Closed, Failure, eventually  # noqa: E402
from kit.servers import DEPLOYED, Postgres  # noqa: E402

WAYS = ("both", "to", "from")
PLAIN = [(what, way) for way in WAYS for what in ("gateway-redis", "worker-database")]
REDIS = [("redis-redis", way) for way in WAYS]
KAFKA = [("worker-kafka", way) for way in WAYS]
AGAIN_S = 60
REDIS_NODES = 6


class FarPostgres(Postgres):
    """On a machine of its own."""
    comes_from = "10.99.0.0/16"

    def __init__(self, machine):
        super().__init__()
        self.machine, self.host = machine, machine.address

    def spawn(self, *command):
        user = ["-S", str(self.identity["user"]), "-G", str(self.identity["group"])]
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen([*self.machine.wrapper, *user, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            cwd=self.folder)


class FarRedis:
    def __init__(self):
        self.machine, self.folder = Machine(), harness.temp_folder("stampede-redis-")
        self.address = f"{self.machine.address}:6379"
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(
                [*self.machine.wrapper, "redis-server", os.path.join(DEPLOYED, "redis.conf"), "--port", "6379", "--bind", "0.0.0.0",
                 "--protected-mode", "no", "--dir", self.folder, "--appendonly", "no"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder)

    def knows_a_replica(self):
        try:
            return redis_ask(self.address, "CLUSTER", "NODES").count("slave") == REDIS_NODES // 2
        except OSError:
            return False


class FarKafka:
    """The broker of tools/with-kafka, on a machine of its own; address is empty where there can be none."""

    def __init__(self):
        self.machine = Machine()
        tool = os.path.join(harness.REPOSITORY, "tools", "with-kafka")
        self.process = subprocess.Popen([*self.machine.wrapper, tool, "--optional", "--host", self.machine.address, "sh", "-c",
                                         "echo $STAMPEDE_TEST_KAFKA; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class FarServer(harness.Server):
    def __init__(self, settings):
        self.machine = Machine()
        self.host = self.machine.address
        super().__init__(settings={**settings, "server.address": "0.0.0.0"}, wrapper=self.machine.wrapper)


class FarShop(Shop):
    def process(self, role):
        return FarServer({**self.common, "cluster.role": role})


class Cuts:
    def __init__(self, given):
        self.given, self.dice, self.findings = given, random.Random(given.seed), crowd.Findings()
        self.done, self.longest, self.first, self.taken = collections.Counter(), 0, 0, 0
        self.redis = [FarRedis() for _ in range(REDIS_NODES)]
        os.environ["STAMPEDE_TEST_CLUSTER"] = ",".join(node.address for node in self.redis)
        for node in self.redis:
            eventually(lambda n=node: self.pings(n), "Redis does not start")
        cluster_networks.run("redis-cli", "--cluster", "create", *(node.address for node in self.redis), "--cluster-replicas", "1", "--cluster-yes")
        for node in self.redis:
            eventually(node.knows_a_replica, "the cluster does not come together")
        self.database = FarPostgres(Machine())
        self.database.make()
        os.environ["STAMPEDE_TEST_POSTGRES"] = self.database.url
        self.kafka = FarKafka()
        self.users = int(given.rate * (given.cuts // 2 + 2) * (given.most + 20))
        self.shop = None
        self.shop_start({})

    def shop_start(self, settings):
        self.shop = FarShop(2, 3, {"data.tickets_max": 8 * self.users + 1000, "server.connections_max": 1000, **settings}).start()

    def kafka_shop_start(self):
        os.environ["STAMPEDE_TEST_KAFKA"] = self.kafka.address
        self.shop_start(kafka.settings())

    @staticmethod
    def pings(node):
        try:
            return redis_ask(node.address, "PING") == "+PONG"
        except OSError:
            return False

    def end(self):
        for process in (*self.shop.workers, *self.shop.gateways) if self.shop else ():
            process.kill()
        self.kafka.end()
        for node in self.redis:
            node.process.kill()
            node.process.wait()
        self.database.end()
        cluster_networks.end()

    # -- what is cut --

    def ends_of(self, what):
        """(machines, machines, the gateway that is not concerned)"""
        if what == "gateway-redis":
            gateway = self.dice.choice(self.shop.gateways)
            return [gateway.machine], [node.machine for node in self.redis], next(g for g in self.shop.gateways if g is not gateway)
        if what == "worker-database":
            return [self.owner().machine], [self.database.machine], self.shop.gateways[0]
        if what == "worker-kafka":
            return [self.owner().machine], [self.kafka.machine], self.shop.gateways[0]
        slot = int(redis_ask(redis_nodes()[0], "CLUSTER", "KEYSLOT", f"{{{self.part()}}}").lstrip(":"))
        address = master_of(slot)[0].address
        return ([node.machine for node in self.redis if node.address == address],
                [node.machine for node in self.redis if node.address != address], self.shop.gateways[0])

    def part(self):
        return self.shop.number("SELECT max(part) FROM parts")

    def owner(self):
        """The worker that has the partition of the sale."""
        named = self.shop.ask(f"SELECT members.name FROM members JOIN leases ON holder = process WHERE leases.name = 'part {self.part()}'")
        owners = [worker for worker in self.shop.workers if named.endswith(f":{worker.port}")]
        return owners[0] if owners else self.dice.choice(self.shop.workers)

    def sells(self, gateway, item):
        """Somebody buys, and it is kept. It counts as taken also if it is being decided."""
        try:
            buyer = Buyer(gateway)
            reply = buyer.buy(item, key="cuts")
            if reply.status != 202:
                return False
            self.sale.told.setdefault(reply.json()["ticket"], buyer.user) if reply.json()["outcome"] == "won" \
                else self.sale.deciding.setdefault(reply.json()["ticket"], buyer.user)
            self.sale.asked.add(buyer.user)
            self.taken += 1
            return reply.json()["outcome"] == "won"
        except (OSError, Closed, Failure):
            return False

    def one_cut(self, what, way, item):
        ones, others, unconcerned = self.ends_of(what)
        seconds = self.dice.uniform(self.given.least, self.given.most)
        if what == "redis-redis":
            seconds += NODE_TIMEOUT_S  # then a replica takes over
        until, sold, self.taken = time.monotonic() + seconds, 0, 0
        with cut(ones, others, way):
            while time.monotonic() < until:
                sold += self.sells(unconcerned, item)
                time.sleep(0.3)
        self.done[f"{what} {way}"] += 1
        if what == "gateway-redis" and not sold:
            self.findings.say("stood still", f"{what} {way}: the other gateway sold nothing in {seconds:.0f} s")
        if what == "worker-kafka" and sold == self.taken:  # nobody can hear "won" now, and all are taken
            self.findings.say("stood still" if not sold else "not cut", f"{what} {way}: {sold} of {self.taken} sold in {seconds:.0f} s")
        taken, began = self.taken, time.monotonic()
        for gateway in self.shop.gateways:
            eventually(lambda g=gateway: self.sells(g, item), f"after {what} {way} a gateway sells nothing", AGAIN_S, every_s=0.1)
        took = time.monotonic() - began
        self.longest = max(self.longest, took)
        print(f"  {what} {way}: {seconds:.0f} s, {sold} sold and {taken - sold} being decided meanwhile, on again after {took:.1f} s", file=sys.stderr, flush=True)

    def phase(self, kinds, cuts):
        units = 2 * self.users
        item = self.shop.workers[0].open_item(total=units)
        for gateway in self.shop.gateways:
            eventually(lambda g=gateway: (g.counts(item) or {}).get("free") == units, "a gateway does not see the units")
        self.sale = sale = Sale(self.shop, item, self.users, self.given, self.first)
        self.first += self.users
        time.sleep(1)
        for number in range(cuts):
            self.one_cut(*kinds[number % len(kinds)], item)
        for process in (*self.shop.workers, *self.shop.gateways):
            eventually(lambda p=process: p.alive() and p.get("/readyz").status == 200, f"a process is not ready: {process.log()[-500:]}", AGAIN_S)
        sale.end(self.findings)
        return sale, *sale.judge(self.findings)

    def without_void(self, played):
        if played[2]["void"]:
            self.findings.say("void without a fault of Redis", f"{played[2]['void']} tickets")
        return figure(played)

    def play(self):
        """A text of figures for each sale."""
        of_redis, of_kafka = self.given.cuts // 4, self.given.cuts // 3 if self.kafka.address else 0
        yield f"gateway and worker cut off: {self.without_void(self.phase(PLAIN, self.given.cuts - of_redis - of_kafka))}"
        yield f"Redis cut off from Redis: {figure(self.phase(REDIS, of_redis))}"
        shop_judged(self.shop, self.findings)
        if not self.kafka.address:
            yield "no cut from Kafka: no Kafka broker"
            return
        self.kafka_shop_start()
        yield f"worker cut off from Kafka: {self.without_void(self.phase(KAFKA, of_kafka))}"
        shop_judged(self.shop, self.findings)


def main():
    given = arguments_read("Networks are cut while a crowd buys.", 150, cuts=9, least=5.0, most=8.0)
    cuts = Cuts(given)
    try:
        figures = list(cuts.play())
    except Failure as failure:
        print(f"{sum(cuts.done.values())} cuts, did not end: {failure}; seed {given.seed}, 1 findings")
        print("\n".join(cuts.findings))
        return 1
    finally:
        cuts.end()
    print(f"{given.cuts} cuts ({dict(cuts.done)}), on again after {cuts.longest:.1f} s at most; {'; '.join(figures)}; seed {given.seed}, "
          f"{len(cuts.findings)} findings")
    print("\n".join(cuts.findings))
    return 1 if cuts.findings else 0


if __name__ == "__main__":
    sys.exit(main())
