#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Honest users and bots against the real server (bar 2 of the funnel); bench/bots.c plays both.

  bots.py latency [--rounds 5] [--seconds 2] [--slow 3000]     honest p99 with and without bots, in turns; memory
  bots.py wins [--units 1000] [--honest 3000] [--only hammer]  who gets the units, with the layers off and on

Bot profiles, each from few addresses, against honest users who have one address each:
  hammer         few accounts, one address, as many requests as fit
  many_accounts  thousands of accounts behind one address, each asks at a machine's pace
  replay         the same few passes again and again
  perfect        thousands of accounts that ask in the first milliseconds, machine-regular
  slow           (latency only) thousands of heads, bodies and readers that never come to an end
Bots come with real passes, as if they had got past everything that is asked before one. What a layer is set to is in
LAYERS; a setting that the binary does not know is left out, and said.

The server runs on core 0, users and bots on core 1. TEST_SERVER names the binary; bots, load and forge are next to it in
bench/ (make benches).
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))  # run as a program too

from kit import harness  # noqa: E402
from kit.harness import Failure, eventually  # noqa: E402

SERVER_CORE, CLIENT_CORE = 0, 1
BOT_SHARE = 0.95
LATENCY_FLOOR_US = 10000     # a p99 up to here is good whatever the idle one was
CONNECTION_BYTES_MAX = 16384  # what a slow connection may cost in the server
KERNEL_BYTES_MAX = 65536     # and in the kernel, both ends
HONEST_ADDRESSES = 500
TICKETS_MAX = 2000000
START_IN_MS = 5000           # time to make passes and connections on a busy machine

# What bots meet: every layer that refuses them, off and on.
OFF = {"limits.address_per_s": 0, "limits.user_requests": 0, "limits.admission_per_s": 0,
       "watch.rate": "off", "watch.failures": "off", "watch.crowd": "off", "watch.roaming": "off", "watch.timing": "off"}
ON = {"limits.address_per_s": 100, "limits.address_burst": 200, "limits.user_requests": 10, "limits.user_window_ms": 10000,
      "watch.rate": "ban", "watch.failures": "ban", "watch.crowd": "ban", "watch.roaming": "report", "watch.timing": "ban"}
LAYERS = {"off": OFF, "on": ON}
BASE = {"server.threads": 1, "server.connections_max": 20000, "data.tickets_max": TICKETS_MAX, "pass.life_s": 3599,
        "data.segment_bytes": 64 * 1024 * 1024, "orders.lag_max": 2 * TICKETS_MAX, "server.log_level": "warn"}


def binary():
    """A release build: bots are about speed. E2E_SERVER overrules."""
    built = os.path.join(harness.REPOSITORY, "build", "release", "stampede")
    return os.environ.get("E2E_SERVER") or os.environ.get("TEST_SERVER") or built


def tool(name):
    path = os.path.join(os.path.dirname(binary()), "bench", name)
    if not os.path.exists(path):
        sys.exit(f"{path} is not built: make benches")
    return path


def settings_known(settings):
    """(those that the binary knows, the names of the others)"""
    known, missing = dict(settings), []
    folder = harness.temp_folder()
    path = os.path.join(folder, "try.ini")
    while True:
        with open(path, "w", encoding="ascii") as file:
            for name, value in known.items():
                section, _, key = name.partition(".")
                file.write(f"[{section}]\n{key} = {value}\n")
        done = subprocess.run([binary(), "mint", "--config", path, "--session", "--users", "0:1"], capture_output=True,
                              text=True, check=False)
        unknown = re.search(r"unknown setting (\S+)", done.stderr)
        if not unknown or unknown.group(1) not in known:
            return known, missing
        missing.append(unknown.group(1))
        del known[unknown.group(1)]


def kernel_bytes():
    """What the sockets of this machine hold in the kernel."""
    with open("/proc/net/sockstat", encoding="ascii") as counts:
        return int(re.search(r"^TCP: .* mem (\d+)", counts.read(), re.M).group(1)) * os.sysconf("SC_PAGE_SIZE")


