#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who ends with the units: people, and machines that hoard, come with many accounts, or ask in the first millisecond.

  hoarders.py [--units 100] [--honest 400] [--hoarders 30] [--many 8] [--perfect 8] [--waitlist] [--plain]

Everybody buys from the real server at its default settings and from a sale as `sale create` makes it, except for the time to
pay, which is some seconds instead of 15 minutes. --plain: a sale without draws and cool-down, for comparison.

Kinds, each account with a session of its own:
  honest    an address each; asks 0.15 to 1.5 s after the start, then about once a second while it is sold out; comes at the
            moment that it was told; pays 0.3 to 2 s after a win
  many      all behind one address; asks at the start, comes at its moment to the millisecond; pays
  perfect   two addresses; like many, but asks in the first milliseconds
  hoarder   ten to an address; asks at the start and every 200 ms, comes at its moment, never pays, and comes back when the
            time to pay is over. With --waitlist it is the first to join the line, again and again.
"""
import argparse
import asyncio
import json
import random
import sys
import time

sys.dont_write_bytecode = True

from kit import harness  # noqa: E402
from kit.harness import Failure, eventually  # noqa: E402

PRICE = 99900
PAY_WINDOW_MS = 6000
START_IN_S = 6
# The harness takes the limits away for its own tests; these are the program's defaults.
DEFAULTS = {"limits.address_per_s": 100, "limits.user_requests": 10, "limits.connections_per_address": 1000}
PLAIN = {"cooldown_s": 0, "return_draw_ms": 0, "start_draw_ms": 0}
KINDS = ("honest", "many", "perfect", "hoarder")


class Line:
    """One connection of one account."""

    def __init__(self, port, address):
        self.port, self.address, self.streams = port, address, None

    async def ask(self, method, path, headers=None, body=None):
        """(status, headers, document)"""
        data = harness.request_bytes(method, path, body, headers)
        for attempt in range(2):
            try:
                if self.streams is None:
                    self.streams = await asyncio.open_connection("127.0.0.1", self.port, local_addr=(self.address, 0))
                self.streams[1].write(data)
                return await self.read()
            except (ConnectionError, asyncio.IncompleteReadError):
                self.close()
                if attempt == 1:
                    raise

    async def read(self):
        head = (await self.streams[0].readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await self.streams[0].readexactly(int(headers.get("content-length", 0)))
        if headers.get("connection", "").lower() == "close":
            self.close()
        return int(head[0].split()[1]), headers, json.loads(body) if body else {}

    def close(self):
        if self.streams is not None:
            self.streams[1].close()
        self.streams = None


class Sale:
    """What all accounts know: the item, its times, and who has paid."""

    def __init__(self, server, units, waitlist, plain, seconds):
        self.server, self.waitlist = server, waitlist
        now_ms = server.now_ms()
        fields = PLAIN if plain else {}
        self.start_ms = now_ms + START_IN_S * 1000
        sale = server.admin_ok("POST", "/sales", {"title": "Bots", "start_ms": self.start_ms, "end_ms": self.start_ms + 3600000,
                                                  **fields})["id"]
        self.item = server.item(sale, total=units, limit_per_user=1, pay_window_ms=PAY_WINDOW_MS)
        server.publish(sale)
        self.offset_ms = server.now_ms() - time.time() * 1000
        self.end_ms = self.start_ms + seconds * 1000
        self.worker = Line(server.port, "127.0.0.1")
        self.desk_free = asyncio.Lock()
        self.paid = dict.fromkeys(KINDS, 0)
        self.won = dict.fromkeys(KINDS, 0)
        self.answers = {kind: {} for kind in KINDS}

    def now_ms(self):
        return time.time() * 1000 + self.offset_ms

    def over(self):
        return self.now_ms() >= self.end_ms

    async def sleep_until(self, moment_ms):
        await asyncio.sleep(max(0, min(moment_ms, self.end_ms) - self.now_ms()) / 1000)

    async def pay(self, order):
        """As the shop's payment would; True: it is paid."""
        body = {"amount": PRICE, "currency": "CNY", "reference": f"r-{order}"}
        headers = {"Authorization": f"Bearer {self.server.keys['operator']}"}
        for _ in range(100):  # the order is written some milliseconds after the win
            async with self.desk_free:
                status, _, _ = await self.worker.ask("POST", f"/admin/v1/orders/{order}/paid", headers, body)
            if status != 404:
                return status == 200
            await asyncio.sleep(0.05)
        return False


