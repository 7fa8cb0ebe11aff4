# SPDX-License-Identifier: Apache-2.0
"""What the scripts that check bars share: a line per part with its figure, a box of time for each, no process left behind."""
import argparse
import concurrent.futures
import glob
import os
import re
import signal
import subprocess
import sys
import time

from kit import harness

REPOSITORY = harness.REPOSITORY
BUILD_ROOT = os.path.abspath(os.path.join(REPOSITORY, os.environ.get("BUILD_ROOT", "build")))
LONG_SECONDS = 6 * 3600  # the box of a part whose size was asked for
CLEAN_ENVIRONMENT = {name: value for name, value in os.environ.items()
                     if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")}


def asked(name, quick):
    """(the size of a part, whether it was asked for)"""
    return (int(os.environ[name]), True) if os.environ.get(name) else (quick, False)


def box(seconds, long_form):
    return LONG_SECONDS if long_form else seconds


class Ended(Exception):
    """A part that has no figure: what happened instead."""


def command_run(command, seconds, folder=REPOSITORY, may_fail=False):
    """Its output. In a group of its own, which ends with it."""
    process = subprocess.Popen(command, cwd=folder, env=CLEAN_ENVIRONMENT, stdin=subprocess.DEVNULL, text=True,
                               errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        group_end(process)
        raise Ended(f"did not end within {seconds:.0f} s") from None
    finally:
        group_end(process)
    if process.returncode != 0 and not may_fail:
        lines = output.strip().splitlines()
        telling = [line for line in lines if re.search(r"VIOLATION|^seed |: error|FAIL", line)]
        raise Ended(f"exit code {process.returncode}: {' | '.join((telling or lines)[-4:])[-500:]}")
    return output


def group_end(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.communicate()


def find(pattern, text, what):
    found = re.search(pattern, text, re.M)
    if not found:
        raise Ended(f"no {what} in: {text[-300:]}")
    return found


class Bars:
    """Tells and counts. name: of the make target."""
    def __init__(self, name):
        self.name = name
        self.began = time.monotonic()
        self.met = []
        self.failed = []

    def tell(self, bar, figure, goal, ok, seconds, explained=None):
        word = "ok" if ok else "FAIL"
        took = f" ({seconds:.0f} s)" if seconds else ""
        print(f"bar {bar:<3} {figure}; goal {goal}; {word}{took}", flush=True)
        if ok:
            self.met.append(bar)
        else:
            self.failed.append(f"{bar} ({explained})" if explained else bar)

    def part(self, bar, goal, measure, explained=None):
        """measure() answers (figure, whether the goal is met). explained: where a miss that is known is explained."""
        began = time.monotonic()
        try:
            figure, ok = measure()
        except (Ended, harness.Failure, harness.Closed, OSError, ValueError, KeyError) as error:
            figure, ok = f"no figure: {error}", False
        self.tell(bar, figure, goal, ok, time.monotonic() - began, explained)

    def parts(self, at_once, parts):
        """[(bar, goal, measure)], some at a time, told in this order; the seconds of a line are those that it was waited for."""
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            for bar, goal, measured in [(bar, goal, pool.submit(measure)) for bar, goal, measure in parts]:
                self.part(bar, goal, measured.result)

    def end(self):
        seconds = time.monotonic() - self.began
        verdict = "all bars are met" if not self.failed else f"short of: {', '.join(self.failed)}"
        if self.failed and self.met:
            print(f"{self.name}: met: {', '.join(self.met)}")
        print(f"{self.name}: {verdict} ({seconds:.0f} s)")
        return 1 if self.failed else 0


def rules(name, seconds, only="", **sizes):
    """Runs tests/e2e/*/NAME_test.py; (what it counted, whether all of it passed)."""
    paths = glob.glob(os.path.join(REPOSITORY, "tests", "e2e", "*", f"{name}_test.py"))
    if len(paths) != 1:
        raise Ended(f"{name}_test.py: {len(paths)} of that name")
    CLEAN_ENVIRONMENT.update({size: str(value) for size, value in sizes.items()})
    output = command_run([sys.executable, paths[0], *([only] if only else [])], seconds, may_fail=True)
    total = re.search(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?", output, re.M)
    if not total:
        raise Ended(f"{name}_test.py: {output[-400:]}")
    counted = [line.strip() for line in output.splitlines() if re.match(r"     \S", line)]
    wrong = [line for line in output.splitlines() if line.startswith("FAIL")]
    passed, failed, skipped = (int(number or 0) for number in total.groups())
    return " | ".join([f"{name}: {total.group()}", *counted, *wrong])[:900], passed > 0 and failed == 0 and skipped == 0


def several(parts):
    """One part out of what rules(), units() … answered."""
    figures, good = zip(*parts)
    return "; ".join(figures), all(good)


def units(name, seconds, **sizes):
    """Runs the unit tests tests/unit/NAME_test; (what they counted, whether all of them passed)."""
    if not os.path.exists(os.path.join(REPOSITORY, "tests", "unit", f"{name}_test.c")):
        raise Ended(f"tests/unit/{name}_test.c: not there yet")
    CLEAN_ENVIRONMENT.update({size: str(value) for size, value in sizes.items()})
    output = command_run([os.path.join(BUILD_ROOT, "sim", "tests", "unit", f"{name}_test")], seconds, may_fail=True)
    passed = re.search(r"^\[  PASSED  \] (\d+) test", output, re.M)
    failed = re.search(r"^\[  FAILED  \] (\d+) test", output, re.M)
    if not passed and not failed:
        raise Ended(f"{name}: {output[-400:]}")
    counted = [line.strip() for line in output.splitlines() if re.match(r"     \S", line)]
    numbers = [int(found.group(1)) if found else 0 for found in (passed, failed)]
    return " | ".join([f"{name}: {numbers[0]} passed, {numbers[1]} failed", *counted])[:900], numbers[0] > 0 and numbers[1] == 0


def storefront(pattern, seconds, file="front.test.mjs"):
    """Runs the browser's tests of one file whose name matches; (what they counted, whether all passed)."""
    CLEAN_ENVIRONMENT["TEST_SERVER"] = os.path.join(BUILD_ROOT, "release", "stampede")
    output = command_run([os.path.join(REPOSITORY, "tools", "test-storefront"), "--test-reporter=tap",
                          f"--test-name-pattern={pattern}", file], seconds, may_fail=True)
    passed, failed = (re.search(rf"^# {word} (\d+)", output, re.M) for word in ("pass", "fail"))
    if not passed or not failed:
        raise Ended(f"storefront: {output[-400:]}")
    numbers = [int(found.group(1)) for found in (passed, failed)]
    wrong = re.findall(r"^ +not ok \d+ - (.*)$", output, re.M)
    return " | ".join([f"browser: {numbers[0]} passed, {numbers[1]} failed", *wrong])[:900], numbers[0] > 0 and numbers[1] == 0


def simulate(words, seconds):
    return command_run([os.path.join(BUILD_ROOT, "sim", "tests", "simulation", "simulate"), *words], seconds)


def mutants_seen(tables, seconds, least=20):
    """The mutants of these tables of tests/mutation that the simulator must see; it looks for each 60 s at most."""
    output = command_run([os.path.join(REPOSITORY, "tools", "mutate"), "--build-root", BUILD_ROOT, "--suite", "simulation",
                          "--pick", tables], seconds, may_fail=True)
    counts = find(r"^\d+ mutants: (\d+) killed \([\d.]+ %\), (\d+) survived, (\d+) mistakes, (\d+) s$", output, "mutants")
    killed, survived, mistakes = (int(counts.group(number)) for number in (1, 2, 3))
    return f"{killed} mutants seen, {survived} missed, {mistakes} do not build", \
        killed >= least and survived == 0 and mistakes == 0


def main(name, description, bars):
    """bars: {"1": function of Bars, …}. The exit status."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--bars", default=",".join(bars), help="some of them, separated by commas")
    chosen = parser.parse_args().bars.split(",")
    if not set(chosen) <= set(bars):
        parser.error(f"bars are {', '.join(bars)}")
    told = Bars(name)
    for bar in chosen:
        bars[bar](told)
    return told.end()
