#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rows of the benchmark for an older revision and for this one, in turns in one run.

  make bench-pairs OLD=REVISION [ROWS=sold_out_64,win_64] [TURNS=4] [ROUNDS=8]

Each turn measures every row with both servers against the same peer; which of them goes first changes. A row is worse if the upper
quartile of the new server is below the lower quartile of the old one (above, where less is better), each the median of all turns.
Both servers are built in the same way, and the programs of the benchmark are those of this revision. Exit status 1: a row is worse
or could not be measured, 2: wrong usage.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True  # the folder of the sources stays clean

from rows import ROWS  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
ROW_NAMES = "sold_out_64,sold_out_x8,sold_out_funnel_64,duplicate_64,win_64,win_512,win_x8,orders_vs_raw,latency_win,memory_buyer"


def options_read():
    parser = argparse.ArgumentParser(description="Rows of the benchmark for two revisions, in turns.")
    parser.add_argument("--old", required=True, metavar="REVISION")
    parser.add_argument("--build", default="build", help="folder of what is built")
    parser.add_argument("--rows", default=ROW_NAMES, help="separated by commas")
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=8, help="rounds of each row in a turn")
    options = parser.parse_args()
    unknown = [name for name in options.rows.split(",") if name not in {row.name for row in ROWS}]
    if unknown or options.turns < 1 or options.rounds < 1:
        parser.error(f"no row {unknown[0]}; bench/run.py --list shows them" if unknown else "--turns and --rounds are at least 1")
    return options


def old_server(options):
    """The server of the older revision, built in a folder of its own."""
    revision = subprocess.run(["git", "-C", ROOT, "rev-parse", "--verify", f"{options.old}^{{commit}}"],
                              capture_output=True, text=True, check=False).stdout.strip()
    if not revision:
        sys.exit(f"pairs.py: there is no revision {options.old}")
    folder = os.path.join(options.build, "pairs", revision)
    server = os.path.join(folder, "build", "release", "stampede")
    if not os.access(server, os.X_OK):
        print(f"building {revision[:12]}", file=sys.stderr, flush=True)
        os.makedirs(folder, exist_ok=True)
        archive = subprocess.Popen(["git", "-C", ROOT, "archive", revision], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", folder], stdin=archive.stdout, check=True)
        if archive.wait() != 0:
            sys.exit("pairs.py: git archive failed")
        log = os.path.join(folder, "build.log")
        with open(log, "w", encoding="utf-8") as out:
            built = subprocess.run(["make", f"-j{os.cpu_count()}", "all"], cwd=folder, stdout=out, stderr=out, check=False)
        if built.returncode != 0:
            sys.exit(f"pairs.py: {revision[:12]} could not be built: {log}")
    return server


def turn(options, server, label):
    """Every row with one server: the name of a row → its entry in the JSON of bench/run.py."""
    out = os.path.join(options.build, f"pairs-{label}.json")
    subprocess.run([sys.executable, os.path.join(HERE, "run.py"), "--only", options.rows, "--rounds", str(options.rounds), "--bin",
                    os.path.join(options.build, "release", "bench"), "--stampede", server, "--out", out],
                   stdout=subprocess.DEVNULL, check=False)
    with open(out, encoding="utf-8") as file:
        return {entry["name"]: entry for entry in json.load(file)["rows"]}


def whole(turns, name):
    """Median of the medians and of the quartiles of all turns; None: one was not measured."""
    entries = [entries[name] for entries in turns]
    if any("median" not in entry for entry in entries):
        return None
    return [statistics.median(entry[key] for entry in entries) for key in ("q1", "median", "q3")]


def judged(name, old, new):
    if old is None or new is None:
        return "not measured"
    row = next(row for row in ROWS if row.name == name)
    worse = new[0] > old[2] if row.less_is_better() else new[2] < old[0]
    return "WORSE" if worse else "no worse"


def figures(values):
    return "–" if values is None else f"{values[1]:.2f} ({values[0]:.2f}–{values[2]:.2f})"


def main():
    options = options_read()
    servers = {"old": old_server(options), "new": os.path.join(options.build, "release", "stampede")}
    turns = {"old": [], "new": []}
    for number in range(options.turns):
        for label in ("old", "new") if number % 2 == 0 else ("new", "old"):
            print(f"turn {number + 1} of {options.turns}: {label}", file=sys.stderr, flush=True)
            turns[label].append(turn(options, servers[label], label))
    bad = 0
    print(f"{'row':<24}{'old (quartiles)':<28}{'new (quartiles)':<28}")
    for name in options.rows.split(","):
        old, new = whole(turns["old"], name), whole(turns["new"], name)
        verdict = judged(name, old, new)
        bad += verdict != "no worse"
        print(f"{name:<24}{figures(old):<28}{figures(new):<28}{verdict}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