class Account:
    def __init__(self, sale, kind, address):
        self.sale, self.kind, self.line = sale, kind, Line(sale.server.port, address)
        self.machine = kind != "honest"
        self.waiting = self.holds = False
        self.session = self.pass_text = None
        self.pass_until_ms = 0

    async def told(self, method, path, headers=None, body=None):
        """An answer; too fast or too popular is waited for, as told."""
        while True:
            status, headers_back, document = await self.line.ask(method, path, headers, body)
            if status not in (429, 503) or self.sale.over():
                return status, headers_back, document
            await asyncio.sleep(int(headers_back.get("retry-after", 1)) if not self.machine else 0.2 + random.random() * 0.2)

    async def get_in(self):
        _, _, document = await self.told("POST", "/v1/session")
        self.session = {"Authorization": f"Bearer {document['session']}"}

    async def pass_ensure(self):
        if self.sale.now_ms() < self.pass_until_ms - 2000:
            return
        status, _, document = await self.told("POST", f"/v1/items/{self.sale.item}/pass", self.session)
        if status == 201:
            self.pass_text, self.pass_until_ms = document["pass"], document["expires_ms"]

    async def buy(self):
        await self.pass_ensure()
        status, headers, document = await self.line.ask("POST", f"/v1/items/{self.sale.item}/buy", {"Stampede-Pass": self.pass_text})
        what = "won" if status == 202 else document["type"].rpartition("/")[2]
        counts = self.sale.answers[self.kind]
        counts[what] = counts.get(what, 0) + 1
        return what, headers, document

    async def win(self, order):
        self.sale.won[self.kind] += 1
        if self.kind == "hoarder":
            await self.sale.sleep_until(self.sale.now_ms() + PAY_WINDOW_MS)
            return False
        if not self.machine:
            await asyncio.sleep(0.3 + random.random() * 1.7)
        paid = await self.sale.pay(order)
        self.sale.paid[self.kind] += paid
        return paid

    async def wait_in_line(self):
        """True: an offer was paid."""
        await self.pass_ensure()
        path = f"/v1/items/{self.sale.item}/waitlist"
        status, headers, document = await self.line.ask("POST", path, {**self.session, "Stampede-Pass": self.pass_text})
        if status not in (200, 201):
            return False
        while not self.sale.over():
            await asyncio.sleep(0.2 if self.machine else 0.5 + random.random() * 0.5)
            status, headers, document = await self.line.ask("GET", path, self.session)
            if status == 200 and document["state"] == "offered":
                return await self.win(document["order"])
            if status == 200 and document["state"] != "waiting":
                return False
        return False

    async def again(self, what, headers, document):
        """How long this one waits before it asks once more."""
        now_ms = self.sale.now_ms()
        if what == "not-your-moment":
            late_ms = 1 if self.machine else 20 + random.random() * 130
            await self.sale.sleep_until(document["again_ms"] + late_ms)
        elif what == "cooling-down":
            await self.sale.sleep_until(document["again_ms"] + 1)
        elif what in ("too-fast", "too-popular"):
            await self.sale.sleep_until(now_ms + (200 if self.machine else 1000 * int(headers.get("retry-after", 1))))
        else:
            await self.sale.sleep_until(now_ms + (200 if self.kind == "hoarder" else 700 + random.random() * 600))

    async def live(self):
        await self.get_in()
        first = {"honest": 150 + random.random() * 1350, "many": random.random() * 100, "perfect": random.random() * 3,
                 "hoarder": random.random() * 20}
        await self.sale.sleep_until(self.sale.start_ms - 3000 + random.random() * 2000)
        await self.pass_ensure()
        await self.sale.sleep_until(self.sale.start_ms + first[self.kind])
        while not self.sale.over():
            what, headers, document = await self.buy()
            if what == "won":
                if await self.win(document["order"]):
                    return
            elif what == "sold-out" and self.sale.waitlist and (self.machine or random.random() < 0.5):
                if await self.wait_in_line():
                    return
            await self.again(what, headers, document)


