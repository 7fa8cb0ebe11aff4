#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures Stampede side by side with its peers; see README.md in this folder.

Prints one table, writes one JSON file. Exit status: 0 every chosen row was measured, 1 a row could not be measured (or,
with --strict, a goal was missed), 2 wrong usage.
"""

import argparse
import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folder of the sources stays clean

from lab import Lab  # noqa: E402
from measure import MeasureError  # noqa: E402
from rows import ROWS  # noqa: E402

QUICK_ROUNDS = 6
QUICK_SLICE_SECONDS = 0.3


def options_read():
    parser = argparse.ArgumentParser(description="Measures Stampede side by side with its peers.")
    parser.add_argument("--rounds", type=int, default=24, help="rounds per pair (24)")
    parser.add_argument("--slice", type=float, default=0.5, help="seconds per slice (0.5)")
    parser.add_argument("--only", default="", help="rows to measure, separated by commas; a name* matches by prefix")
    parser.add_argument("--quick", action="store_true", help="few short rounds: does everything work?")
    parser.add_argument("--list", action="store_true", help="print the rows and end")
    parser.add_argument("--strict", action="store_true", help="fail when a goal is missed")
    parser.add_argument("--bin", default="build/release/bench", help="folder of the benchmark programs")
    parser.add_argument("--stampede", default="build/release/stampede", help="the server")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE",
                        help="one more line of the server's configuration")
    parser.add_argument("--order-batch", type=int, default=512, help="rows per transaction of the raw inserts")
    parser.add_argument("--out", default="build/bench.json", help="where the figures go")
    parser.add_argument("--tmp", default=None, help="folder for data (on a real disk)")
    parser.add_argument("--keep", action="store_true", help="keep the data folders")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.slice = min(options.rounds, QUICK_ROUNDS), min(options.slice, QUICK_SLICE_SECONDS)
    if options.rounds < 1 or not 0.05 <= options.slice <= 10:
        parser.error("--rounds is at least 1, --slice between 0.05 and 10")
    return options, parser


def rows_chosen(options, parser):
    if not options.only:
        return ROWS
    wanted = [name.strip() for name in options.only.split(",") if name.strip()]
    def chosen(row, name):
        return row.name.startswith(name[:-1]) if name.endswith("*") else row.name == name
    for name in wanted:
        if not any(chosen(row, name) for row in ROWS):
            parser.error(f"no row {name}; --list shows them")
    return [row for row in ROWS if any(chosen(row, name) for name in wanted)]


def say(text):
    print(text, file=sys.stderr, flush=True)


def progress_of(row):
    def progress(done, total):
        if sys.stderr.isatty():
            print(f"\r{row.name}: {done}/{total} ", end="\n" if done == total else "", file=sys.stderr, flush=True)
        elif done == total:
            say(f"{row.name}: {done} rounds")
    return progress


def row_measure(row, lab):
    entry = {"name": row.name, "what": row.what, "unit": row.unit,
             "goal": f"{row.goal[0]} {row.goal[1]:g}" if row.goal else None}
    if row.needs_stampede and not lab.has_stampede():
        entry["note"] = f"not measured: {lab.options.stampede} is not there"
        return entry
    try:
        entry.update(row.measure(lab, progress_of(row)))
        entry["met"] = row.met(entry["median"])
    except (MeasureError, RuntimeError, OSError, subprocess.SubprocessError, http.client.HTTPException, ValueError,
            KeyError) as error:
        entry["note"] = f"not measured: {error}"
        say(f"{row.name}: {entry['note']}")
    return entry


def figure(value):
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.2f}"


def table_print(entries):
    print(f"{'row':<26}{'median':>9}  {'quartiles':<17}{'rounds':>6}  {'goal':<9}{'met':<5}what")
    for entry in entries:
        if "median" not in entry:
            print(f"{entry['name']:<26}{'–':>9}  {'':<17}{'':>6}  {entry['goal'] or '':<9}{'–':<5}{entry['note']}")
            continue
        met = {True: "yes", False: "NO", None: ""}[entry["met"]]
        spread = f"{figure(entry['q1'])}–{figure(entry['q3'])}"
        print(f"{entry['name']:<26}{figure(entry['median']):>9}  {spread:<17}{entry['rounds']:>6}  "
              f"{entry['goal'] or '':<9}{met:<5}{entry['what']}")


def result_write(path, options, entries, seconds):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"rounds": options.rounds, "slice_s": options.slice, "quick": options.quick,
                   "seconds": round(seconds, 1), "cores": os.cpu_count(), "rows": entries}, file, indent=1,
                  ensure_ascii=False)
        file.write("\n")


def machine_check(options):
    if (os.cpu_count() or 1) < 2:
        sys.exit("run.py: needs two cores, one for the servers and one for the load")
    for name in ("load", "bare_epoll", "raw_insert"):
        if not os.access(os.path.join(options.bin, name), os.X_OK):
            sys.exit(f"run.py: {os.path.join(options.bin, name)} is not built")
    kind = subprocess.run(["stat", "-f", "-c", "%T", options.tmp or tempfile.gettempdir()], capture_output=True,
                          text=True, check=False).stdout.strip()
    if kind in ("tmpfs", "ramfs"):
        say("run.py: the data folder is in memory, so durable rows mean nothing: give --tmp a folder on a disk")
    if os.getloadavg()[0] > 0.5:
        say(f"run.py: something else is running (load {os.getloadavg()[0]:.1f}); expect wide quartiles")


def main():
    options, parser = options_read()
    rows = rows_chosen(options, parser)
    if options.list:
        for row in rows:
            print(f"{row.name:<26}{f'{row.goal[0]} {row.goal[1]:g}' if row.goal else '':<10}{row.what}")
        return 0
    machine_check(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    start = time.monotonic()
    entries = []
    folder = tempfile.mkdtemp(prefix="stampede-bench-", dir=options.tmp)
    lab = Lab(options, folder)
    try:
        for row in rows:
            entries.append(row_measure(row, lab))
    finally:
        lab.close()
        if options.keep:
            say(f"data kept in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
        result_write(options.out, options, entries, time.monotonic() - start)
    table_print(entries)
    incomplete = any("median" not in entry for entry in entries)
    missed = any(entry.get("met") is False for entry in entries)
    return 1 if incomplete or (options.strict and missed) else 0


if __name__ == "__main__":
    sys.exit(main())
