#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stock in segments behind locks that expire, as the source documents describe it, beside our script (bar 7 of step 2 of check-cluster).

  tools/with-redis python3 tests/bars/segments.py DIFFERENTIAL [--seconds 4] [--clients 8]

A purchase takes the lock of a segment (SET NX PX), reads its stock, takes a unit, notes the user, and gives the lock back if it is
still its own. Measured: trips and Redis' processor time for each win, locks that were taken already, and what happens when
a holder stops for longer than its lock lives. Beside it the wins of `DIFFERENTIAL --server --bench`, on the same server. Prints one line.
"""
import argparse
import os
import random
import re
import socket
import subprocess
import sys
import threading
import time

SEGMENTS, LOCK_MS, UNITS = 16, 50, 10 ** 9
UNLOCK = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"


class Client:
    def __init__(self):
        host, port = os.environ["STAMPEDE_TEST_REDIS"].split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=30)
        self.replies, self.trips = self.socket.makefile("rb"), 0

    def ask(self, *words):
        data = b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in (str(word).encode() for word in words))
        self.socket.sendall(b"*%d\r\n%s" % (len(words), data))
        self.trips += 1
        first = self.replies.readline()[:-2]
        if first[:1] == b"$":
            return None if first == b"$-1" else self.replies.read(int(first[1:]) + 2)[:-2].decode()
        if first[:1] == b"-":
            raise OSError(first.decode())
        return first[1:].decode()

    def cpu_us(self):
        text = self.ask("INFO", "cpu")
        return 1e6 * sum(float(re.search(rf"^used_cpu_{kind}:([0-9.]+)", text, re.M)[1]) for kind in ("user", "sys"))


class Buyer(threading.Thread):
    """Buys until the time is over."""

    def __init__(self, number, seconds):
        super().__init__()
        self.client, self.number, self.seconds = Client(), number, seconds
        self.random = random.Random(number)
        self.won = self.taken = 0

    def buy(self, user):
        segment, token = self.random.randrange(SEGMENTS), f"{self.number}-{user}"
        if self.client.ask("SET", f"lock:{segment}", token, "NX", "PX", LOCK_MS) is None:
            self.taken += 1
            return
        if int(self.client.ask("GET", f"stock:{segment}")) > 0:
            self.client.ask("DECR", f"stock:{segment}")
            self.client.ask("SADD", "users", token)
            self.won += 1
        self.client.ask("EVALSHA", unlock_sha, 1, f"lock:{segment}", token)

    def run(self):
        until = time.monotonic() + self.seconds
        for user in range(10 ** 9):
            if time.monotonic() > until:
                return
            self.buy(user)


def segments_run(clients, seconds):
    """(wins, trips, locks that were taken, microseconds of Redis)"""
    control = Client()
    for segment in range(SEGMENTS):
        control.ask("SET", f"stock:{segment}", UNITS)
    buyers = [Buyer(number, seconds) for number in range(clients)]
    before = control.cpu_us()
    for buyer in buyers:
        buyer.start()
    for buyer in buyers:
        buyer.join()
    return (sum(buyer.won for buyer in buyers), sum(buyer.client.trips for buyer in buyers), sum(buyer.taken for buyer in buyers),
            control.cpu_us() - before)


def expired_lock():
    """Units that are sold too many of a segment with one unit, when a holder stops for longer than its lock lives."""
    slow, quick = Client(), Client()
    slow.ask("SET", "stock:0", 1)
    slow.ask("DEL", "lock:0")
    slow.ask("SET", "lock:0", "slow", "NX", "PX", LOCK_MS)
    seen = int(slow.ask("GET", "stock:0"))
    while quick.ask("SET", "lock:0", "quick", "NX", "PX", LOCK_MS) is None:
        time.sleep(LOCK_MS / 1000)
    if int(quick.ask("GET", "stock:0")) > 0:
        quick.ask("DECR", "stock:0")
    if seen > 0:
        slow.ask("DECR", "stock:0")
    return -int(slow.ask("GET", "stock:0"))


def main():
    parser = argparse.ArgumentParser(description="Segment locks beside our script.")
    parser.add_argument("differential")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--clients", type=int, default=8)
    given = parser.parse_args()
    global unlock_sha
    unlock_sha = Client().ask("SCRIPT", "LOAD", UNLOCK)
    wins, trips, taken, used = segments_run(given.clients, given.seconds)
    over = expired_lock()
    bench = subprocess.run([given.differential, "--server", "--bench"], capture_output=True, text=True, check=True).stdout
    ours = {int(batch): float(us) for batch, us in re.findall(r"^wins +in calls of +(\d+):.*?, +([0-9.]+) us of processor each", bench, re.M)}
    better = used / wins > ours[16] and over > 0
    print(f"segment locks: {trips / wins:.1f} trips and {used / wins:.1f} us of Redis for a win, {taken / (wins + taken):.0%} of the locks were "
          f"taken; {over} unit too many where a holder stops for longer than its lock lives; our script: {ours[1]:.1f} us one by one, "
          f"{ours[16]:.1f} us in calls of 16, none too many, {0 if better else 1} findings")
    return 0 if better else 1


if __name__ == "__main__":
    sys.exit(main())
