#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Everything is killed in turn while a crowd buys (bar 2 of step 3 of check-cluster).

  tools/with-kafka --optional --nice tools/with-redis --cluster python3 tests/bars/cluster_torture.py [--kills 12] [--seed N]

Two gateways, three workers, a Redis Cluster, a PostgreSQL of its own, and a Kafka broker, if there is one. Half of the kills (kill -9) are of
a gateway, a worker, the leader, the broker and the database in turn; the other half, in a sale of its own, of these and of a Redis master,
whose replica takes over. What was killed is started again. The crowd (bench/crowd.c) buys all the while, loses answers, and repeats with the
same key. In the end, for each sale:
  told             every win that was told is one order, of that user; nobody has two
  deciding         what was told as being decided is an order or void; void only after a Redis master was killed
  asked            nobody has an order without having asked
  conserved        each process counts the same units, as many as were given
and reconciliation and `stampede verify` find nothing, there is no dead letter, and no process ended by itself.
Prints a line of figures, then what is wrong; exit status 1 if something is.
"""
import collections
import os
import random
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from cluster_lost import Process, master_of, replica_in_sync  # noqa: E402
from cluster_shop import Shop, arguments_read, redis_ask, redis_nodes  # noqa: E402
from kit import crowd, kafka  # noqa: E402
from kit.cluster import reconcile  # noqa: E402
from kit.harness import Buyer, Closed, Failure, eventually  # noqa: E402
from kit.servers import Away, Postgres  # noqa: E402

BROKER = ("broker",) if "STAMPEDE_TEST_KAFKA_FOLDER" in os.environ else ()
PLAIN = ("gateway", "worker", "leader", *BROKER, "database")
WITH_REDIS = ("gateway", "redis", "worker", "leader", *BROKER, "database")
SECONDS_PER_KILL = 15    # more than a round takes
SETTLE_S, READY_S = 120, 90


class Sale:
    """One item, its crowd, and what they were told."""

    def __init__(self, shop, item, users, given, first):
        self.shop, self.item, self.units = shop, item, 2 * users
        self.told, self.deciding, self.asked = {}, {}, set()
        self.answers = collections.Counter()
        each = users // len(shop.gateways)
        self.crowds = [crowd.Crowd(gateway, item, each, first=first + number * each, seed=given.seed + number, until_term=True,
                                   again=True, connections=60, rate=given.rate / len(shop.gateways), keyless=20, seconds=3400)
                       for number, gateway in enumerate(shop.gateways)]
        for one, gateway in zip(self.crowds, shop.gateways):
            one.command = [*gateway.wrapper, *one.command]  # on the machine of the gateway
            one.start()

    def end(self, findings):
        for one in self.crowds:
            one.process.send_signal(signal.SIGTERM)
        for one in self.crowds:
            try:
                said, requests = one.finish(SETTLE_S)
                if said["unexpected"]:
                    findings.say("unexpected answers", str(said["unexpected"]))
            except (Failure, subprocess.TimeoutExpired) as late:
                findings.say("the crowd does not end", str(late)[:300])
                continue
            self.read(one.user_ids(), requests)

    def read(self, users, requests):
        for request in requests:
            user = users[request.user]
            self.asked.add(user)
            self.answers[f"{request.status} {request.what}"] += 1
            if request.what in ("won", "already-bought"):
                self.told[request.ticket] = user
            elif request.what == "deciding":
                self.deciding[request.ticket] = user

    def judge(self, findings):
        """(orders, how those that were being decided ended)"""
        operator = self.shop.workers[0]
        for process in (*self.shop.workers, *self.shop.gateways):  # each connection of a database that was killed says so once
            eventually(lambda p=process: p.admin("GET", f"/items/{self.item}/counts").status == 200, "no counts", SETTLE_S)
        crowd.orders_settled(operator, self.item, SETTLE_S)
        orders = crowd.orders_read(operator, self.item)
        by_ticket = {order.ticket: order for order in orders}
        for ticket, user in self.told.items():
            if ticket not in by_ticket:
                findings.say("told and lost", f"user {user} was told {ticket}")
            elif by_ticket[ticket].user != user:
                findings.say("told to another", f"user {user} was told {by_ticket[ticket]}")
        ends = self.ends(findings, by_ticket)
        per_user = collections.Counter(order.user for order in orders)
        for user, count in per_user.items():
            if count > 1:
                findings.say("above the limit", f"user {user} has {count} orders")
            if user not in self.asked:
                findings.say("never asked", f"user {user} has an order")
        if not orders:
            findings.say("nothing sold", f"{dict(self.answers)}")
        for process in (*self.shop.workers, *self.shop.gateways):
            try:
                eventually(lambda p=process: p.counts(self.item) == operator.counts(self.item), "counts differ", 30)
            except Failure as differ:
                findings.say("counts differ", f"{process.counts(self.item)}, {operator.counts(self.item)}: {differ}")
        crowd.check_counts(findings, operator.counts(self.item), orders, self.units)
        return orders, ends

    def ends(self, findings, by_ticket):
        states = collections.Counter()
        session = Buyer(self.shop.gateways[0]).session
        with self.shop.gateways[0].connect() as connection:
            for ticket, user in self.deciding.items():
                if ticket in by_ticket:
                    states["order"] += 1
                    if by_ticket[ticket].user != user:
                        findings.say("told to another", f"user {user} was told that {ticket} is being decided")
                    continue
                reply = connection.request("GET", f"/v1/tickets/{ticket}", headers={"Authorization": f"Bearer {session}"})
                state = reply.json().get("state") if reply.status == 200 else reply.status
                states[state] += 1
                if state != "void":
                    findings.say("does not end", f"ticket {ticket} is {state}")
        return states


class Torture:
    def __init__(self, given):
        self.given, self.dice, self.findings = given, random.Random(given.seed), crowd.Findings()
        self.killed, self.children, self.masters_back = collections.Counter(), [], []
        self.database = Postgres()
        self.database.make()
        os.environ["STAMPEDE_TEST_POSTGRES"] = self.database.url
        self.users = int(given.rate * SECONDS_PER_KILL * (given.kills // 2 + 2))
        self.shop = Shop(2, 3, {"data.tickets_max": 8 * self.users + 1000, "server.connections_max": 1000,
                                **(kafka.settings() if BROKER else {})}).start()
        self.first = 0

    def end(self):
        self.database.end()
        for child in self.children:
            child.kill()

    # -- what is killed --

    def supervise(self, process):
        """What systemd does: a process that could not start while the database was away is started again."""
        if process.alive():
            return
        told = process.log()[-600:]
        if process.process.returncode != 1 or "server can't start: " not in " ".join(told.splitlines()[-3:]):
            self.findings.say("ended by itself", f"{process.settings['cluster.role']} with {process.process.returncode}: {told}")
        self.killed["started again, as the database was away"] += 1
        process.spawn()

    def kill_process(self, process):
        self.supervise(process)
        process.kill()
        time.sleep(self.dice.choice((0, 0, 0.3, 1)))
        process.spawn()

    def gateway(self):
        self.kill_process(self.dice.choice(self.shop.gateways))

    def worker(self):
        self.kill_process(self.dice.choice(self.shop.workers))

    def leader(self):
        """Who has the lease, by the port that it names; nobody: a worker."""
        named = self.shop.ask("SELECT members.name FROM members JOIN leases ON holder = process WHERE leases.name = 'leader'")
        leads = [worker for worker in self.shop.workers if named.endswith(f":{worker.port}")]
        self.killed["leader that led"] += len(leads)
        self.kill_process(leads[0] if leads else self.shop.workers[0])

    def database_killed(self):
        self.database.kill()
        time.sleep(self.dice.choice((0, 0.5, 2)))
        self.database.start()

    def broker(self):
        with kafka.down():
            time.sleep(self.dice.choice((0, 0.5, 2)))

    def redis(self):
        """A master of a partition of the sale; its replica takes over, and the old one becomes a replica."""
        self.masters_sync()
        part = self.dice.choice(self.shop.ask("SELECT part FROM parts WHERE part > 0 ORDER BY part DESC LIMIT "
                                              f"{self.given.shards}").split())
        slot = int(redis_ask(redis_nodes()[0], "CLUSTER", "KEYSLOT", f"{{{part}}}").lstrip(":"))
        leaving = Process(master_of(slot)[0].address)
        leaving.send(signal.SIGKILL)
        eventually(lambda: self.heir(slot, leaving.address), "no replica takes over", 60)
        self.children.append(leaving.start())
        self.masters_back.append(slot)

    @staticmethod
    def heir(slot, left):
        try:
            return master_of(slot)[0].address != left
        except (OSError, ValueError):
            return False

    def masters_sync(self):
        """Each master has a replica again that has all of it; else the next kill would lose the slots for good."""
        for slot in self.masters_back:
            eventually(lambda slot=slot: replica_in_sync(slot), "a killed Redis does not come back as a replica", 60)
        self.masters_back = []

    # -- a phase --

    def phase(self, kinds, kills):
        item = self.shop.workers[0].open_item(total=2 * self.users, sale_fields={"shards": self.given.shards})
        for gateway in self.shop.gateways:
            eventually(lambda g=gateway: (g.counts(item) or {}).get("free") == 2 * self.users, "a gateway does not see the units")
        sale = Sale(self.shop, item, self.users, self.given, self.first)
        self.first += self.users
        for number in range(kills):
            time.sleep(self.dice.uniform(0.3, 2.5))
            kind = kinds[number % len(kinds)]
            self.killed[kind] += 1
            try:
                {"gateway": self.gateway, "worker": self.worker, "leader": self.leader, "database": self.database_killed,
                 "broker": self.broker, "redis": self.redis}[kind]()
            except (RuntimeError, Away) as away:  # the database of this test, which was killed a moment ago
                self.findings.say("not killed", f"{kind}: {away}")
            print(f"  {number + 1} of {kills}: {kind}", file=sys.stderr, flush=True)
        self.all_ready()
        time.sleep(1)
        sale.end(self.findings)
        self.masters_sync()
        orders, ends = sale.judge(self.findings)
        return sale, orders, ends

    def all_ready(self):
        for process in (*self.shop.workers, *self.shop.gateways):
            def ready(process=process):
                self.supervise(process)
                try:
                    return process.get("/readyz").status == 200
                except (OSError, Closed):
                    return False
            eventually(ready, "a process is not ready", READY_S, every_s=0.5)


def shop_judged(shop, findings):
    """What must hold for the whole shop, whatever happened to it; it is stopped then."""
    operator = shop.workers[0]
    letters = operator.admin_ok("GET", "/dead-letters", role="viewer")["dead_letters"]
    if letters:
        findings.say("dead letters", f"{len(letters)}: {letters[0]}")
    code, report = reconcile(operator)
    if code != 0 or report["found"]:
        findings.say("reconcile", f"exit {code}: {report}"[:600])
    shop.stop()
    done = operator.verify_run()
    if done.returncode:
        findings.say("verify", (done.stdout + done.stderr)[-600:])
    for process in (*shop.workers, *shop.gateways):
        if "invariant" in process.log():
            findings.say("log", process.log()[-500:])


def figure(phase):
    sale, orders, ends = phase
    decided = sum(ends.values())
    return (f"{len(orders)} orders, {len(sale.told)} told, {decided} deciding, {ends['void']} void "
            f"({100 * ends['void'] / max(1, decided + len(sale.told)):.2f} %)")


def main():
    given = arguments_read("Everything is killed in turn while a crowd buys.", 200, kills=12, shards=2)
    torture = Torture(given)
    try:
        plain = torture.phase(PLAIN, given.kills // 2)
        if plain[2]["void"]:
            torture.findings.say("void without a fault of Redis", f"{plain[2]['void']} tickets")
        faulty = torture.phase(WITH_REDIS, given.kills - given.kills // 2)
        shop_judged(torture.shop, torture.findings)
    except Failure as failure:
        print(f"{sum(torture.killed.values())} kills, did not end: {failure}; seed {given.seed}, 1 findings")
        print("\n".join(torture.findings))
        return 1
    finally:
        torture.end()
    print(f"{given.kills} kills ({dict(torture.killed)}); without Redis: {figure(plain)}; with Redis: {figure(faulty)}; seed {given.seed}, "
          f"{len(torture.findings)} findings")
    print("\n".join(torture.findings))
    return 1 if torture.findings else 0


if __name__ == "__main__":
    sys.exit(main())
