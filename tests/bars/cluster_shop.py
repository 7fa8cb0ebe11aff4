# SPDX-License-Identifier: Apache-2.0
"""A shop of several processes for the bars of many machines: gateways and workers on one Redis and one database, which the
wrappers tools/with-postgres and tools/with-redis have started.
"""
import argparse
import os
import random
import re
import socket

from kit import databases, harness

DATABASE = "postgres"


def arguments_read(description, rate, **options):
    """Of a program in which a crowd buys. options: name → its default, which says of what kind it is"""
    parser = argparse.ArgumentParser(description=description)
    for name, value in options.items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    parser.add_argument("--rate", type=float, default=rate, help="new purchases per second, of all gateways")
    parser.add_argument("--seed", type=int, default=None, help="else another one each time; it is printed")
    given = parser.parse_args()
    given.seed = given.seed or random.randrange(1, 1 << 31)
    return given


def redis_ask(address, *words):
    """What a Redis server answers, as text; for words without blanks."""
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=30) as connection, connection.makefile("rb") as replies:
        connection.sendall(" ".join(map(str, words)).encode() + b"\r\n")
        first = replies.readline().decode().rstrip()
        return replies.read(int(first[1:])).decode() if first.startswith("$") and first != "$-1" else first


def redis_nodes():
    return (os.environ.get("STAMPEDE_TEST_CLUSTER") or os.environ["STAMPEDE_TEST_REDIS"]).split(",")


def redis_pid(address):
    return int(re.search(r"process_id:(\d+)", redis_ask(address, "INFO", "server"))[1])


class Shop:
    """workers[0] takes what operators do. Each process has a folder and a port of its own; all share secret and database."""

    def __init__(self, gateways, workers, settings=None):
        self.folder = harness.temp_folder("stampede-shop-")
        store, self.database = databases.fresh(DATABASE)
        self.common = {**store, **databases.inventory_settings(self.folder), "server.threads": 1, "orders.grace_ms": 0,
                       "server.log_level": "warn", **(settings or {})}
        self.workers = [self.process("worker") for _ in range(workers)]
        self.gateways = [self.process("gateway") for _ in range(gateways)]

    def process(self, role):
        return harness.Server(settings={**self.common, "cluster.role": role})

    def start(self):
        done = databases.migrate(self.workers[0])
        harness.true(done.returncode == 0, f"no tables: {done.stderr}")
        for process in (*self.workers, *self.gateways):
            process.start()
        return self

    def stop(self):
        for process in (*self.gateways, *self.workers):
            process.stop()

    def ask(self, sql):
        return databases.ask(DATABASE, self.database, sql)

    def number(self, sql):
        return int(self.ask(sql) or 0)

    def metric(self, name):
        """Of all processes together."""
        total = 0
        for process in (*self.workers, *self.gateways):
            for value in re.findall(rf"^{re.escape(name)} (\d+)$", process.request("GET", "/metrics").body.decode(), re.M):
                total += int(value)
        return total
