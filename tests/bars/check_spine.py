#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The bars of the spine in a quick form: one line per part, with its figure, its goal and the time it took.

  make check-spine                          under 10 minutes on two cores, quickest after `make test`
  make check-spine SPINE_ARGS='--bars 2,3'
  make check-spine KILLS=100 SEEDS=100000 USERS=50000 RUNS=1000000 ROUNDS=24     the long form

Each part has a box of time in the quick form; one that does not end in it has failed. A missed goal fails, a speed goal
too: the quick form measures few short rounds, so look at `make bench` before believing a narrow miss. What the quick form
leaves out is said in the part's line. Exit status 1 if any part fell short.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

from kit import harness  # noqa: E402
from bars import (BUILD_ROOT, CLEAN_ENVIRONMENT, REPOSITORY, Ended, asked, box, command_run,  # noqa: E402
                  find, main, mutants_seen, simulate)

# What a throwaway prototype did on the same machines (BENCH.md): a row must not be clearly below it.
PROTOTYPE = {"sold_out_64": 1.21, "sold_out_x8": 5.7, "win_64": 0.67, "win_512": 1.05, "win_x8": 1.1}
READY_GOAL_MS = 2000


# ---- bar 1: a clean clone serves and sells -----------------------------------------------------------


def session_processes(leader):
    """Processes of the session that `leader` began."""
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.getsid(int(name)) == leader:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as stat:
                    if stat.read().rpartition(")")[2].split()[0] != "Z":
                        found.append(int(name))
        except (ProcessLookupError, FileNotFoundError):
            continue
    return found


class Shop(harness.Server):
    """Somebody else's server: only asked."""

    def __init__(self, port):  # pylint: disable=super-init-not-called
        self.port = port


def demo_buy(shop):
    """As a visitor: wait for the sale, enter, buy, follow the order."""
    def sells():
        sales = shop.get("/v1/sales").json()["sales"]
        items = [item["id"] for sale in sales for item in shop.get(f"/v1/sales/{sale['id']}").json()["items"]
                 if item["accepting"]]
        return items[0] if items else None
    harness.true(b"<html" in shop.get("/").body.lower(), "no page at /")
    item = harness.eventually(sells, "no item sells", patience_s=60, every_s=0.2)
    buyer = harness.Buyer(shop)
    ticket = buyer.win(item)["ticket"]
    harness.equal(buyer.order(ticket)["state"], "pending", "the order's state")


