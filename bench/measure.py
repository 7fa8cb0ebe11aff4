# SPDX-License-Identifier: Apache-2.0
"""Slices of load, rounds of pairs, and what comes out of them.

The machine changes speed from minute to minute, so a rate alone says nothing. Two targets take turns on the same core
in slices of about half a second; each round gives one ratio, and the row is the median of these ratios with its
quartiles. Which of the two goes first changes from round to round.
"""

import json
import statistics
import subprocess

WARM_SECONDS = 0.05
LOAD_SLACK_SECONDS = 30
PIPELINED_SOURCES = 16  # more than 512,000 requests/s: no address may have as many (limits.address_per_s)
STALLS_MAX = 3  # per row


class MeasureError(Exception):
    """A row that could not be measured, and why."""


class Stall(MeasureError):
    """Every answer came, but none of them within the slice: the machine stood still. The round is worth nothing."""


class Load:
    """Runs the load client on its own core."""

    def __init__(self, binary, core):
        self.binary = binary
        self.core = core

    def command(self, port, source, connections=64, depth=1, extra=()):
        return [self.binary, "--core", str(self.core), "--port", str(port), "--connections", str(connections),
                "--depth", str(depth), *source, *extra]

    def run(self, port, source, connections=64, depth=1, seconds=1.0, warm=0.0, extra=()):
        command = self.command(port, source, connections, depth,
                               ["--seconds", str(seconds), "--warm", str(warm), *extra])
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              timeout=seconds + warm + LOAD_SLACK_SECONDS)
        if done.returncode != 0:
            raise MeasureError(f"load client: {done.stderr.strip()[:400]}")
        return json.loads(done.stdout)


class Target:
    """One server asked one kind of question.

    `requests` returns the load client's arguments that say what to send, and is called before every slice, outside
    the measured time. `answered` hears each slice's result, so that a source of users can move on. Every counted
    answer must have the status `expect`: a server that refuses quickly must not look fast.
    """

    def __init__(self, name, server, expect, requests, answered=None, extra=()):
        self.name = name
        self.server = server
        self.expect = str(expect)
        self.requests = requests
        self.answered = answered or (lambda result: None)
        self.extra = list(extra)

    def slice(self, load, connections, depth, seconds, rate=None):
        source = self.requests()
        extra = self.extra + (["--rate", str(rate)] if rate else [])
        extra += ["--sources", str(PIPELINED_SOURCES)] if depth > 1 else []
        self.server.resume()
        busy_start = self.server.cpu_seconds()
        try:
            result = load.run(self.server.port, source, connections, depth, seconds, WARM_SECONDS, extra)
            server_seconds = self.server.cpu_seconds() - busy_start
        finally:
            self.server.pause()
        self.answered(result)
        result["server_busy"] = server_seconds / (seconds + WARM_SECONDS)
        result["per_cpu_second"] = result["sent"] / max(server_seconds, 1e-9)
        other = {status: count for status, count in result["status"].items() if status != self.expect}
        if other or result["errors"] or result["unsent"]:
            raise MeasureError(f"{self.name}: expected only {self.expect}, got {result['status']}, "
                               f"errors {result['errors']}, unsent {result['unsent']}")
        if not result["requests"]:
            raise Stall(f"{self.name}: no answer within a whole slice")
        return result


def quartiles(values):
    """(lower quartile, median, upper quartile)"""
    if len(values) == 1:
        return values[0], values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, statistics.median(values), high


def summary(ratios, detail=None):
    low, middle, high = quartiles(ratios)
    return {"median": round(middle, 4), "q1": round(low, 4), "q3": round(high, 4), "rounds": len(ratios),
            "detail": detail or {}}


def median_of(results, key):
    return round(statistics.median(result[key] for result in results), 3)


def pair_rounds(load, first, second, connections, depth, rounds, seconds, figure="rate", rate=None, progress=None):
    """Ratios first/second of `figure`, one per round. A round in which the machine stalled is repeated, and said."""
    results = {first: [], second: []}
    stalls = 0
    while len(results[first]) < rounds:
        done = len(results[first])
        order = (first, second) if done % 2 == 0 else (second, first)
        try:
            found = {target: target.slice(load, connections, depth, seconds, rate) for target in order}
        except Stall:
            stalls += 1
            if stalls > STALLS_MAX:
                raise
            continue
        for target, result in found.items():
            results[target].append(result)
        if progress:
            progress(done + 1, rounds)
    return pair_summary(results[first], results[second], (first.name, second.name), figure,
                        {"stalls": stalls, "rate_asked": rate})


def pair_summary(ours, base, names, figure, detail):
    """The row, and beside it the same ratio per second of processor time: what is left when other work on the machine
    or the client was the limit. It does not see waiting for the disk."""
    per_cpu = quartiles([a["per_cpu_second"] / b["per_cpu_second"] for a, b in zip(ours, base)])
    detail["per_cpu_second"] = [round(value, 4) for value in per_cpu]
    for side, name, results in (("ours", names[0], ours), ("base", names[1], base)):
        detail[side] = {"name": name, "requests": sum(result["requests"] for result in results)}
        for key in ("rate", "p50_us", "p99_us", "busy", "server_busy"):
            detail[side][key] = median_of(results, key)
    return summary([a[figure] / b[figure] for a, b in zip(ours, base)], detail)
