# SPDX-License-Identifier: Apache-2.0
"""Bar 4 of check-policy: `stampede rehearse` with a large crowd reports what the server itself counts, and its latency is what
an independent tool measures."""
import json
import os
import subprocess
import tempfile

from bars import BUILD_ROOT, Ended, asked
from kit.delays import DelayServer

USERS = 100000
APART = 0.10
RATE, SECONDS = 200, 6
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


def ours(url):
    done = subprocess.run([SERVER, "rehearse", "--measure", url, "--rate", str(RATE), "--seconds", str(SECONDS)],
                          capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


def theirs(server, folder):
    template = os.path.join(folder, "request")
    with open(template, "w", encoding="ascii", newline="") as file:
        file.write("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    done = subprocess.run([LOAD, "--port", str(server.port), "--template", template, "--connections", "200", "--rate", str(RATE),
                           "--seconds", str(SECONDS), "--warm", "0", "--sleep"], capture_output=True, text=True, timeout=60, check=True)
    result = json.loads(done.stdout)
    return {name: result[f"{name}_us"] / 1000 for name in ("p50", "p90", "p99")}


def latency():
    """A server that answers each request after 5, 20 or 50 ms, which are known."""
    with tempfile.TemporaryDirectory(prefix="rehearse-") as folder, DelayServer() as server:
        mine, other = ours(f"http://127.0.0.1:{server.port}/"), theirs(server, folder)
    apart = {name: abs(mine[name] - other[name]) / other[name] for name in other}
    told = ", ".join(f"{name} {mine[name]:.1f} and {other[name]:.1f} ms" for name in other)
    return f"{told}; {100 * max(apart.values()):.1f} % apart at most", max(apart.values()) <= APART and mine["no_answer"] == 0


def parts(bars):
    bars.part("4 counts", f"{USERS:,} simulated users: the report's counts are the server's own", crowd)
    bars.part("4 latency", f"within {APART:.0%} of the load client's, against known delays", latency)
