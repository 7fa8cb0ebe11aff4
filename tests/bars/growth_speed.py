# SPDX-License-Identifier: Apache-2.0
"""Stalls and latency of wins at a steady rate, and the rows of `make bench` that have a goal of growth."""
import json
import os
import sys
import tempfile
import time

from bars import BUILD_ROOT, REPOSITORY, Ended, command_run
from growth_kit import laboratory, shop

import rows

WINS_PER_S = 50000
SECONDS = 20
CONNECTIONS = 512
CORES = "0-1"   # the server's; the client has the second one too
LATENCY_TIMES = 3
LATENCY_ROUNDS = 24  # in half a second nginx has a p99 of 0.04 or of 0.7 ms, by whether the machine pauses in it
STALL_MS = 20
DISK_SECONDS = 10
DISK_BATCH = 8192
DISK_FILE = 64 << 20
DISK_PIECE = 1 << 20
HOT_WINS = 2000000  # in one stretch; their passes are made before it
HOT_STRETCHES = 16  # at most
HOT_SECONDS = 60
LAG_MAX_DEFAULT = 500000  # the bench's own servers have no such limit
BENCH_ROWS = ("sold_out_vs_bare", "win_64", "win_512", "win_x8", "instructions_sold_out", "instructions_sold_out_funnel",
              "instructions_win")
BENCH_SECONDS = 1200
EXPLAINED = "docs/performance.md"


