# SPDX-License-Identifier: Apache-2.0
"""What is measured. A row is a name, a sentence, a goal, and a function that measures it.

Ratios of rates are "ours / base": more is better. Instructions, memory, recovery and latency: less is better.
"""

import json
import os
import re
import statistics
import subprocess
import time

from lab import SERVER_CORE
from measure import MeasureError, pair_rounds, summary
from stampede import FUNNEL_SETTINGS

NGINX_OPEN_LOOP_SHARE = 0.5   # latency rows: offered load, as a share of what nginx does in a closed loop
CALLGRIND_REQUESTS = (20000, 60000)
CALLGRIND_SECONDS_MAX = 300
SQLITE_SHARE_MIN = 0.2        # the database thread idles at 0.4: much of it is memset for SQLite; all others are below 0.03
ORDERS_PER_ROUND = 100000
RECOVERY_WINS = 1000000
BUYERS = (20000, 4020000)  # so many that what is taken once, or for two million orders, does not count as a buyer's
BUYERS_AT_ONCE = 1000000
IDLE_CONNECTIONS = 10000
LOOPBACK_SOURCES = 16


class Row:
    def __init__(self, name, what, goal, measure, needs_stampede=True, unit="ratio"):
        self.name = name
        self.what = what
        self.goal = goal  # (">=" or "<=", number) or None
        self.measure = measure
        self.needs_stampede = needs_stampede
        self.unit = unit

    def less_is_better(self):
        return self.name.startswith("latency") or (self.goal is not None and self.goal[0] == "<=")

    def met(self, median):
        if self.goal is None:
            return None
        sign, bound = self.goal
        return median >= bound if sign == ">=" else median <= bound


# -- throughput ----------------------------------------------------------------------------------------------------


def pairs(lab, first, second, connections, depth, progress, **more):
    return pair_rounds(lab.load, first, second, connections, depth, lab.options.rounds, lab.options.slice,
                       progress=progress, **more)


def nginx_itself(lab, progress):
    return pairs(lab, lab.nginx("nginx_again"), lab.nginx(), 64, 1, progress)


def bare(connections, depth):
    return lambda lab, progress: pairs(lab, lab.bare(), lab.nginx(), connections, depth, progress)


def refusal(kind, connections, depth):
    return lambda lab, progress: pairs(lab, lab.refusing(kind), lab.nginx(), connections, depth, progress)


def peer(make, connections):
    return lambda lab, progress: pairs(lab, make(lab), lab.nginx(), connections, 1, progress)


def refusal_against_lua(lab, progress):
    return pairs(lab, lab.refusing("sold_out"), lab.lua_redis(wins=False), 64, 1, progress)


def refusal_against_bare(lab, progress):
    return pairs(lab, lab.refusing("sold_out"), lab.bare(), 64, 1, progress)


def win(base, connections, depth):
    def measure(lab, progress):
        with lab.stampede(lab.win_capacity()) as server:
            return pairs(lab, lab.winning(server), base(lab), connections, depth, progress)
    return measure


# -- latency -------------------------------------------------------------------------------------------------------


def latency(lab, first, progress):
    base = lab.nginx()
    rate = round(NGINX_OPEN_LOOP_SHARE * base.slice(lab.load, 64, 1, lab.options.slice)["rate"])
    return pairs(lab, first, base, 64, 1, progress, figure="p99_us", rate=rate)


def latency_refusal(lab, progress):
    return latency(lab, lab.refusing("sold_out"), progress)


def latency_win(lab, progress):
    with lab.stampede(lab.win_capacity()) as server:
        return latency(lab, lab.winning(server), progress)


