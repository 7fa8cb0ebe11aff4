#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The script in real Redis servers: whose time it has, and that a server which was not opened for it writes nothing.

Usage: fence_test.py DIFFERENTIAL [RULE], the program of this folder, which prints the script of an epoch; a part of a rule's name.
Each rule starts its own servers and ends them.
"""
import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

START_S = 60
PREFIX = "st:0123456789abcdef:{7}"
KEYS = [PREFIX + name for name in (":m", ":u", ":t", ":k", ":log")]
WINDOW_MS = 60000
UNITS = 100
HOUR_MS = 3600 * 1000


class RedisError(Exception):
    pass


def spare_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ends_with_its_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Redis:
    """A server with an append-only file that has every write before it answers; and a connection to it."""

    def __init__(self, folder, words=()):
        self.folder = folder
        self.words = words
        self.process = None
        self.start()

    def start(self):
        for _ in range(5):
            self.port = spare_port()
            self.process = subprocess.Popen(
                ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder, "--save", "",
                 "--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0", *self.words],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, preexec_fn=ends_with_its_parent)
            until = time.monotonic() + START_S
            while time.monotonic() < until and self.process.poll() is None:
                with contextlib.suppress(OSError, RedisError):
                    self.stream = socket.create_connection(("127.0.0.1", self.port), timeout=START_S)
                    self.answers = self.stream.makefile("rb")
                    # The port may be somebody else's; and a server that still loads its file answers with an error.
                    if f"process_id:{self.process.pid}\r" in self.do("INFO", "server") and self.do("PING") == "PONG":
                        return
                time.sleep(0.05)
            self.end()
        raise RuntimeError("redis-server does not start")

    def end(self):
        self.process.kill()
        self.process.wait(START_S)

    def read(self):
        line = self.answers.readline()
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b"-":
            raise RedisError(rest)
        if kind == b"+":
            return rest
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == "-1" else self.answers.read(int(rest) + 2)[:-2].decode()
        if kind == b"*":
            return [self.read() for _ in range(int(rest))]
        raise RuntimeError(f"not an answer of Redis: {line}")

    def do(self, *words):
        encoded = [str(word).encode() for word in words]
        self.stream.sendall(b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in encoded))
        return self.read()

    def now_ms(self):
        seconds, micro = self.do("TIME")
        return int(seconds) * 1000 + int(micro) // 1000

    def state(self):
        """All that the server has."""
        ask = {"hash": lambda key: sorted(zip(*[iter(self.do("HGETALL", key))] * 2)), "string": lambda key: self.do("GET", key),
               "stream": lambda key: self.do("XRANGE", key, "-", "+")}
        return {key: ask[self.do("TYPE", key)](key) for key in sorted(self.do("KEYS", "*"))}


def script_of(epoch):
    return subprocess.run([sys.argv[1], "--print", str(epoch)], check=True, capture_output=True, text=True, timeout=60).stdout


def call(redis, sha, *commands, at=0, keys=KEYS):
    """Each command is its words: one, or the three of a purchase."""
    words = [word for command in commands for word in command]
    return redis.do("EVALSHA", sha, len(keys), *keys, at, *(["reserve"] if len(commands[0]) == 3 else []), *words)


def purchase(user, key="0", item=1, door=""):
    return (user if isinstance(user, str) else f"{user:016x}", key, f"{item} 1 0 0 0" + (" door " + door if door else ""))


def opened(redis, epoch=3, time_ms=0):
    """A partition with one item in a sale that runs, and the script of the epoch."""
    redis.do("HSET", KEYS[0], "epoch", epoch, "head", f"0 {time_ms} 0 0 0 0", "places", 0, "keys", 0,
             "bounds", "1000 3000 0 4 2 100000 0")
    sha = redis.do("SCRIPT", "LOAD", script_of(epoch))
    for command in (f"sale 1 0 1 {2 ** 48 - 1} 0 0 0 0 0", f"preheat 1 1 9900 1 {WINDOW_MS} {UNITS} 0 0 0 {UNITS} 0 0 0 0 0 0 0 CNY 0"):
        answer = call(redis, sha, [command], at=1000)[1]
        assert answer.startswith("18 c1"), answer
    return sha


EVERY_KIND = [purchase(77), purchase(78, door=f"5 {2 ** 48 - 1} 3 1000")] + [[command] for command in (
    "settle 1 0 0 0 0 0", "sale 1 5 1 9999 0 0 0 0 0", "gate 1 3", "adjust 1 0 5 0", "move 1 0 1 1", "users 1 0 1 0000000000000005",
    "arrive 1 0000000000000005", "admit 1 1", "done 1 0", "ask-counts 1")]


def refused(redis, sha, error, commands=None, keys=KEYS):
    before = redis.state()
    for command in commands or EVERY_KIND:
        try:
            answer = call(redis, sha, command, keys=keys)
        except RedisError as wrong:
            assert str(wrong).startswith(error), f"{command}: {wrong}"
        else:
            raise AssertionError(f"{command} is answered: {answer}")
    assert redis.state() == before, "something was written"


rules = []


def rule(test):
    rules.append(test)
    return test


@rule
def time_0_is_the_time_of_the_server(server):
    redis = server()
    sha = opened(redis)
    before = redis.now_ms()
    head, won = call(redis, sha, purchase(1))
    after = redis.now_ms()
    at = int(head.split()[4])
    assert before <= at <= after, (before, at, after)
    assert won == f"1 c1 t1 p9900 y{at + WINDOW_MS}", won
    (_, fields), = redis.do("XREVRANGE", KEYS[4], "+", "-", "COUNT", 1)
    assert fields[:4] == ["e", "3", "t", str(at)], fields
    assert redis.do("HGET", KEYS[0], "head") == f"3 {at} 1 1 0 0"


@rule
def the_time_is_never_before_that_of_the_last_record(server):
    redis = server()
    ahead = redis.now_ms() + HOUR_MS
    sha = opened(redis, time_ms=ahead)
    for user in (1, 2):
        head, won = call(redis, sha, purchase(user))
        assert head.split()[4] == str(ahead), head
        assert won.endswith(f" y{ahead + WINDOW_MS}"), won
    refusal, = {call(redis, sha, purchase(user))[0].split()[4] for user in (1, 3)}
    assert refusal == str(ahead), refusal
    assert [entry[1][3] for entry in redis.do("XRANGE", KEYS[4], "-", "+")] == [str(ahead)] * 5


@rule
def a_server_without_the_script_writes_nothing(server):
    redis = server()
    sha = opened(redis)
    call(redis, sha, purchase(1))
    redis.do("SCRIPT", "FLUSH")
    refused(redis, sha, "NOSCRIPT")


@rule
def a_server_that_starts_again_has_the_state_and_not_the_script(server):
    redis = server()
    sha = opened(redis)
    call(redis, sha, purchase(1, door=f"5 {redis.now_ms() + HOUR_MS} 3 {HOUR_MS}"))
    before = redis.state()
    assert len(before) == len(KEYS) + 1, sorted(before)  # no key: no hash of keys
    redis.end()
    redis.start()
    assert redis.state() == before
    refused(redis, sha, "NOSCRIPT")


@rule
def a_promoted_replica_has_the_state_and_not_the_script(server):
    master, replica = server(), server()
    sha = opened(master)
    replica.do("REPLICAOF", "127.0.0.1", master.port)
    until = time.monotonic() + START_S
    while "master_link_status:up" not in replica.do("INFO", "replication"):
        assert time.monotonic() < until, "the replica does not come up"
        time.sleep(0.05)
    call(master, sha, purchase(1, door=f"5 {master.now_ms() + HOUR_MS} 3 {HOUR_MS}"))
    assert master.do("WAIT", 1, START_S * 1000) == 1
    state = master.state()
    master.end()
    replica.do("REPLICAOF", "NO", "ONE")
    assert replica.state() == state
    refused(replica, sha, "NOSCRIPT")
    # Opened anew; and the old script is in its cache after all, as where a server was the master before.
    replica.do("HSET", KEYS[0], "epoch", 4)
    next_sha = replica.do("SCRIPT", "LOAD", script_of(4))
    assert replica.do("SCRIPT", "LOAD", script_of(3)) == sha
    refused(replica, sha, "FENCED")
    assert call(replica, next_sha, purchase(1))[1] == "5"  # in progress: its win is there
    assert call(replica, next_sha, purchase(2))[1].startswith("1 c1 t2 ")
    assert replica.do("XREVRANGE", KEYS[4], "+", "-", "COUNT", 1)[0][1][:2] == ["e", "4"]


@rule
def a_partition_at_another_epoch_or_an_empty_server_writes_nothing(server):
    redis = server()
    sha = opened(redis)
    for epoch in (2, 4, 30):
        redis.do("HSET", KEYS[0], "epoch", epoch)
        refused(redis, sha, "FENCED")
    redis.do("FLUSHALL")
    refused(redis, sha, "FENCED")
    assert redis.state() == {}


@rule
def keys_of_another_partition_and_texts_of_no_command_write_nothing(server):
    redis = server()
    sha = opened(redis)
    refused(redis, sha, "WRONGPART", keys=[key.replace("{7}", "{8}") for key in KEYS])
    words = ("", "reserve", "reclaim 1 1 1", "done 99 0")
    # The user and the key of a purchase that would win; a question of the door that can't be read.
    bad = [purchase("1g"), purchase(1, "1g"), purchase("1g", door="0 0 3 1000"), purchase(1, door="5")]
    refused(redis, sha, "BADCOMMAND", commands=[[word] for word in words] + bad)
    before = redis.state()
    with contextlib.suppress(RedisError):
        raise AssertionError(call(redis, sha, purchase(1), purchase("1g"), purchase(2)))
    assert redis.state() == before, "a part of a call was written"


@rule
def a_pass_is_used_once_and_its_mark_is_gone_when_it_is_over(server):
    redis = server()
    sha = opened(redis)
    now = redis.now_ms()
    door = f"00000000000000aa {now + HOUR_MS} 0 0"
    assert call(redis, sha, purchase(1, "00000000000000b1", door=door))[1].startswith("1 c1 t1 ")
    # Somebody else, the same user with another key: used. The same key hears its own win; the user too, once it is kept.
    call(redis, sha, ["done 3 1"])
    answers = call(redis, sha, purchase(2, "00000000000000b2", door=door), purchase(1, "00000000000000b1", door=door),
                   purchase(1, "00000000000000b3", door=door))[1:]
    assert answers[0] == "pass-spent" and answers[1].startswith("2 t1 ") and answers[2] == "6 t1", answers
    assert len(redis.do("XRANGE", KEYS[4], "-", "+")) == 3
    left = redis.do("PTTL", PREFIX + ":s:00000000000000aa")
    assert 0 < left <= HOUR_MS + redis.now_ms() - now, left
    # A mark whose time is over is as good as none.
    short = f"00000000000000ab {redis.now_ms() + 1} 0 0"
    call(redis, sha, purchase(3, door=short))
    until = time.monotonic() + START_S
    while redis.do("EXISTS", PREFIX + ":s:00000000000000ab"):
        assert time.monotonic() < until, "the mark stays"
        time.sleep(0.01)
    assert call(redis, sha, purchase(4, door=f"00000000000000ab {redis.now_ms() + HOUR_MS} 0 0"))[1].startswith("1 c1 ")


@rule
def a_window_counts_the_refused_too_and_is_over_when_its_time_is(server):
    redis = server()
    sha = opened(redis)
    door = "0 0 2 60000"
    start = redis.now_ms()
    answers = [call(redis, sha, purchase(9, "0", 2, door), at=start + ms)[1] for ms in (0, 1)]
    assert answers == ["13", "13"], answers  # an item that nobody knows is no purchase: it does not count
    assert redis.do("EXISTS", PREFIX + f":w:{9:016x}") == 0
    answers = [call(redis, sha, purchase(9, "0", 1, door), at=start + ms)[1] for ms in (10, 20, 30, 40)]
    assert answers[0].startswith("1 c1 ") and answers[1:] == ["5"] * 3, answers  # too fast, but there is an old answer
    call(redis, sha, ["settle 1 1 0 0 0 0"], at=start + 45)
    call(redis, sha, ["done 4 1"])
    answers = [call(redis, sha, purchase(9, "0", 1, door), at=start + ms)[1] for ms in (50, 60030)]
    assert answers == ["too-fast 59990", "too-fast 20"], answers
    assert 0 < redis.do("PTTL", PREFIX + f":w:{9:016x}") <= 60000
    assert call(redis, sha, purchase(9, "0", 1, door), at=start + 60030 + 60000)[1].startswith("1 c1 t2 ")


@rule
def in_a_cluster_the_door_keeps_to_the_slot_of_its_partition(server):
    redis = server("--cluster-enabled", "yes", "--cluster-port", str(spare_port()))
    redis.do("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
    until = time.monotonic() + START_S
    while "cluster_state:ok" not in redis.do("CLUSTER", "INFO"):
        assert time.monotonic() < until, "the cluster does not come up"
        time.sleep(0.05)
    sha = opened(redis)
    door = f"00000000000000aa {redis.now_ms() + HOUR_MS} 2 {HOUR_MS}"
    answers = call(redis, sha, purchase(1, door=door), purchase(2, door=door))[1:]
    assert answers[0].startswith("1 c1 ") and answers[1] == "pass-spent", answers
    slot, = {redis.do("CLUSTER", "KEYSLOT", key) for key in redis.do("KEYS", "*")}
    assert redis.do("CLUSTER", "COUNTKEYSINSLOT", slot) == 6  # m, u, t, log; the mark, the window of the first


def main():
    if shutil.which("redis-server") is None:
        print("skipped: no Redis")
        return 77
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    failed = passed = 0
    for test in rules:
        if only not in test.__name__:
            continue
        with contextlib.ExitStack() as stack:
            def server(*words, stack=stack):
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="stampede-redis-", ignore_cleanup_errors=True))
                redis = Redis(folder, words)
                stack.callback(redis.end)
                return redis
            try:
                test(server)
                passed += 1
                print(f"ok   {test.__name__}", flush=True)
            except Exception:  # pylint: disable=broad-except
                failed += 1
                print(f"FAIL {test.__name__}:\n{traceback.format_exc()}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


sys.exit(main())
