#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Redis loses what it has acknowledged (bar 4 of step 2 of check-cluster).

  tools/with-postgres tools/with-redis --cluster python3 tests/bars/cluster_lost.py [--rounds 20] [--users 6000] [--how kill]

--how names what happens, in turns: kill, flushall, restart, back, migrate.
kill: the replica of the sale's master is stopped, so that nothing reaches it; the workers are stopped, so that nothing is
kept; thousands buy and hear that it is being decided; the master is killed and the replica takes over without any of it. Then
everything that was told as won must be an order, what was being decided must end as an order or void, and the sale goes on
within the node's timeout and five seconds. The others happen while the crowd buys and workers write: FLUSHALL; the master is killed
and started again, empty, at once; the replica becomes the master, and the old master again (A, B, A); the slot goes to another
master. Prints one line, then what is wrong; exit status 1 if something is. On standard error: where the time of each killed master went, in
seconds since the kill, by the logs: the other masters agree that it failed, the replica is elected, a worker has opened the
partition, somebody wins.
"""
import argparse
import calendar
import collections
import os
import re
import signal
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from cluster_shop import Shop, redis_ask, redis_nodes, redis_pid  # noqa: E402
from kit import crowd  # noqa: E402
from kit.harness import REPOSITORY, Buyer, Closed, eventually, halt  # noqa: E402

SETTINGS = os.path.join(REPOSITORY, "deploy", "cluster", "redis.conf")
with open(SETTINGS, encoding="ascii") as settings:
    NODE_TIMEOUT_S = int(re.search(r"^cluster-node-timeout (\d+)$", settings.read(), re.M)[1]) / 1000
GOES_ON_S = NODE_TIMEOUT_S + 5
CROWD_S = 20  # for those who still ask when the sale has gone on
JUNK, JUNK_BYTES = 24, 1 << 20  # more than the buffers of sockets hold
FAILED, ELECTED, SERVES = "as failing (quorum reached)", "Failover election won", "Cluster state changed: ok"
STOPS = "Cluster state changed: fail"
OPEN = " info partition open "
Node = collections.namedtuple("Node", "id address is_master master slots")


def redis_cli(address, *words):
    host, port = address.rsplit(":", 1)
    done = subprocess.run(["redis-cli", "-h", host, "-p", port, *map(str, words)], capture_output=True, text=True, timeout=60, check=True)
    if done.stdout.startswith(("ERR", "CLUSTERDOWN", "IOERR")):
        raise OSError(f"{words[:3]}: {done.stdout}")
    return done.stdout


def nodes_read():
    """The nodes of the cluster, as one that answers sees them."""
    for address in redis_nodes():
        try:
            text = redis_ask(address, "CLUSTER", "NODES")
        except OSError:
            continue
        rows = [line.split() for line in text.splitlines() if "fail" not in line.split()[2].replace("nofailover", "")]
        return [Node(row[0], row[1].split("@")[0], "master" in row[2], row[3],
                     [tuple(map(int, (word + "-" + word).split("-")[:2])) for word in row[8:] if word[0].isdigit()]) for row in rows]
    raise OSError("no node of the cluster answers")


def master_of(slot):
    nodes = nodes_read()
    [master] = [node for node in nodes if node.is_master and any(low <= slot <= high for low, high in node.slots)]
    replicas = [node for node in nodes if not node.is_master and node.master == master.id]
    return master, replicas[0] if replicas else None


def replica_in_sync(slot):
    """Not while nodes differ on who the master is."""
    try:
        replica = master_of(slot)[1]
        return replica is not None and "master_link_status:up" in redis_ask(replica.address, "INFO", "replication")
    except (OSError, ValueError):
        return False


def all_are_well():
    """No node takes another one for failed. A replica that was started again may have its master so in its file: it asks for votes
    at once, is refused, and asks again only after 20 s."""
    views = [redis_ask(address, "CLUSTER", "NODES") for address in redis_nodes()]
    flags = [flag for view in views for line in view.splitlines() if len(line.split()) > 2 for flag in line.split()[2].split(",")]
    return not {"fail", "fail?"} & set(flags)


class Process:
    """A Redis server that can be killed and started again as it was."""

    def __init__(self, address):
        self.address, self.pid = address, redis_pid(address)
        self.folder = os.readlink(f"/proc/{self.pid}/cwd")
        self.bus = re.search(rf"{re.escape(address)}@(\d+)", redis_ask(address, "CLUSTER", "NODES"))[1]
        self.child = None

    def send(self, number):
        os.kill(self.pid, number)

    def start(self):
        """With the settings of tools/with-redis; the cluster knows it by the file in its folder."""
        port = self.address.rsplit(":", 1)[1]
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.child = subprocess.Popen(
                ["redis-server", SETTINGS, "--port", port, "--bind", "127.0.0.1", "--dir", self.folder, "--cluster-port", self.bus,
                 "--appendonly", "no"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder)
        return self.child


def redis_times(path, words):
    """When a log of Redis says these words; its times are local ones."""
    with open(path, encoding="utf-8", errors="replace") as file:
        found = re.findall(rf"^\d+:\w (\d+ \w+ \d+ [\d:]+)\.(\d+) .*{re.escape(words)}", file.read(), re.M)
    return [time.mktime(time.strptime(moment, "%d %b %Y %H:%M:%S")) + int(ms) / 1000 for moment, ms in found]


def server_times(server, words):
    found = re.findall(rf"^([\d-]+T[\d:]+)\.(\d+)Z.*{re.escape(words)}", server.log(), re.M)
    return [calendar.timegm(time.strptime(moment, "%Y-%m-%dT%H:%M:%S")) + int(ms) / 1000 for moment, ms in found]


class Lost:
    def __init__(self, given):
        self.given, self.findings = given, crowd.Findings()
        self.shop = Shop(2, 2, {"data.tickets_max": 1000000, "server.connections_max": 4000, "orders.lag_max": 1000000,
                                "inventory.timeout_ms": 2000, "server.log_level": "info"}).start()
        self.folders = [os.readlink(f"/proc/{redis_pid(address)}/cwd") for address in redis_nodes()]
        self.ours = 0
        self.operator = self.shop.workers[0]
        self.units = (given.rounds + 2) * given.users
        self.item = self.operator.open_item(total=self.units)
        part = self.shop.number("SELECT part FROM parts WHERE part > 0")
        self.slot = int(redis_ask(redis_nodes()[0], "CLUSTER", "KEYSLOT", f"{{{part}}}").lstrip(":"))
        self.told, self.deciding, self.children = {}, {}, []
        self.answers = collections.Counter()
        self.longest, self.lost, self.first = 0, 0, 0

    def fill(self, address):
        """Until the socket to the replica takes no more: what comes after stays in the master's memory."""
        part = self.shop.number("SELECT part FROM parts WHERE part > 0")
        host, port = address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            key = f"junk:{{{part}}}".encode()
            for _ in range(JUNK):
                connection.sendall(b"*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n" % (len(key), key, JUNK_BYTES, b"x" * JUNK_BYTES))
                connection.recv(64)

    def crowd_play(self):
        each = self.given.users // len(self.shop.gateways)
        crowds = []
        for gateway in self.shop.gateways:
            crowds.append(crowd.Crowd(gateway, self.item, each, first=self.first, seed=self.first + 1, connections=1500))
            self.first += each
        for one in crowds:
            one.start()
        time.sleep(self.given.seconds)
        return crowds

    def crowd_end(self, crowds):
        for one in crowds:
            try:
                one.process.communicate(timeout=CROWD_S)
            except subprocess.TimeoutExpired:
                pass
            one.end()
            users = one.user_ids()
            with open(one.log, encoding="ascii") as file:
                rows = [line.split("\t") for line in file if line.endswith("\n")]
            for row in rows:
                self.answers[f"{row[7]} {row[8]}"] += 1
                if row[7] == "202":
                    (self.told if row[8] == "won" else self.deciding)[row[9]] = users[int(row[0])]

    def round(self, how):
        if how == "kill":
            self.master_killed()
            return
        crowds = self.crowd_play()
        began = time.monotonic()
        {"flushall": self.flushed, "restart": self.restarted, "back": self.back_again, "migrate": self.migrated}[how]()
        self.goes_on(began)
        self.crowd_end(crowds)
        self.in_sync()

    def flushed(self):
        redis_ask(master_of(self.slot)[0].address, "FLUSHALL")

    def restarted(self):
        master = Process(master_of(self.slot)[0].address)
        master.send(signal.SIGKILL)
        eventually(lambda: not os.path.exists(f"/proc/{master.pid}/exe") or not os.readlink(f"/proc/{master.pid}/exe"), "it lives", 30)
        self.children.append(master.start())

    def back_again(self):
        first, second = master_of(self.slot)
        for heir in (second, first):
            redis_cli(heir.address, "CLUSTER", "FAILOVER", "TAKEOVER")
            eventually(lambda a=heir.address: master_of(self.slot)[0].address == a, "no other master", 30)

    def migrated(self):
        source, _ = master_of(self.slot)
        target = next(node for node in nodes_read() if node.is_master and node.id != source.id)
        host, port = target.address.rsplit(":", 1)
        redis_cli(target.address, "CLUSTER", "SETSLOT", self.slot, "IMPORTING", source.id)
        redis_cli(source.address, "CLUSTER", "SETSLOT", self.slot, "MIGRATING", target.id)
        while keys := redis_cli(source.address, "CLUSTER", "GETKEYSINSLOT", self.slot, 100).split():
            redis_cli(source.address, "MIGRATE", host, port, "", 0, 30000, "KEYS", *keys)
        for node in (target, source):
            redis_cli(node.address, "CLUSTER", "SETSLOT", self.slot, "NODE", target.id)

    def in_sync(self):
        eventually(lambda: replica_in_sync(self.slot), "the killed server does not come back as a replica that is in sync", 60)
        eventually(all_are_well, "a node of Redis takes another one for failed", 60)

    def master_killed(self):
        master, replica = master_of(self.slot)
        leaving, heir = Process(master.address), Process(replica.address)
        before = self.shop.number("SELECT seq FROM parts WHERE part > 0")
        halt(heir.pid)
        self.fill(master.address)
        for worker in self.shop.workers:
            halt(worker.process.pid)
        crowds = self.crowd_play()
        reached = int(re.search(r"^(\d+)", self.head(master.address))[1])
        leaving.send(signal.SIGKILL)
        began, killed = time.monotonic(), time.time()
        heir.send(signal.SIGCONT)
        for worker in self.shop.workers:
            worker.process.send_signal(signal.SIGCONT)
        self.lost += reached - before
        self.times_tell(killed, self.goes_on(began))
        self.crowd_end(crowds)
        self.children.append(leaving.start())
        self.in_sync()

    def times_tell(self, killed, took):
        logs = [os.path.join(folder, "log") for folder in self.folders]

        def first(moments, after=0.0):
            return min((moment - killed for moment in moments if moment - killed >= after), default=0)
        failed, elected = (first(moment for log in logs for moment in redis_times(log, words)) for words in (FAILED, ELECTED))
        serves = max(first(redis_times(log, SERVES), elected) for log in logs)
        is_open = first((moment for worker in self.shop.workers for moment in server_times(worker, OPEN)), elected)
        self.ours = max(self.ours, took - max(elected, serves))
        print(f"  failed after {failed:.1f} s, elected {elected:.1f}, all masters serve {serves:.1f}, open {is_open:.1f}, sold {took:.1f}",
              file=sys.stderr, flush=True)

    def head(self, address):
        """The last record that Redis has: its number, time and so on."""
        part = self.shop.number("SELECT part FROM parts WHERE part > 0")
        [key] = [line for line in self.keys(address) if line.endswith(f"{{{part}}}:m")]
        return redis_ask(address, "HGET", key, "head")

    def keys(self, address):
        host, port = address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=30) as connection, connection.makefile("rb") as replies:
            connection.sendall(b"KEYS st:*:m\r\n")
            count = int(replies.readline()[1:])
            return [(replies.readline(), replies.readline().decode().rstrip())[1] for _ in range(count)]

    def goes_on(self, began):
        """Until somebody wins again."""
        while time.monotonic() < began + 60:
            try:
                buyer = Buyer(self.shop.gateways[0])
                reply = buyer.buy(self.item, key="goes-on")
                if reply.status == 202 and reply.json()["outcome"] == "won":
                    self.told[reply.json()["ticket"]] = buyer.user
                    break
                if reply.status == 202:
                    self.deciding[reply.json()["ticket"]] = buyer.user
            except (OSError, Closed):
                pass
            time.sleep(0.05)
        took = time.monotonic() - began
        self.longest = max(self.longest, took)
        if took > GOES_ON_S:
            self.findings.say("stood still", f"nobody could buy for {took:.1f} s of {GOES_ON_S:g}")
        return took

    def judge(self):
        crowd.orders_settled(self.operator, self.item, 120)
        orders = crowd.orders_read(self.operator, self.item)
        by_ticket = {order.ticket: order for order in orders}
        for ticket, user in self.told.items():
            if ticket not in by_ticket or by_ticket[ticket].user != user:
                self.findings.say("told and lost", f"user {user} was told {ticket}")
        states = collections.Counter()
        session = Buyer(self.shop.gateways[1]).session
        with self.shop.gateways[1].connect() as connection:
            for ticket, user in self.deciding.items():
                if ticket in by_ticket:
                    states["order"] += 1
                    if by_ticket[ticket].user != user:
                        self.findings.say("told to another", f"user {user} was told that {ticket} is being decided")
                    continue
                reply = connection.request("GET", f"/v1/tickets/{ticket}", headers={"Authorization": f"Bearer {session}"})
                state = reply.json().get("state") if reply.status == 200 else reply.status
                states[state] += 1
                if state != "void":
                    self.findings.say("does not end", f"ticket {ticket} is {state}")
        users = collections.Counter(order.user for order in orders)
        if max(users.values(), default=0) > 1:
            self.findings.say("above the limit", f"{sum(n > 1 for n in users.values())} users")
        counts = self.operator.counts(self.item)
        crowd.check_counts(self.findings, counts, orders, self.units)
        return orders, states


