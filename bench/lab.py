# SPDX-License-Identifier: Apache-2.0
"""The servers of one run: started when a row first needs them, asleep while others are measured, ended with the run."""

import contextlib
import os
import shutil

from measure import Load, Target
from servers import BareEpoll, LuaRedis, Nginx, Redis
from stampede import FUNNEL_SETTINGS, Stampede, buy_template

SERVER_CORE = 0
LOAD_CORE = 1
FALLBACK_REFUSAL = ('{"type":"/problems/sold-out","title":"Sold out","status":409,'
                    '"detail":"Every unit of this item is taken.","free":0}')
WON_BODY = ('{"outcome":"won","ticket":"0123456789abcdef","order":"fedcba9876543210","item":1,"quantity":1,'
            '"unit_price":99900,"pay_by_ms":1700000000000}')
STOCK_ENDLESS = 1 << 40
WIN_REQUESTS_FIRST = 150000  # for the first slice, before anything is known about the rate
WIN_REQUESTS_MAX = 2000000
WIN_RATE_MAX = 600000        # wins/s that capacity is set aside for


class Lab:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.load = Load(os.path.join(options.bin, "load"), LOAD_CORE)
        self.servers = {}
        self.counter = 1
        self.files = 0

    def close(self):
        for server in reversed(list(self.servers.values())):
            server.stop()

    def program(self, name):
        return os.path.join(self.options.bin, name)

    def path(self, name):
        self.files += 1
        return os.path.join(self.folder, f"{self.files:03}_{name}")

    def template(self, text):
        path = self.path("template")
        with open(path, "w", encoding="ascii", newline="") as file:
            file.write(text)
        return path

    def shared(self, name, make):
        """Starts a server once and keeps it for later rows."""
        if name not in self.servers:
            server = make()
            self.servers[name] = server
            server.start()
            server.pause()
        return self.servers[name]

    # -- peers ---------------------------------------------------------------------------------------------------

    def refusal_body(self):
        """The bytes that Stampede says "sold out" with, for the peers to send too."""
        if not self.has_stampede():
            return FALLBACK_REFUSAL
        server = self.stampede_refusing()
        server.resume()
        try:
            return server.refusal("sold_out")
        finally:
            server.pause()

    def has_stampede(self):
        return os.access(self.options.stampede, os.X_OK)

    def buy_source(self):
        """A buy request without a valid pass, same bytes otherwise; peers do not look."""
        template = self.template(buy_template(1))
        return lambda: ["--template", template]

    def counted_source(self, template):
        """Every request by another user, counted on over all rows."""
        def requests():
            return ["--template", template, "--counter", str(self.counter), "--once"]

        def answered(result):
            self.counter += result["sent"]
        return requests, answered

    def nginx(self, name="nginx"):
        server = self.shared(name, lambda: Nginx(self.path(name), SERVER_CORE, self.refusal_body()))
        return Target("nginx empty 200", server, 200, self.buy_source())

    def bare(self):
        server = self.shared("bare", lambda: BareEpoll(self.path("bare"), SERVER_CORE, self.program("bare_epoll"),
                                                       self.refusal_body()))
        return Target("bare epoll", server, 409, self.buy_source())

    @contextlib.contextmanager
    def bare_wrapped(self, wrapper):
        """The bare loop under another program (callgrind)."""
        server = BareEpoll(self.path("bare"), SERVER_CORE, self.program("bare_epoll"), self.refusal_body())
        server.command = [*wrapper, *server.command]
        self.servers["bare_wrapped"] = server
        server.start()
        try:
            yield server
        finally:
            server.stop()
            del self.servers["bare_wrapped"]

    def lua_redis(self, wins):
        server = self.shared("lua_redis", lambda: LuaRedis(self.path("lua_redis"), SERVER_CORE, WON_BODY,
                                                           self.refusal_body()))
        server.resume()
        server.redis.stock_set(1, STOCK_ENDLESS if wins else 0)
        server.pause()
        if not wins:
            return Target("nginx + lua + redis, sold out", server, 409, self.buy_source())
        requests, answered = self.counted_source(self.template(buy_template(1)))
        return Target("nginx + lua + redis, win", server, 202, requests, answered)

    def redis_always(self):
        server = self.shared("redis_always", lambda: Redis(self.path("redis_always"), SERVER_CORE, durable=True))
        server.resume()
        server.stock_set(1, STOCK_ENDLESS)
        server.pause()
        requests, answered = self.counted_source(self.template(server.buy_template(1)))
        return Target("redis script, appendfsync always", server, 1, requests, answered, ["--resp"])

    # -- Stampede ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def stampede(self, tickets_max, wrapper=(), settings=(), cores=SERVER_CORE):
        """A server with a fresh data folder, gone with it at the end."""
        server = Stampede(self.path("stampede"), cores, self.options.stampede, tickets_max,
                          [*settings, *self.options.set], wrapper)
        name = f"stampede_{self.files}"
        self.servers[name] = server
        try:
            server.start()
            yield server
        finally:
            server.stop_hard()
            del self.servers[name]
            if not self.options.keep:
                shutil.rmtree(server.folder, ignore_errors=True)

    def stampede_refusing(self, funnel=False):
        settings = [*(FUNNEL_SETTINGS if funnel else ()), *self.options.set]
        return self.shared("stampede_funnel" if funnel else "stampede",
                           lambda: Stampede(self.path("stampede"), SERVER_CORE, self.options.stampede, 100000, settings))

    def refusing(self, kind):
        server = self.stampede_refusing(kind.endswith("_funnel"))
        server.resume()
        server.refusal(kind)
        server.pause()
        return Target(f"stampede, {kind.replace('_', ' ')}", server, 409, lambda: server.make_requests(kind, 0))

    def winning(self, server):
        """Every request wins: the next slice gets twice as many fresh users as the last one used."""
        wanted = [WIN_REQUESTS_FIRST]

        def requests():
            return server.make_requests("win", wanted[0])

        def answered(result):
            server.wins_sent(result["sent"])
            wanted[0] = min(WIN_REQUESTS_MAX, max(WIN_REQUESTS_FIRST, 2 * result["sent"]))
        server.item_for("win")
        server.pause()
        return Target("stampede, durable win", server, 202, requests, answered)

    def win_capacity(self):
        """Tickets that the winning slices of one row can use up, twice: half of it is the item's stock."""
        return int(2 * self.options.rounds * (self.options.slice + 0.1) * WIN_RATE_MAX)