def demo_ready(shop, process, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            raise Ended(f"make demo ended with {process.returncode}")
        try:
            if shop.get("/readyz").status == 200:
                return
        except (OSError, harness.Closed):
            pass
        time.sleep(0.1)
    raise Ended(f"make demo does not serve within {seconds:.0f} s")


def bar_1_demo(clone, seconds):
    port = harness.spare_port()
    scratch = os.path.join(os.path.dirname(clone), "scratch")
    os.makedirs(scratch)
    began = time.monotonic()
    with open(os.path.join(scratch, "..", "demo.log"), "wb") as log:
        process = subprocess.Popen(["make", "demo", f"PORT={port}"], cwd=clone, stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=log, env={**CLEAN_ENVIRONMENT, "TMPDIR": scratch}, start_new_session=True)
    shop = Shop(port)
    try:
        demo_ready(shop, process, seconds)
        served_s = time.monotonic() - began
        demo_buy(shop)
        sold_s = time.monotonic() - began
        os.killpg(process.pid, signal.SIGINT)  # what Ctrl-C does
        process.wait(30)
        time.sleep(0.2)
        left = session_processes(process.pid)
        files = os.listdir(scratch)
    except subprocess.TimeoutExpired:
        raise Ended("Ctrl-C does not end it within 30 s") from None
    finally:
        for pid in session_processes(process.pid):
            os.kill(pid, signal.SIGKILL)
        process.wait()
    figure = (f"clean clone: make demo serves after {served_s:.0f} s (build included), sold after {sold_s:.0f} s; "
              f"Ctrl-C leaves {len(left)} processes, {len(files)} folders")
    return figure, not left and not files


def bar_1(spine):
    folder = tempfile.mkdtemp(prefix="stampede-spine-")
    clone = os.path.join(folder, "clone")
    try:
        command_run(["git", "clone", "--quiet", "--no-hardlinks", REPOSITORY, clone], 60)
        changed = command_run(["git", "status", "--porcelain"], 60).split("\n")[:-1]
        note = f" ({len(changed)} uncommitted files are not in it)" if changed else ""
        spine.part("1a", "a working sale; Ctrl-C leaves nothing",
                   lambda: [(figure + note, ok) for figure, ok in [bar_1_demo(clone, 180)]][0])

        def some_tests():
            output = command_run(["make", "unit", "ONLY=inventory"], 120, clone)
            totals = find(r"^(\d+) passed, (\d+) failed", output, "totals")
            return f"clean clone: inventory units {totals.group()}; the rest is make test's, not run here", \
                int(totals.group(1)) > 0 and totals.group(2) == "0"
        spine.part("1b", "tests pass", some_tests)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# ---- bars 2 and 3: crowds and kills ------------------------------------------------------------------


def script_line(name, words, seconds):
    """The line that crowd.py or torture.py prints, and whether all was well."""
    output = command_run([sys.executable, os.path.join(REPOSITORY, "tests", "e2e", "kit", name), *words], seconds, may_fail=True)
    lines = output.strip().splitlines()
    told = [line for line in lines if re.search(r"  (ok|FAIL)$", line)]
    if not told:
        raise Ended(f"{name}: {output[-500:]}")
    figure, _, word = told[0].rpartition("  ")
    more = "".join(f"\n         {line.strip()}" for line in lines if line.startswith("  ")) if word == "FAIL" else ""
    return figure.partition("  ")[2] + more, word == "ok"


def bar_2(spine):
    users, long_form = asked("USERS", 50000)
    goals = {"a": "exactly 1,000 winners = order rows, no false refusal",
             "b": "no unit too many or left over, no user above the limit",
             "c": "units conserved, all sold, no false refusal"}
    for name, goal in goals.items():
        spine.part(f"2{name}", goal, lambda name=name: script_line(
            "crowd.py", ["--only", name, "--users", str(users)], box(90, long_form)))


def bar_3(spine):
    kills, long_form = asked("KILLS", 20)

    def torture():
        figure, ok = script_line("torture.py", ["--kills", str(kills)], box(120, long_form))
        median_ms = int(find(r"ready again in (\d+) ms", figure, "time until ready").group(1)) if ok else 0
        return figure, ok and median_ms <= READY_GOAL_MS
    spine.part("3", f"told = recovered, nothing invented, ready again within {READY_GOAL_MS} ms (median)", torture)


# ---- bar 4: the simulator ----------------------------------------------------------------------------


def sales_per_second(words, goal, seconds):
    output = simulate([*words, "--bench"], seconds)
    rate = int(find(r"^(\d+) sales/s", output, "sales/s").group(1))
    sales, commands, crashes = (int(number) for number in find(
        r"^(\d+) sales .*: (\d+) commands, \d+ wins, (\d+) crashes, no violation$", output, "summary").groups())
    figure = (f"{sales:,} sales without a violation, {commands // sales} commands and {crashes / sales:.1f} crashes each: "
              f"{rate:,} sales/s")
    return figure, rate >= goal and commands >= 200 * sales and crashes >= sales


def same_hash(words, seconds):
    hashes = [find(r"^state hash (\w+)$", simulate(words, seconds), "hash").group(1) for _ in range(2)]
    return f"{' '.join(words)} twice: state hash {' and '.join(hashes)}", hashes[0] == hashes[1]


def bar_4(spine):
    seeds, long_form = asked("SEEDS", 0)
    many = ["--seeds", str(seeds)] if long_form else ["--seconds", "6"]
    few = ["--seeds", str(max(1, seeds // 50))] if long_form else ["--seconds", "6"]
    spine.part("4a", "≥ 1,000 sales/s on one core, each ≥ 200 commands and 1 crash",
               lambda: sales_per_second(many, 1000, box(60, long_form)))
    spine.part("4b", "≥ 20 sales/s with SQLite on a file layer that forgets",
               lambda: sales_per_second([*few, "--store", "sqlite"], 20, box(60, long_form)))
    spine.part("4c", "the same twice", lambda: same_hash(["--seeds", "1000"], 30))
    spine.part("4d", "the same twice", lambda: same_hash(["--seeds", "40", "--store", "sqlite"], 30))
    spine.part("4e", "≥ 20 mutants seen, each within 60 s, none missed",
               lambda: mutants_seen("inventory journal", box(900, long_form)))


# ---- bar 5: speed ------------------------------------------------------------------------------------


def row_judged(row):
    """(figure, goal, ok). A row must meet its goal by its median and must not be clearly below the prototype's."""
    goal = row["goal"] or "–"
    if "median" not in row:
        return row.get("note", "not measured"), goal, False
    median, low, high = (f"{row[name]:,.0f}" if row[name] >= 100 else f"{row[name]:.2f}"
                         for name in ("median", "q1", "q3"))
    figure = f"{median} ({low}–{high}, {row['rounds']} rounds)"
    ok = row["met"] is not False
    floor = PROTOTYPE.get(row["name"])
    if floor is not None:
        goal += f" and prototype {floor:g}"
        ok = ok and row["q3"] >= floor
    return figure + ("" if ok else " missed"), goal, ok


def bar_5(spine):
    rounds, long_form = asked("ROUNDS", 4)
    began = time.monotonic()
    results = os.path.join(BUILD_ROOT, "bench.json" if long_form else "bench-quick.json")
    command = [sys.executable, "bench/run.py", "--rounds", str(rounds), "--out", results,
               "--bin", os.path.join(BUILD_ROOT, "release", "bench"),
               "--stampede", os.path.join(BUILD_ROOT, "release", "stampede"), *([] if long_form else ["--quick"])]
    try:
        if os.path.exists(results):
            os.remove(results)
        said = command_run(command, box(240, long_form), may_fail=True)
        with open(results, encoding="utf-8") as file:
            rows = json.load(file)["rows"]
    except (Ended, OSError, ValueError) as error:
        spine.tell("5", f"no figures: {error}", "BENCH.md", False, time.monotonic() - began)
        return
    if not rows:
        spine.tell("5", f"no rows: {said[-300:]}", "BENCH.md", False, time.monotonic() - began)
    for row in rows:
        figure, goal, ok = row_judged(row)
        if row["goal"] or not ok:
            spine.tell(f"5 {row['name']}", figure, goal, ok, 0)
    print(f"         bar 5 took {time.monotonic() - began:.0f} s; all rows in {os.path.relpath(results, REPOSITORY)}")


# ---- bar 6: sanitizers, analysis, fuzzing ------------------------------------------------------------


def make(words, seconds):
    return command_run(["make", f"BUILD_ROOT={BUILD_ROOT}", *words], seconds)


def sanitized(build, seconds):
    output = make(["unit", f"BUILD={build}"], seconds)
    totals = find(r"^(\d+) passed, (\d+) failed.*", output, "totals")
    return f"units and seams with {build}: {totals.group()}", int(totals.group(1)) > 0 and totals.group(2) == "0"


def analyzed(seconds):
    make(["-k", f"-j{os.cpu_count()}", "clang-tidy", "cppcheck"], seconds)
    return "clang-tidy and cppcheck: no finding", True


def fuzzed(runs, seconds):
    output = make(["fuzz", f"RUNS={runs}"], seconds)
    total = find(r"^fuzz: (\d+) targets, (\d+) runs each, no finding", output, "totals")
    executed = [int(number) for number in re.findall(r"^fuzz \w+: (\d+) runs", output, re.M)]
    least = min(executed, default=0)
    return f"{total.group(1)} targets, at least {least:,} executions each, no finding", least >= runs


def bar_6(spine):
    runs, long_form = asked("RUNS", 20000)
    spine.part("6a", "no finding by ASan and UBSan", lambda: sanitized("asan", box(180, long_form)))
    spine.part("6b", "no finding by TSan", lambda: sanitized("tsan", box(180, long_form)))
    spine.part("6c", "no finding", lambda: analyzed(box(240, long_form)))
    spine.part("6d", f"≥ {runs:,} executions each (the bar: RUNS=1000000)",
               lambda: fuzzed(runs, box(150, long_form)))


BARS = {"1": bar_1, "2": bar_2, "3": bar_3, "4": bar_4, "5": bar_5, "6": bar_6}


if __name__ == "__main__":
    sys.exit(main("check-spine", "The bars of the spine, one line each.", BARS))