def arguments():
    parser = argparse.ArgumentParser(description="Redis loses what it has acknowledged.")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--how", default="kill", help="what happens, in turns: kill,flushall,restart,back,migrate")
    parser.add_argument("--users", type=int, default=6000, help="of each round")
    parser.add_argument("--seconds", type=float, default=4, help="that they have before the master is killed")
    return parser.parse_args()


def main():
    lost = Lost(arguments())
    try:
        hows = lost.given.how.split(",")
        for number in range(lost.given.rounds):
            lost.round(hows[number % len(hows)])
            print(f"  round {number + 1}, {hows[number % len(hows)]}: {lost.lost} proposals lost so far, {len(lost.deciding)} told as being decided, "
                  f"{dict(lost.answers)}", file=sys.stderr, flush=True)
        orders, states = lost.judge()
        lost.shop.stop()
    finally:
        for child in lost.children:
            child.kill()
    print(f"{lost.given.rounds} times {lost.given.how}: {lost.lost} proposals lost, {len(lost.told)} wins told, {len(orders)} orders, "
          f"{len(lost.deciding)} told as being decided ({dict(states)}), the sale went on within {lost.longest:.1f} s"
          f"{f', {lost.ours:.1f} s after the election of a replica' if lost.ours else ''}, "
          f"{len(lost.findings)} findings")
    print("\n".join(lost.findings))
    return 1 if lost.findings else 0


if __name__ == "__main__":
    sys.exit(main())