async def crowd(sale, honest, hoarders, many, perfect):
    accounts = [Account(sale, "honest", f"127.10.{number // 250}.{number % 250 + 1}") for number in range(honest)]
    accounts += [Account(sale, "hoarder", f"127.20.0.{number // 10 + 1}") for number in range(hoarders)]
    accounts += [Account(sale, "many", "127.30.0.1") for _ in range(many)]
    accounts += [Account(sale, "perfect", f"127.40.0.{number % 2 + 1}") for number in range(perfect)]
    results = await asyncio.gather(*(account.live() for account in accounts), return_exceptions=True)
    broken = [result for result in results if isinstance(result, BaseException)]
    for account in accounts:
        account.line.close()
    sale.worker.close()
    if broken:
        raise Failure(f"{len(broken)} of {len(accounts)} accounts broke: {broken[0]!r}")


async def play_async(server, options, seconds):
    sale = Sale(server, options["units"], options["waitlist"], options["plain"], seconds)
    await crowd(sale, options["honest"], options["hoarders"], options["many"], options["perfect"])
    return sale


def play(units=100, honest=400, hoarders=30, many=8, perfect=8, waitlist=False, plain=False, seconds=24):
    """{"paid": {kind: units}, "won": …, "answers": …} of one sale."""
    binary = harness.binary_path()
    settings = {**DEFAULTS, "waitlist.enabled": "yes" if waitlist else "no", "waitlist.window_ms": PAY_WINDOW_MS, "pass.life_s": 300}
    server = harness.Server(settings=settings, binary=binary).start()
    options = {"units": units, "honest": honest, "hoarders": hoarders, "many": many, "perfect": perfect, "waitlist": waitlist,
               "plain": plain}
    sale = asyncio.run(play_async(server, options, seconds))
    eventually(lambda: server.counts(sale.item)["sold"] == sum(sale.paid.values()), "paid orders and sold units differ")
    server.stop()
    server.verify()
    return {"paid": sale.paid, "won": sale.won, "answers": sale.answers, "units": units}


def share(result):
    """Of the units that ended paid, those of honest people."""
    paid = sum(result["paid"].values())
    return result["paid"]["honest"] / paid if paid else 0.0


def line_of(result, what):
    paid, won = result["paid"], result["won"]
    return (f"{what}: honest people paid {paid['honest']} of {result['units']} units, {share(result):.0%} of those that ended paid "
            f"(many accounts {paid['many']}, perfect timing {paid['perfect']}; hoarders won {won['hoarder']} times)")


HONEST_SHARE_MIN = 0.9
# What `make check-funnel` and `make check-mend` play.
PROFILES = {
    "hoarders, many accounts and perfect timing together": {},
    "30 hoarders, no waitlist": {"units": 20, "honest": 80, "many": 0, "perfect": 0},
    "30 hoarders, waitlist": {"units": 20, "honest": 80, "many": 0, "perfect": 0, "waitlist": True, "seconds": 30},
}


def profile_play(name):
    """(what came of it, whether honest people have at least HONEST_SHARE_MIN of the units and of what was paid)"""
    result = play(**PROFILES[name])
    good = share(result) >= HONEST_SHARE_MIN and result["paid"]["honest"] >= HONEST_SHARE_MIN * result["units"]
    return line_of(result, name), good


def main():
    parser = argparse.ArgumentParser(description="Honest people and hoarders.")
    for name, number in (("units", 100), ("honest", 400), ("hoarders", 30), ("many", 8), ("perfect", 8), ("seconds", 24)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--waitlist", action="store_true")
    parser.add_argument("--plain", action="store_true")
    options = parser.parse_args()
    result = play(**vars(options))
    print(line_of(result, "first come" if options.plain else "as it is"))
    for kind, counts in result["answers"].items():
        print(f"  {kind}: {counts}")


if __name__ == "__main__":
    main()
