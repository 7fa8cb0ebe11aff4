#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the house is in order: the layout and its rules, as figures of the sources, one line per bar.

  make check-rooms
  make check-rooms ROOMS_ARGS='--bars 1,3'
  make check-rooms ROOMS_ARGS='--bars 7' BUSY_RUNS=3    `make test` three times beside a load of 8

Exit status 1 if a bar is missed.
"""
import collections
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True

from bars import BUILD_ROOT, CLEAN_ENVIRONMENT, LONG_SECONDS, REPOSITORY, Ended, asked, box, command_run, main, rules, simulate  # noqa: E402

os.environ["E2E_SERVER"] = CLEAN_ENVIRONMENT["E2E_SERVER"] = os.path.join(BUILD_ROOT, "release", "stampede")

SHARE_MAX = 20  # per cent of the lines of src in one folder
SIGNATURES_MAX = 60  # functions of other folders that take a struct which is not declared for them
CLOSURE_MAX = 25  # headers of ours that one header pulls in
LINES_MAX = 500
# What these declare is made for all others: plain tools, the seams' types, what passes between gateway and worker.
SHARED = ("base", "contract", "api")
SHAPE_LINES = 6
SHAPE_PLACES_MAX = 8
SHAPE_PAIRS_MAX = 60  # for each 100,000 lines
SHAPE_CODE_MIN = 2
SALES_PER_SECOND = 1000
BUSY_LOAD = 8  # processes that compute beside the tests
KEYWORDS = frozenset("bool break case char const continue default do else enum extern false for goto if inline int NULL return "
                     "sizeof static struct switch true typedef union unsigned void while".split())
CODE = re.compile(r"\(|\b(?:case|else|for|if|return|while)\b")


def sources():
    found = {}
    for folder, _, names in os.walk(os.path.join(REPOSITORY, "src")):
        for name in names:
            if name.endswith((".c", ".h")):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    found[os.path.relpath(path, REPOSITORY)] = file.read()
    return found


def without_comments(text):
    return re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def shares(files):
    lines = collections.Counter()
    for path, text in files.items():
        lines[path.split("/")[1]] += text.count("\n")
    folder, most = lines.most_common(1)[0]
    percent = 100 * most / sum(lines.values())
    return f"{folder} has {percent:.1f} % of {sum(lines.values())} lines", percent <= SHARE_MAX


def longest(files):
    long = sorted(((text.count("\n"), path) for path, text in files.items() if text.count("\n") > LINES_MAX), reverse=True)
    return (f"{len(long)} files above {LINES_MAX} lines" + "".join(f", {path} {lines}" for lines, path in long[:3]), not long)


def closures(files):
    included = {path: ["src/" + name for name in re.findall(r'^#include "([^"]+)"', text, re.M)] for path, text in files.items()}

    def closure(path, seen):
        for header in included.get(path, ()):
            if header in included and header not in seen:
                seen.add(header)
                closure(header, seen)
        return seen
    sizes = sorted(((len(closure(path, set())), path) for path in files if path.endswith(".h")), reverse=True)
    above = sum(size > CLOSURE_MAX for size, _ in sizes)
    return f"{above} headers pull in more than {CLOSURE_MAX} of ours, {sizes[0][1]} {sizes[0][0]}", above == 0


def signatures(files):
    """How many functions of other folders take a struct that its folder did not declare for all."""
    owner, takers = {}, collections.Counter()
    for path, text in files.items():
        for name in re.findall(r"^struct (\w+) \{", text, re.M):
            owner.setdefault(name, os.path.dirname(path))
    for path, text in files.items():
        for found in re.finditer(r"^\w[\w \*]*\b\w+\(([^;{}]*)\)\s*\{", without_comments(text), re.M):
            for name in set(re.findall(r"struct (\w+) \*", found.group(1))):
                home = owner.get(name)
                inside = f"{os.path.dirname(path)}/".startswith(f"{home}/") if home else True  # or in a folder below it
                if not inside and home.split("/")[1] not in SHARED:
                    takers[name] += 1
    name, most = takers.most_common(1)[0]
    return f"struct {name} is taken by {most} functions outside its folder", most <= SIGNATURES_MAX


def include_table():
    command_run([os.path.join(REPOSITORY, "tools", "tidy")], 120)
    return "tools/tidy: every folder has its row, nothing else is included", True


def places_of(files, form):
    """{six lines in this form: [(path, index of the first, its number)]}; without comments, includes and what is empty"""
    places = collections.defaultdict(list)
    for path, text in sorted(files.items()):
        lines = ((number, line.strip()) for number, line in enumerate(without_comments(text).splitlines(), 1))
        code = [(number, form(line)) for number, line in lines if form(line) and not line.startswith("#include")]
        for at in range(len(code) - SHAPE_LINES + 1):
            places[tuple(line for _, line in code[at:at + SHAPE_LINES])].append((path, at, code[at][0]))
    return places


def pairs_of(places):
    """{(path, other path): where they first share six lines}; lines that overlap themselves do not count"""
    pairs = {}
    for found in places.values():
        for i, (path, at, number) in enumerate(found):
            for other, other_at, other_number in found[i + 1:]:
                if path != other or other_at - at >= SHAPE_LINES:
                    pairs.setdefault((path, other), f"{path}:{number} ~ {other}:{other_number}")
    return pairs


def repeats(files):
    places = {lines: found for lines, found in places_of(files, str).items() if sum(len(line) > 3 for line in lines) >= 4}
    pairs = pairs_of(places)  # not of braces only
    first = "".join(f", {place}" for place in list(pairs.values())[:3])
    return f"{len(pairs)} pairs of files share six lines to the letter{first}", not pairs


def shape(line):
    """A line with its names, texts and numbers replaced; keywords and punctuation stay. Empty: only punctuation."""
    if not re.search(r"\w", line):
        return ""

    def plain(found):
        word = found.group()
        return word if word in KEYWORDS else "name" if word[0].isalpha() or word[0] == "_" else "value"
    return re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|\w+', plain, line)


def is_code(line):
    """A line of a macro, and a row of a table that a macro makes, are none."""
    return CODE.search(line) and not line.startswith("#") and not line.endswith("\\") and not re.fullmatch(r"name\([^()]*\),", line)


def shapes(files):
    """Pairs of files that share six lines of one shape.

    Not counted: headers, and six lines of which less than two have a call or a word of control (declarations and tables, those of
    macros too: data repeats its shape), and a shape that stands in more than SHAPE_PLACES_MAX places (the manner of the whole tree, not a repeated
    piece)."""
    programs = {path: text for path, text in files.items() if path.endswith(".c")}
    places = {lines: found for lines, found in places_of(programs, shape).items()
              if len(found) <= SHAPE_PLACES_MAX and sum(bool(is_code(line)) for line in lines) >= SHAPE_CODE_MIN}
    pairs = pairs_of(places)
    folders = collections.Counter("/".join(path.split("/")[:2]) for pair in pairs for path in pair)
    most = ", ".join(f"{folder} {count}" for folder, count in folders.most_common(4))
    lines = sum(text.count("\n") for text in files.values())
    return (f"{len(pairs)} pairs of files share six lines of one shape in {lines:,} lines (sides: {most})",
            len(pairs) <= SHAPE_PAIRS_MAX * lines / 100000)


def bar_1(bars):
    files = sources()
    bars.part("1a", f"no folder of src above {SHARE_MAX} % of its lines", lambda: shares(files))
    bars.part("1b", f"no struct taken by more than {SIGNATURES_MAX} functions of other folders", lambda: signatures(files))
    bars.part("1c", f"no header pulls in more than {CLOSURE_MAX} of ours", lambda: closures(files))
    bars.part("1d", f"no file above {LINES_MAX} lines", lambda: longest(files))
    bars.part("1e", "include table without exceptions, recipes with at most four files", include_table)


def bar_3(bars):
    files = sources()
    bars.part("3a", "no six lines stand twice to the letter", lambda: repeats(files))
    bars.part("3b", f"at most {SHAPE_PAIRS_MAX} pairs in 100,000 lines", lambda: shapes(files))


def sales(seeds, seconds):
    began = time.monotonic()
    simulate(["--seeds", str(seeds), "--jobs", str(os.cpu_count())], seconds)
    pace = seeds / (time.monotonic() - began)
    return f"{seeds} sales without a violation, {pace:.0f} a second on {os.cpu_count()} cores", pace >= SALES_PER_SECOND


def bar_4(bars):
    seeds, long_form = asked("SEEDS", 20000)
    bars.part("4", f"simulated sales with the product's own cashier, {SALES_PER_SECOND} a second on all cores", lambda: sales(seeds, box(120, long_form)))


def bar_6(bars):
    bars.part("6", "a data folder of an earlier version opens, migrates, verifies and sells", lambda: rules("old_folder", 240))


def busy_runs(runs):
    """`make test` again and again beside processes that compute all the time."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY_LOAD)]
    said, good = [], True
    del CLEAN_ENVIRONMENT["E2E_SERVER"]  # `make test` knows which one it tests
    try:
        for run in range(1, runs + 1):
            began = time.monotonic()
            output = command_run(["make", "test"], LONG_SECONDS, may_fail=True)
            totals = re.findall(r"^(\d+) passed, (\d+) failed", output, re.M)
            if not totals:
                raise Ended(f"run {run}: {output[-300:]}")
            alone = len(re.findall(r"^passed only alone: ", output, re.M))
            said.append(f"{totals[-1][0]} passed, {totals[-1][1]} failed ({alone} programs only alone) in {(time.monotonic() - began) / 60:.0f} min")
            good = good and totals[-1][1] == "0"
            print(f"  run {run} of {runs}: {said[-1]}", flush=True)
            if totals[-1][1] != "0":
                print(output[-3000:], flush=True)
    finally:
        for other in others:
            other.kill()
            other.wait()
    return "; ".join(said), good


def bar_7(bars):
    runs, _ = asked("BUSY_RUNS", 0)
    if runs:
        bars.part("7", f"`make test` beside a load of {BUSY_LOAD}, {runs} times in a row, 0 failed", lambda: busy_runs(runs))
    else:
        print("  7 was not asked for: BUSY_RUNS=3, some 40 minutes each")


BARS = {"1": bar_1, "3": bar_3, "4": bar_4, "6": bar_6, "7": bar_7}

if __name__ == "__main__":
    sys.exit(main("check-rooms", "The bars of the layout, one line each.", BARS))
