# SPDX-License-Identifier: Apache-2.0
"""A shop on several processes: gateways and workers that share one PostgreSQL database and one Redis.

    from kit import databases
    databases.beside("postgres", "redis")        # starts this file again under tools/with-postgres tools/with-redis

    from kit.cluster import Cluster
    shop = Cluster(gateways=4, workers=1, settings={"limits.address_per_s": 20}).start()
    item = shop.worker.open_item(total=10)       # each process is a Server of the kit
    shop.everywhere(item)                        # until every gateway sells it
    Buyer(shop.gateways[2]).buy(item)
    shop.kill(shop.gateways[0])
    shop.restart(shop.gateways[1])
    shop.stop()

All processes have the same admin keys and the same settings, but for their role, port and folder.
"""
import contextlib
import copy
import json
import os
import subprocess

from kit import databases
from kit.harness import Server, equal, eventually, temp_folder, true

KIND = "postgres"


def redis(*words):
    """The lines that Redis answers to a command."""
    host, _, port = os.environ["STAMPEDE_TEST_REDIS"].partition(":")
    done = subprocess.run(["redis-cli", "-h", host, "-p", port, *words], capture_output=True, text=True, timeout=60)
    equal(done.returncode, 0, done.stderr)
    return done.stdout.split("\n")[:-1]


def reconcile(server, *words):
    """`stampede reconcile` at this process: (exit code, report)"""
    done = subprocess.run([server.binary, "reconcile", "--url", f"http://{server.host}:{server.port}", "--json", *words],
                          capture_output=True, text=True, timeout=180,
                          env={**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["admin"]})
    true(done.stdout, f"exit {done.returncode}: {done.stderr}")
    return done.returncode, json.loads(done.stdout)


def at(server, buyer):
    """The same visitor at another process, with the same session."""
    other = copy.copy(buyer)
    other.server = server
    return other


class Cluster:
    def __init__(self, gateways=2, workers=1, settings=None, gateway_kind=Server, gateway_settings=None):
        self.folder = temp_folder()
        self.settings = {**databases.fresh(KIND)[0], **databases.inventory_settings(self.folder), "server.threads": 1,
                         **(settings or {})}
        self.workers = [self.member("worker") for _ in range(workers)]
        self.gateways = [self.member("gateway", gateway_kind, gateway_settings) for _ in range(gateways)]

    def member(self, role, kind=Server, more=None):
        """A process that is not started yet."""
        return kind(settings={**self.settings, "cluster.role": role, **(more or {})})

    @property
    def all(self):
        return [*self.workers, *self.gateways]

    @property
    def worker(self):
        return self.workers[0]

    @property
    def ports(self):
        """Of the gateways."""
        return [gateway.port for gateway in self.gateways]

    def start(self):
        """The tables, then all processes at once, until each is ready."""
        done = databases.migrate(self.worker)
        true(done.returncode == 0, f"no tables: {done.stdout}{done.stderr}")
        for server in self.all:
            server.spawn()
        for server in self.all:
            self.ready(server)
        return self

    @staticmethod
    def ready(server):
        def answers():
            true(server.alive(), f"a process has ended:\n{server.log()[-2000:]}")
            try:
                return server.request("GET", "/readyz").status == 200
            except OSError:
                return False
        eventually(answers, "a process is not ready")

    def everywhere(self, *items):
        """Until every gateway sells these."""
        for gateway in self.gateways:
            for item in items:
                eventually(lambda: gateway.get(f"/v1/items/{item}").status == 200, "a gateway does not show an item")

    @staticmethod
    def kill(server):
        server.kill()

    def restart(self, server, kill=False):
        """Server.restart waits for partitions that a gateway never keeps."""
        if kill:
            server.kill()
        else:
            server.stop()
        self.ready(server.spawn())

    @contextlib.contextmanager
    def database_away(self):
        """Nobody can connect to it, and whoever is connected is not any more."""
        name = self.settings["store.url"].partition("?")[0].rpartition("/")[2]
        url = os.environ["STAMPEDE_TEST_POSTGRES"]
        databases.client("postgres", url, sql=f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        try:
            databases.client("postgres", url, sql=f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
            yield
        finally:
            databases.client("postgres", url, sql=f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")

    def stop(self):
        for server in reversed(self.all):
            server.stop()

    def log(self):
        return "\n".join(f"--- {server.settings['cluster.role']} {server.port} {os.path.basename(server.folder)}\n{server.log()[-1500:]}"
                         for server in self.all)
