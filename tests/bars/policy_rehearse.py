# SPDX-License-Identifier: Apache-2.0
"""Bar 4 of check-policy: `stampede rehearse` with a large crowd reports what the server itself counts, and its latency is what
an independent tool measures."""
import json
import os
import statistics
import subprocess
import tempfile

from bars import BUILD_ROOT, Ended, asked
from kit.delays import DELAYS_MS, DelayServer

USERS = 100000
APART = 0.10
RATE, SECONDS, ROUNDS = 100, 5, 5
QUANTILES = ("p50", "p90", "p99")
INJECTED = dict(zip(QUANTILES, DELAYS_MS, strict=True))  # kit/delays.py: a tool that says less has left something out
SERVER = os.path.join(BUILD_ROOT, "release", "stampede")
LOAD = os.path.join(BUILD_ROOT, "release", "bench", "load")


def crowd():
    """The worked case of the documents: 1,000 units, 100,000 users, on all cores there are."""
    users, _ = asked("REHEARSE_USERS", USERS)
    with tempfile.TemporaryDirectory(prefix="rehearse-") as folder:
        path = os.path.join(folder, "report.json")
        done = subprocess.run([SERVER, "rehearse", "--example", "--users", str(users), "--json-file", path, "--scratch", folder],
                              capture_output=True, text=True, timeout=400)
        if not os.path.exists(path):
            raise Ended(f"exit {done.returncode}: {done.stderr[-400:]}")
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    differing = [row for row in report["counts"] if row["report"] != row["server"]]
    figure = (f"{report['users']:,} users, {report['requests']:,} requests, {report['won_by_people'] + report['won_by_bots']:,} wins, "
              f"{len(report['counts'])} counts, {len(differing)} differ {differing[:3] if differing else ''}")
    return figure.strip(), done.returncode == 0 and not differing and report["users"] == users


def both(server, folder):
    """What the two tools say of the same seconds, so that what else the machine does hits both: ({p50: ms …}, {p50: ms …})."""
    template = os.path.join(folder, "request")
    with open(template, "w", encoding="ascii", newline="") as file:
        file.write("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    ours = [SERVER, "rehearse", "--measure", f"http://127.0.0.1:{server.port}/", "--rate", str(RATE), "--seconds", str(SECONDS)]
    theirs = [LOAD, "--port", str(server.port), "--template", template, "--connections", "100", "--rate", str(RATE),
              "--seconds", str(SECONDS), "--warm", "0", "--sleep"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in (ours, theirs)]
    mine, other = (json.loads(process.communicate(timeout=60)[0]) for process in running)
    if mine["no_answer"]:
        raise Ended(f"{mine['no_answer']} requests were not answered")
    return {name: mine[name] for name in QUANTILES}, {name: other[f"{name}_us"] / 1000 for name in QUANTILES}


def latency():
    """A server that answers each request after 5, 20 or 50 ms, which are known. Each tool's median of some rounds: in a single one the median is half a
    millisecond off, now for one tool and now for the other, which is a tenth of the shortest delay."""
    with tempfile.TemporaryDirectory(prefix="rehearse-") as folder, DelayServer() as server:
        rounds = [both(server, folder) for _ in range(ROUNDS)]
    mine, other = ({name: statistics.median(said[tool][name] for said in rounds) for name in QUANTILES} for tool in (0, 1))
    apart = {name: abs(mine[name] - other[name]) / other[name] for name in QUANTILES}
    told = ", ".join(f"{name} {mine[name]:.1f} and {other[name]:.1f} ms (injected {INJECTED[name]})" for name in QUANTILES)
    early = [f"{name}: {tool[name]} ms" for both_said in rounds for tool in both_said for name in QUANTILES if tool[name] < INJECTED[name]]
    return (f"{told}; {100 * max(apart.values()):.1f} % apart at most; {len(early)} figures below what was injected {early[:3] or ''}".strip(),
            max(apart.values()) <= APART and not early)


def parts(bars):
    bars.part("4 counts", f"{USERS:,} simulated users: the report's counts are the server's own", crowd)
    bars.part("4 latency", f"within {APART:.0%} of the load client's, against known delays", latency)
