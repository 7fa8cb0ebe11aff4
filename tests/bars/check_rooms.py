#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the house is in order: the layout and its rules, as figures of the sources, one line per bar.

  make check-rooms
  make check-rooms ROOMS_ARGS='--bars 1,3'

Exit status 1 if a bar is missed.
"""
import collections
import os
import re
import sys
import time

sys.dont_write_bytecode = True

from bars import BUILD_ROOT, CLEAN_ENVIRONMENT, REPOSITORY, asked, box, command_run, main, rules, simulate  # noqa: E402

os.environ["E2E_SERVER"] = CLEAN_ENVIRONMENT["E2E_SERVER"] = os.path.join(BUILD_ROOT, "release", "stampede")

SHARE_MAX = 20  # per cent of the lines of src in one folder
SIGNATURES_MAX = 60  # functions of other folders that take a struct which is not declared for them
CLOSURE_MAX = 25  # headers of ours that one header pulls in
LINES_MAX = 500
# What these declare is made for all others: plain tools, the seams' types, what passes between gateway and worker.
SHARED = ("base", "contract", "api")
SHAPE_LINES = 6


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
                if home and home != os.path.dirname(path) and home.split("/")[1] not in SHARED:
                    takers[name] += 1
    name, most = takers.most_common(1)[0]
    return f"struct {name} is taken by {most} functions outside its folder", most <= SIGNATURES_MAX


def include_table():
    command_run([os.path.join(REPOSITORY, "tools", "tidy")], 120)
    return "tools/tidy: every folder has its row, nothing else is included", True


def repeats(files):
    """(runs of six lines that stand twice to the letter, the first of them)"""
    places, pairs = collections.defaultdict(list), []
    for path, text in sorted(files.items()):
        lines = [(number, line.strip()) for number, line in enumerate(without_comments(text).splitlines(), 1)]
        code = [(number, line) for number, line in lines if line and not line.startswith("#include")]
        for at in range(len(code) - SHAPE_LINES + 1):
            window = tuple(line for _, line in code[at:at + SHAPE_LINES])
            if sum(len(line) > 3 for line in window) >= 4:  # not only braces
                places[window].append((path, code[at][0]))
    ends = {}
    for window, found in places.items():
        for other in found[1:]:
            run = (found[0][0], other[0])
            if ends.get(run, (-9, -9))[1] + 1 < other[1]:
                pairs.append((found[0], other))
            ends[run] = (found[0][1], other[1])
    first = "".join(f", {a[0]}:{a[1]} = {b[0]}:{b[1]}" for a, b in pairs[:3])
    return f"{len(pairs)} places repeat six lines to the letter{first}", not pairs


def bar_1(bars):
    files = sources()
    bars.part("1a", f"no folder of src above {SHARE_MAX} % of its lines", lambda: shares(files))
    bars.part("1b", f"no struct taken by more than {SIGNATURES_MAX} functions of other folders", lambda: signatures(files))
    bars.part("1c", f"no header pulls in more than {CLOSURE_MAX} of ours", lambda: closures(files))
    bars.part("1d", f"no file above {LINES_MAX} lines", lambda: longest(files))
    bars.part("1e", "include table without exceptions, recipes with at most four files", include_table)


def bar_3(bars):
    bars.part("3", "no six lines stand twice to the letter", lambda: repeats(sources()))


def sales(seeds, seconds):
    began = time.monotonic()
    simulate(["--seeds", str(seeds)], seconds)
    pace = seeds / (time.monotonic() - began)
    return f"{seeds} sales without a violation, {pace:.0f} a second", True


def bar_4(bars):
    seeds, long_form = asked("SEEDS", 2000)
    bars.part("4", "simulated sales with the product's own cashier", lambda: sales(seeds, box(120, long_form)))


def bar_6(bars):
    bars.part("6", "a data folder of an earlier version opens, migrates, verifies and sells", lambda: rules("old_folder", 240))


BARS = {"1": bar_1, "3": bar_3, "4": bar_4, "6": bar_6}

if __name__ == "__main__":
    sys.exit(main("check-rooms", "The bars of the layout, one line each.", BARS))