def burst(lab, progress):
    """IDLE_CONNECTIONS open connections send one request each at the same moment: p99 against the bare loop's."""
    ours, base = lab.refusing("sold_out"), lab.bare()
    rounds = max(3, lab.options.rounds // 4)
    ratios, seen = [], {ours: [], base: []}
    for number in range(rounds):
        for target in (ours, base) if number % 2 == 0 else (base, ours):
            source = target.requests()
            target.server.resume()
            try:
                result = lab.load.run(target.server.port, source, IDLE_CONNECTIONS, 1, 10, 0,
                                      ["--count", str(IDLE_CONNECTIONS), "--sources", str(LOOPBACK_SOURCES)])
            finally:
                target.server.pause()
            if result["errors"] or result["status"] != {target.expect: IDLE_CONNECTIONS}:
                raise MeasureError(f"{target.name}: {result}")
            seen[target].append(result["p99_us"])
        ratios.append(seen[ours][-1] / seen[base][-1])
        progress(number + 1, rounds)
    return summary(ratios, {"ours_p99_us": statistics.median(seen[ours]),
                            "base_p99_us": statistics.median(seen[base])})


# -- instructions --------------------------------------------------------------------------------------------------


def callgrind_threads(folder):
    """[(instructions, does this thread work in SQLite?, those in libcrypto)…] of callgrind's files, one per thread."""
    threads = []
    for name in sorted(os.listdir(folder)):
        if not re.fullmatch(r"callgrind\.out.*-\d+", name):
            continue
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            text = file.read()
        total = re.search(r"^(?:totals|summary): (\d+)", text, re.M)
        if total:
            sqlite, crypto = object_shares(text, ("libsqlite3", "libcrypto"))
            threads.append((int(total.group(1)), sqlite > SQLITE_SHARE_MIN, crypto * int(total.group(1))))
    return threads


def object_shares(text, libraries):
    """Of a thread's own instructions, the share that was spent in each of the libraries."""
    names, inside, spent, total, called = {}, None, dict.fromkeys(libraries, 0), 0, False
    for line in text.splitlines():
        if line.startswith("ob="):
            found = re.match(r"ob=(\(\d+\))(?: (.*))?", line)
            names.setdefault(found.group(1), found.group(2) or "")
            inside = next((library for library in libraries if library in names[found.group(1)]), None)
        elif line.startswith("cob="):
            found = re.match(r"cob=(\(\d+\))(?: (.*))?", line)
            names.setdefault(found.group(1), found.group(2) or "")
        elif line.startswith("calls="):
            called = True  # the next line is what the callee cost, not this function
        elif re.match(r"[+*-]?\d*[ *]", line) and len(line.split()) >= 2:
            if not called and line.split()[-1].isdigit():
                total += int(line.split()[-1])
                if inside:
                    spent[inside] += int(line.split()[-1])
            called = False
    return [spent[library] / total if total else 0 for library in libraries]


def callgrind_run(start, ask, requests, folder):
    """Instructions of all threads but the one that writes to the database: (instructions, with that one too, of
    the first those in libcrypto)."""
    os.makedirs(folder)
    wrapper = ["valgrind", "--tool=callgrind", "--separate-threads=yes",
               f"--callgrind-out-file={os.path.join(folder, 'callgrind.out')}"]
    with start(wrapper) as server:
        ask(server, requests)
        server.stop()
    threads = callgrind_threads(folder)
    if not threads:
        raise MeasureError("callgrind left no file")
    return (sum(count for count, sqlite, _ in threads if not sqlite), sum(count for count, _, _ in threads),
            sum(crypto for _, sqlite, crypto in threads if not sqlite))


def instructions(lab, start, ask, progress):
    few, many = CALLGRIND_REQUESTS
    runs = []
    for number, requests in enumerate((few, many)):
        runs.append(callgrind_run(start, ask, requests, lab.path("callgrind")))
        progress(number + 1, 2)
    slope = [(runs[1][kind] - runs[0][kind]) / (many - few) for kind in (0, 1, 2)]
    return summary([slope[0]], {"with_the_database_thread": round(slope[1], 1),
                                "of_which_in_libcrypto": round(slope[2], 1), "requests": [few, many]})


def asked(lab, port, source, requests, expect, connections=64):
    result = lab.load.run(port, source, connections, 1, CALLGRIND_SECONDS_MAX, 0, ["--count", str(requests)])
    if result["status"] != {str(expect): requests}:
        raise MeasureError(f"{requests} requests, expected {expect}: {result['status']}, {result['errors']} errors")
    return result


def instructions_stampede(kind, expect):
    def measure(lab, progress):
        def ask(server, requests):
            source = server.make_requests(kind, requests)
            asked(lab, server.port, source, requests, expect)
        settings = FUNNEL_SETTINGS if kind.endswith("_funnel") else ()
        return instructions(lab, lambda wrapper: lab.stampede(4 * CALLGRIND_REQUESTS[1], wrapper, settings), ask, progress)
    return measure


def instructions_win(lab, progress):
    """callgrind's processor has no SHA instructions. So what it counts in libcrypto, which is the hash of the log, gives way to what
    this processor executes there (log_steps.c). Both are told."""
    row = instructions_stampede("win", 202)(lab, progress)
    done = subprocess.run([lab.program("log_steps")], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MeasureError(done.stderr.strip())
    here = json.loads(done.stdout)["instructions"]
    count = row["median"] - row["detail"]["of_which_in_libcrypto"] + here
    return summary([count], {**row["detail"], "of_which_in_libcrypto": here, "by_callgrind_alone": row["median"],
                             "by_callgrind_in_libcrypto": row["detail"]["of_which_in_libcrypto"]})


def instructions_bare(lab, progress):
    def ask(server, requests):
        asked(lab, server.port, lab.buy_source()(), requests, 409)
    return instructions(lab, lab.bare_wrapped, ask, progress)


# -- orders, recovery, memory --------------------------------------------------------------------------------------


def win_many(lab, server, count):
    """`count` wins by new users, eight in flight on each of 64 connections."""
    source = server.make_requests("win", count)
    result = lab.load.run(server.port, source, 64, 8, 120, 0, ["--count", str(count)])
    server.wins_sent(result["sent"])
    if result["status"] != {"202": count}:
        raise MeasureError(f"{count} wins asked: {result['status']}, {result['errors']} errors")
    return result


def order_rate(lab, server, count):
    """Orders per second while the server works off the backlog that a flood of wins left behind."""
    flood_start, written_start = time.monotonic(), server.orders_written()
    win_many(lab, server, count)
    samples = server.orders_drain(written_start + count)
    backlog = written_start + count - samples[0][1]
    if backlog < count // 4:  # the writer kept up with the flood: all of it counts
        return count / (samples[-1][0] - flood_start)
    return backlog / (samples[-1][0] - samples[0][0])


def raw_rate(lab, server, batch):
    target = lab.path("raw.db")
    done = subprocess.run(["taskset", "-c", str(SERVER_CORE), lab.program("raw_insert"), "--from", server.database(),
                           "--to", target, "--batch", str(batch), "--limit", str(ORDERS_PER_ROUND)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MeasureError(done.stderr.strip())
    for name in (target, target + "-wal", target + "-shm"):
        if os.path.exists(name):
            os.remove(name)
    return json.loads(done.stdout)["rate"]


def orders(lab, progress):
    rounds = max(3, lab.options.rounds // 4)
    ours, raw = [], []
    for number in range(rounds):
        with lab.stampede(4 * ORDERS_PER_ROUND) as server:
            ours.append(order_rate(lab, server, ORDERS_PER_ROUND))
            server.stop()
            raw.append(raw_rate(lab, server, lab.options.order_batch))
        progress(number + 1, rounds)
    return summary([a / b for a, b in zip(ours, raw)],
                   {"orders_per_s": round(statistics.median(ours)), "raw_per_s": round(statistics.median(raw))})


def timed(command):
    start = time.monotonic()
    done = subprocess.run(["taskset", "-c", str(SERVER_CORE), *command], capture_output=True, text=True, check=False)
    seconds = time.monotonic() - start
    if done.returncode != 0:
        raise MeasureError(f"{' '.join(command[:2])}: exit {done.returncode}: {done.stderr.strip()[:300]}")
    return seconds


def recovery(lab, progress):
    """A start after a kill that finds no snapshot replays the whole log, with all checks; the server says how long that took. `verify`
    also compares all of the database."""
    rounds = max(3, lab.options.rounds // 4)
    wins = RECOVERY_WINS // 10 if lab.options.quick else RECOVERY_WINS
    with lab.stampede(2 * wins, settings=["server.log_level=info"]) as server:
        for _ in range(10):
            win_many(lab, server, wins // 10)
        server.orders_drain(wins)
        ours, base, verified = [], [], []
        for number in range(rounds):
            server.stop_hard()
            files = server.segments()
            hashing = ["sha256sum", *files]
            if number == 0:
                timed(hashing)  # all read from memory from here on
            base.append(timed(hashing))
            verified.append(timed(server.verify_command()))
            server.forget_snapshots()
            server.start()
            ours.append(server.replay_seconds(wins))
            progress(number + 1, rounds)
        total_bytes = sum(os.path.getsize(name) for name in files)
    return summary([a / b for a, b in zip(ours, base)],
                   {"replay_s": statistics.median(ours), "verify_s": statistics.median(verified),
                    "sha256sum_s": statistics.median(base), "segment_bytes": total_bytes, "wins": wins})


def memory_connection(lab, progress):
    with lab.stampede(100000) as server:
        source = server.make_requests("sold_out", 0)
        lab.load.run(server.port, source, 64, 1, 0.2)
        before = server.resident_bytes()
        command = lab.load.command(server.port, source, IDLE_CONNECTIONS, 1,
                                   ["--count", str(IDLE_CONNECTIONS), "--seconds", "30", "--hold",
                                    "--sources", str(LOOPBACK_SOURCES)])
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
            result = json.loads(client.stdout.readline() or "{}")
            time.sleep(0.2)
            after = server.resident_bytes()
            client.stdin.close()
    if result.get("requests") != IDLE_CONNECTIONS or result.get("closed"):
        raise MeasureError(f"{IDLE_CONNECTIONS} connections asked: {result}")
    progress(1, 1)
    return summary([(after - before) / IDLE_CONNECTIONS], {"before_bytes": before, "after_bytes": after})


def memory_buyer(lab, progress):
    few, many = BUYERS
    # The database's cache and the table of the limit by user are bounded by settings of their own (orders.cache_mib,
    # limits.user_entries): filling them is not what a buyer costs.
    with lab.stampede(2 * many, settings=["limits.user_requests=0", "orders.cache_mib=4"]) as server:
        resident = []
        for number, (before, count) in enumerate(((0, few), (few, many - few))):
            for done in range(0, count, BUYERS_AT_ONCE):
                win_many(lab, server, min(BUYERS_AT_ONCE, count - done))
            server.orders_drain(before + count)
            resident.append(server.resident_bytes())
            progress(number + 1, 2)
    return summary([(resident[1] - resident[0]) / (many - few)], {"resident_bytes": resident, "buyers": [few, many]})


# -- the table -----------------------------------------------------------------------------------------------------

NGINX = "against nginx's empty 200"
ROWS = [
    Row("nginx_itself_64", "nginx against itself: what the method can tell apart", None, nginx_itself, False),
    Row("bare_64", f"bare epoll loop, the limit, {NGINX}", None, bare(64, 1), False),
    Row("bare_512", "the same, 512 connections", None, bare(512, 1), False),
    Row("bare_x8", "the same, 64 connections, pipelined x8", None, bare(64, 8), False),
    Row("lua_redis_64", f"nginx + lua + redis, sold out, {NGINX}", None,
        peer(lambda lab: lab.lua_redis(wins=False), 64), False),
    Row("lua_redis_win_64", f"nginx + lua + redis, win, {NGINX}", None,
        peer(lambda lab: lab.lua_redis(wins=True), 64), False),
    Row("redis_always_64", f"redis script, appendfsync always, {NGINX}", None,
        peer(lambda lab: lab.redis_always(), 64), False),
    Row("sold_out_64", f"sold out, pass verified, 64 connections, {NGINX}", (">=", 1.15), refusal("sold_out", 64, 1)),
    Row("sold_out_512", "the same, 512 connections", None, refusal("sold_out", 512, 1)),
    Row("sold_out_x8", "the same, 64 connections, pipelined x8", (">=", 5.0), refusal("sold_out", 64, 8)),
    Row("sold_out_funnel_64", f"the same with every layer of the funnel on, 64 connections, {NGINX}", (">=", 1.05),
        refusal("sold_out_funnel", 64, 1)),
    Row("duplicate_64", f"bought already, 64 connections, {NGINX}", (">=", 1.15), refusal("duplicate", 64, 1)),
    Row("duplicate_x8", "the same, pipelined x8", (">=", 5.0), refusal("duplicate", 64, 8)),
    Row("win_64", f"durable win, 64 connections, {NGINX}", (">=", 0.8), win(lambda lab: lab.nginx(), 64, 1)),
    Row("win_512", "the same, 512 connections", (">=", 1.1), win(lambda lab: lab.nginx(), 512, 1)),
    Row("win_x8", "the same, 64 connections, pipelined x8", (">=", 3.0), win(lambda lab: lab.nginx(), 64, 8)),
    Row("sold_out_vs_bare", "sold out, 64 connections, against the bare epoll loop", (">=", 0.95), refusal_against_bare),
    Row("sold_out_vs_lua_redis", "sold out against nginx + lua + redis sold out, 64", (">=", 7.0),
        refusal_against_lua),
    Row("win_vs_lua_redis", "durable win against nginx + lua + redis win (not durable), 64", (">=", 5.0),
        win(lambda lab: lab.lua_redis(wins=True), 64, 1)),
    Row("win_vs_redis_always", "durable win against redis script with appendfsync always, 64", (">=", 2.0),
        win(lambda lab: lab.redis_always(), 64, 1)),
    Row("win_vs_redis_always_512", "the same, 512 connections", (">=", 2.0),
        win(lambda lab: lab.redis_always(), 512, 1)),
    Row("latency_sold_out", "p99 of sold out / p99 of nginx, open loop at half of nginx's rate", None, latency_refusal),
    Row("latency_win", "p99 of a durable win / p99 of nginx's empty 200, same load", None, latency_win),
    Row("burst_10k", "10,000 connections, one request each at once: p99 / p99 of bare epoll", ("<=", 1.5), burst),
    Row("instructions_bare", "user-space instructions per request, bare epoll", None, instructions_bare, False,
        "instructions"),
    Row("instructions_sold_out", "user-space instructions per sold-out answer", ("<=", 1200),
        instructions_stampede("sold_out", 409), unit="instructions"),
    Row("instructions_sold_out_funnel", "the same with every layer of the funnel on", ("<=", 1800),
        instructions_stampede("sold_out_funnel", 409), unit="instructions"),
    Row("instructions_win", "user-space instructions per win, without the database thread", ("<=", 4000),
        instructions_win, unit="instructions"),
    Row("orders_vs_raw", "orders written against raw batched inserts of the same rows", (">=", 0.7), orders),
    Row("recovery_vs_sha256sum", "time to replay the whole log at a start / time of sha256sum of it", ("<=", 3.0), recovery),
    Row("memory_connection", "resident bytes per idle connection", ("<=", 2048), memory_connection, unit="bytes"),
    Row("memory_buyer", "resident bytes per buyer", ("<=", 64), memory_buyer, unit="bytes"),
]