def disk_alone(folder, seconds=DISK_SECONDS):
    """What the disk does when nobody else uses it: writes of a batch with their syncs, one after the other, as the log makes
    them. (syncs above STALL_MS, the longest, the p99 of a request that comes at any time and waits for the sync after
    the one that is under way), in ms."""
    name = os.path.join(folder, "disk-alone")
    batch = bytes(DISK_BATCH)
    with open(name, "wb", buffering=0) as file:
        for _ in range(DISK_FILE // DISK_PIECE):
            file.write(bytes(DISK_PIECE))
        os.fsync(file.fileno())
        took, offset, now = [], 0, time.monotonic()
        end = now + seconds
        while now < end:
            os.pwrite(file.fileno(), batch, offset)
            os.fdatasync(file.fileno())
            before, now = now, time.monotonic()
            took.append(1000 * (now - before))
            offset = (offset + DISK_BATCH) % DISK_FILE
    os.unlink(name)
    return sum(ms > STALL_MS for ms in took), max(took), waited(took, 0.99)


def waited(took, share):
    """Requests come evenly over time; one that comes within a sync waits for its rest and for the next one."""
    edges = sorted((edge, sign) for this, after in zip(took, took[1:]) for edge, sign in ((after, 1), (this + after, -1)))
    # A sync of `this` ms has that many requests with waits spread evenly from `after` to `this + after`.
    left, open_now, before = (1 - share) * sum(took[:-1]), 0, None
    for edge, sign in reversed(edges):
        if before is not None:
            left -= open_now * (before - edge)
            if left <= 0:
                return edge - left / open_now
        open_now -= sign
        before = edge
    return edges[0][0]


def alone_told(alone):
    return f"the disk alone, {DISK_SECONDS} s before and after: {alone[0]} syncs above {STALL_MS} ms, the longest {alone[1]:.0f} ms"


def stalls():
    """Times in which no win was answered at all, at a steady rate that does not wait for answers. A disk that stalls by
    itself does so beside the server, too."""
    wins = WINS_PER_S * (SECONDS + 2)
    with shop(2 * wins + 1000, cores=CORES) as (lab, server):
        source = server.make_requests("win", wins)
        before = disk_alone(server.folder)
        result = lab.load.run(server.port, source, CONNECTIONS, 1, SECONDS, 1, ["--rate", str(WINS_PER_S), "--sleep"])
        after = disk_alone(server.folder)
        alone = (before[0] + after[0], max(before[1], after[1]))
    if set(result["status"]) != {"202"} or result["errors"]:
        raise Ended(f"expected only 202: {result['status']}, {result['errors']} errors")
    if result["rate"] < 0.95 * WINS_PER_S:
        raise Ended(f"the machine did {result['rate']:,.0f} wins/s of {WINS_PER_S:,}")
    return (f"{result['gaps_20ms']} stalls above 20 ms, {result['gaps_50ms']} above 50 ms in {SECONDS} s, the longest "
            f"{result['longest_gap_us'] / 1000:.0f} ms; {result['rate']:,.0f} wins/s, p50 {result['p50_us'] / 1000:.1f}, "
            f"p99 {result['p99_us'] / 1000:.1f}, slowest {result['max_us'] / 1000:.0f} ms; {alone_told(alone)}",
            result["gaps_20ms"] <= alone[0])


def hot():
    """All that the server can sell, with default settings: orders fall behind, and wins come as fast as they."""
    sold, seconds, slowest, answers = 0, 0.0, 0, {}
    with shop(HOT_STRETCHES * HOT_WINS * 2 + 1000, settings=[f"orders.lag_max={LAG_MAX_DEFAULT}"]) as (lab, server):
        while seconds < HOT_SECONDS and sold < HOT_STRETCHES * HOT_WINS:
            source = server.make_requests("win", HOT_WINS)
            result = lab.load.run(server.port, source, 64, 8, 600, 0, ["--count", str(HOT_WINS)])
            server.wins_sent(HOT_WINS)
            sold, seconds = sold + HOT_WINS, seconds + result["seconds"]
            slowest = max(slowest, result["max_us"] / 1000)
            for status, count in result["status"].items():
                answers[status] = answers.get(status, 0) + count
    return (f"{sold:,} purchases in {seconds:.0f} s, {sold / seconds:,.0f}/s, the slowest {slowest:.0f} ms; answers {answers}",
            set(answers) == {"202"} and seconds >= HOT_SECONDS)


def latency():
    with laboratory() as lab:
        lab.options.rounds = LATENCY_ROUNDS
        row = rows.latency_win(lab, lambda done, total: None)
        alone = disk_alone(lab.folder)
    ours, base = (row["detail"][side]["p99_us"] / 1000 for side in ("ours", "base"))
    return (f"p99 {ours:.2f} and nginx's {base:.2f} ms (medians of {LATENCY_ROUNDS} rounds at {row['detail']['rate_asked']:,} requests/s), "
            f"{ours / base:.1f} ×; single rounds {row['median']:.1f} × (quartiles {row['q1']:.1f} to {row['q3']:.1f}); "
            f"the disk alone: p99 {alone[2]:.2f} ms, the longest sync {alone[1]:.0f} ms",
            ours <= LATENCY_TIMES * base)


def stall_parts(bars):
    bars.part("3 hot", f"{HOT_SECONDS} s of wins as fast as the server sells, x8, without a 503", hot)
    bars.part("3 stalls", f"none above {STALL_MS} ms at {WINS_PER_S:,} wins/s that the disk alone does not have", stalls, f"{EXPLAINED}#stalls")
    bars.part("3 latency", f"p99 of a win at most {LATENCY_TIMES} × nginx's at the same load", latency, f"{EXPLAINED}#stalls")


def bench():
    """{name: row} of a short run of bench/run.py."""
    with tempfile.TemporaryDirectory(prefix="growth-") as folder:
        out = os.path.join(folder, "bench.json")
        command_run([sys.executable, os.path.join(REPOSITORY, "bench", "run.py"), "--quick", "--only", ",".join(BENCH_ROWS),
                     "--bin", os.path.join(BUILD_ROOT, "release", "bench"), "--out", out,
                     "--stampede", os.path.join(BUILD_ROOT, "release", "stampede")], BENCH_SECONDS, may_fail=True)
        with open(out, encoding="utf-8") as file:
            return {row["name"]: row for row in json.load(file)["rows"]}


def bench_parts(bars):
    measured = {}

    def one(name):
        if not measured:
            measured.update(bench())
        row = measured[name]
        if "median" not in row:
            raise Ended(row["note"])
        alone = row["detail"].get("by_callgrind_alone")
        more = f"; {alone:,.4g} with SHA-256 in software, as callgrind counts it" if alone else ""
        return f"{name} {row['median']:,.4g} (quartiles {row['q1']:,.4g} to {row['q3']:,.4g}){more}", row["met"]
    goals = {row.name: f"{row.goal[0]} {row.goal[1]:,g}" for row in rows.ROWS if row.name in BENCH_ROWS}
    for name in BENCH_ROWS:
        bars.part(f"6 {name}", goals[name], lambda name=name: one(name), EXPLAINED)