class Shop:
    """A server with some layers, on its core, and files of passes for it."""

    def __init__(self, layer, **more):
        settings, self.missing = settings_known({**LAYERS[layer], **more})
        self.server = harness.Server(settings={**BASE, **settings}, binary=binary(),
                                     wrapper=["taskset", "-c", str(SERVER_CORE)])
        self.server.start()
        self.files = 0
        self.next_user = 0

    def path(self, name):
        self.files += 1
        return os.path.join(self.server.folder, f"{self.files:03}-{name}")

    def passes(self, item, count):
        """A file with passes of users who were never seen before."""
        path = self.path("passes")
        with open(path, "wb") as file:
            subprocess.run([self.server.binary, "mint", "--config", self.server.config, "--item", str(item),
                            "--users", f"{self.next_user}:{count}"], stdout=file, check=True)
        self.next_user += count
        return path

    def forged(self, real, count):
        path = self.path("forged")
        with open(path, "wb") as file, open(real, "rb") as given:
            subprocess.run([tool("forge"), "--count", str(count)], stdin=given, stdout=file, check=True)
        return path

    def play(self, groups, seconds, start_ms=None):
        """Runs the groups, [{"name": …}, …]; what bots.c counted."""
        plan = self.path("plan")
        with open(plan, "w", encoding="ascii") as file:
            for group in groups:
                file.write(" ".join(f"{name}={value}" for name, value in group.items()) + "\n")
        command = [tool("bots"), "--port", str(self.server.port), "--plan", plan, "--seconds", str(seconds),
                   "--core", str(CLIENT_CORE), *(["--start-ms", str(start_ms)] if start_ms else [])]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds + 120)
        if done.returncode != 0:
            raise Failure(f"bots: {done.stderr.strip()[:400]}")
        return json.loads(done.stdout)

    def resident_bytes(self):
        with open(f"/proc/{self.server.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"^VmRSS:\s+(\d+) kB", status.read(), re.M).group(1)) * 1024

    def memory_watch(self, work):
        """(what work() gives, most resident bytes of the server meanwhile, most bytes that the kernel held for TCP)"""
        most, over = [0, 0], threading.Event()

        def look():
            while not over.wait(0.1):
                most[0], most[1] = max(most[0], self.resident_bytes()), max(most[1], kernel_bytes())
        watcher = threading.Thread(target=look, daemon=True)
        watcher.start()
        try:
            return work(), *most
        finally:
            over.set()
            watcher.join()

    def end(self):
        self.server.stop()
        self.server.verify()


# ---- latency -----------------------------------------------------------------------------------------


def capacity():
    """Refusals a second with every layer off: what one core of this machine can do now."""
    shop = Shop("off")
    item = shop.server.open_item(total=1)
    harness.Buyer(shop.server).win(item)
    template = shop.path("template")
    with open(template, "w", encoding="ascii", newline="") as file:
        file.write(f"POST /v1/items/{item}/buy HTTP/1.1\r\nHost: 127.0.0.1\r\nStampede-Pass: {'@' * 48}\r\n"
                   "Content-Length: 0\r\n\r\n")
    done = subprocess.run([tool("load"), "--core", str(CLIENT_CORE), "--port", str(shop.server.port), "--template",
                           template, "--fill", shop.passes(item, 1000), "--seconds", "1", "--warm", "0.2"],
                          capture_output=True, text=True, check=True, timeout=60)
    shop.end()
    result = json.loads(done.stdout)
    if set(result["status"]) != {"409"}:
        raise Failure(f"capacity: {result['status']}")
    return result["rate"]


def honest_group(shop, item, rate, seconds):
    return {"name": "honest", "pace": "poisson", "use": "once", "rate": round(rate), "connections": HONEST_ADDRESSES,
            "address": "127.10.0.1", "addresses": HONEST_ADDRESSES, "item": item,
            "passes": shop.passes(item, int(rate * seconds * 1.5) + 1000)}


def bot_groups(shop, item, rate, slow):
    few = shop.passes(item, 50)
    groups = [
        {"name": "hammer", "rate": round(rate * 0.4), "connections": 32, "address": "127.20.0.1", "passes": few},
        {"name": "replay", "rate": round(rate * 0.3), "connections": 32, "address": "127.20.0.2",
         "passes": shop.passes(item, 5)},
        {"name": "forged", "rate": round(rate * 0.3), "connections": 32, "address": "127.20.0.3",
         "passes": shop.forged(few, 100000)},
    ]
    for group in groups:
        group.update({"pace": "regular", "use": "cycle", "addresses": 1, "item": item})
    for number, kind in enumerate(("slow_head", "slow_body", "slow_read")):
        if slow >= 3:
            groups.append({"name": kind, "pace": kind, "connections": slow // 3, "address": f"127.30.{number}.1",
                           "addresses": 40, "item": item, "every_ms": 2000})
    return groups


def latency(rounds, seconds, slow):
    """One line, and whether honest users were served as promised."""
    rate = capacity() / 2
    shop = Shop("on")
    item = shop.server.open_item(total=TICKETS_MAX // 4)
    bots = bot_groups(shop, item, rate * BOT_SHARE, slow)
    idle, attacked, answers, wrong = [], [], {}, []
    memory_start, kernel_start = shop.resident_bytes(), kernel_bytes()
    growth = kernel_growth = 0
    for number in range(rounds):
        for attack in (False, True) if number % 2 == 0 else (True, False):
            honest = honest_group(shop, item, rate * (1 - BOT_SHARE), seconds)
            groups = [honest, *bots] if attack else [honest]
            result, memory, kernel = shop.memory_watch(lambda: shop.play(groups, seconds))
            group = result["groups"]["honest"]
            (attacked if attack else idle).append(group["p99_us"])
            if group["lost"] or group["answered"] != group["sent"] or set(group["answers"]) != {"202 won"}:
                wrong.append(f"honest users heard {group['answers']}, lost {group['lost']} of {group['sent']}")
            if attack:
                growth, kernel_growth = max(growth, memory - memory_start), max(kernel_growth, kernel - kernel_start)
                for name, bot in result["groups"].items():
                    for answer, count in bot["answers"].items():
                        answers[f"{name} {answer}"] = answers.get(f"{name} {answer}", 0) + count
    shop.end()
    idle_us, attacked_us = statistics.median(idle), statistics.median(attacked)
    goal_us = max(2 * idle_us, LATENCY_FLOOR_US)
    memory_max, kernel_max = (slow * each + 64 * 1024 * 1024 for each in (CONNECTION_BYTES_MAX, KERNEL_BYTES_MAX))
    line = (f"honest p99 {attacked_us / 1000:.2f} ms under {BOT_SHARE:.0%} bots at {rate:,.0f}/s (half of capacity) and {slow} "
            f"slow connections, {idle_us / 1000:.2f} ms without ({rounds} rounds in turns); memory +{growth / 2**20:.0f} MiB "
            f"(at most {memory_max / 2**20:.0f}), in the kernel +{kernel_growth / 2**20:.0f} (at most {kernel_max / 2**20:.0f})")
    good = attacked_us <= goal_us and growth <= memory_max and kernel_growth <= kernel_max and not wrong
    return line, good, answers, wrong, shop.missing


# ---- wins --------------------------------------------------------------------------------------------

PROFILES = {
    # name: accounts, addresses, requests a second, connections
    "hammer": (10, 1, 20000, 64),
    "many_accounts": (2000, 1, 5000, 200),
    "replay": (20, 1, 10000, 64),
    "perfect": (2000, 2, 50000, 500),
}


def wins(profile, layer, units, honest, seconds=4):
    """{"honest": wins, "bots": wins, …} of one start."""
    shop = Shop(layer)
    sale = shop.server.sale(start_in_ms=START_IN_MS)
    item = shop.server.item(sale, total=units)
    shop.server.publish(sale)
    start_ms = shop.server.get(f"/v1/sales/{sale}").json()["start_ms"]
    accounts, addresses, rate, connections = PROFILES[profile]
    groups = [
        {"name": "honest", "pace": "reaction", "connections": honest, "address": "127.10.0.1", "addresses": honest, "item": item,
         "passes": shop.passes(item, honest), "after_ms": 150, "until_ms": 1500, "retries": 3},
        {"name": "bots", "pace": "regular", "use": "cycle", "rate": rate, "connections": connections, "address": "127.20.0.1",
         "addresses": addresses, "item": item, "passes": shop.passes(item, accounts)},
    ]
    result = shop.play(groups, seconds, start_ms)
    told = {name: group["answers"].get("202 won", 0) for name, group in result["groups"].items()}
    counts = eventually(lambda: shop.server.counts(item), "no counts")
    if counts["held"] + counts["sold"] != sum(told.values()) or sum(told.values()) > units:
        raise Failure(f"{told} were told of {units}, the inventory has {counts}")
    shop.end()
    return {**told, "units": units, "left": counts["free"], "answers": {name: group["answers"] for name, group in
            result["groups"].items()}, "missing": shop.missing}


def share(result):
    given = result["honest"] + result["bots"]
    return result["honest"] / given if given else 0.0


def wins_line(profile, units, honest):
    off, on = (wins(profile, layer, units, honest) for layer in ("off", "on"))
    line = f"{profile}: honest {share(off):.0%} of wins with the layers off, {share(on):.0%} on (bots {off['bots']} → {on['bots']})"
    return line, off, on


def main():
    parser = argparse.ArgumentParser(description="Honest users and bots.")
    parser.add_argument("what", choices=("latency", "wins"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--slow", type=int, default=3000)
    parser.add_argument("--units", type=int, default=1000)
    parser.add_argument("--honest", type=int, default=3000)
    parser.add_argument("--only", default=",".join(PROFILES))
    options = parser.parse_args()
    if options.what == "latency":
        line, good, answers, wrong, missing = latency(options.rounds, options.seconds, options.slow)
        print(line)
        for name, count in sorted(answers.items()):
            print(f"  {count:>9} {name}")
        for text in wrong:
            print(f"  {text}")
    else:
        good, missing = True, []
        for profile in options.only.split(","):
            line, off, on = wins_line(profile, options.units, options.honest)
            print(line)
            print(f"  off {off['answers']}\n  on  {on['answers']}", flush=True)
            missing = on["missing"]
    if missing:
        print(f"  this binary has no {', '.join(missing)}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
