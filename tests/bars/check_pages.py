#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the pages keep their promises: storefront, console, exported pages, demo; a line per bar.

  make check-pages
  make check-pages PAGES_ARGS='--bars 3,5'

Exit status 1 if a bar is missed.
"""
import functools
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

from bars import BUILD_ROOT, CLEAN_ENVIRONMENT, REPOSITORY, command_run, find, main, rules, several, storefront  # noqa: E402
from kit import harness  # noqa: E402

os.environ["E2E_SERVER"] = CLEAN_ENVIRONMENT["E2E_SERVER"] = os.path.join(BUILD_ROOT, "release", "stampede")

SECONDS = 1800
COST_S = 20
SETTLE_S = 10
CONSOLE_CORES = 0.01
SCREENS = 136  # 17 pages of the storefront and 17 of the console, in two languages and two sizes
CROWD = 20000
SCORE = 95  # of Lighthouse
LIGHTHOUSE = os.path.join(REPOSITORY, "tests", "bars", "lighthouse")


def browser_files():
    return sorted(os.path.basename(path) for path in glob.glob(os.path.join(REPOSITORY, "tests/e2e/storefront/*.test.mjs")))


def story():
    """A sale from its making to its report in the console, under a crowd."""
    CLEAN_ENVIRONMENT.update(CROWD=str(CROWD), TEST_SERVER=os.environ["E2E_SERVER"])
    try:
        output = command_run([os.path.join(REPOSITORY, "tools", "test-storefront"), "console_story.test.mjs"], SECONDS)
    finally:
        CLEAN_ENVIRONMENT.pop("CROWD")
    return find(r"crowd: .*", output, "crowd").group(), True


@functools.cache
def screens():
    """(pictures made, what axe was shown); one run serves two bars."""
    with tempfile.TemporaryDirectory() as folder:
        CLEAN_ENVIRONMENT.update(SHOTS=folder, TEST_SERVER=os.environ["E2E_SERVER"])
        try:
            output = command_run([os.path.join(REPOSITORY, "tools", "test-storefront"), "screens.mjs"], SECONDS)
        finally:
            CLEAN_ENVIRONMENT.pop("SHOTS")
        return len(os.listdir(folder)), find(r"axe: 0 violations in \d+ looks at \d+ pages", output, "looks").group()


def pictures():
    made, _ = screens()
    return f"{made} pictures", made >= SCREENS


def axe():
    _, looked = screens()
    return f"{looked}, in light and dark", True


def lighthouse():
    """Scores of the list and of an item on a throttled phone."""
    brought = subprocess.run([os.path.join(REPOSITORY, "tools", "npm-packages"), LIGHTHOUSE], capture_output=True, text=True, check=False)
    if brought.returncode == 77:
        return "not measured: " + brought.stdout.strip().splitlines()[-1], False
    server = harness.Server().start()
    item = server.open_item(total=100)
    addresses = {"list": f"http://127.0.0.1:{server.port}/", "item": f"http://127.0.0.1:{server.port}/items/{item}/"}
    lines = command_run(["node", "measure.mjs", *addresses.values()], SECONDS, LIGHTHOUSE).splitlines()
    server.stop()
    told = {name: next(json.loads(line) for line in lines if line.startswith("{") and json.loads(line)["address"] == address)
            for name, address in addresses.items()}
    words = [f"{name}: performance {row['performance']}, accessibility {row['accessibility']}, best practices {row['best-practices']} "
             f"(first paint {row['fcp_ms'] / 1000:.1f} s, largest {row['lcp_ms'] / 1000:.1f} s, blocked {row['tbt_ms']:.0f} ms, shift {row['cls']})"
             for name, row in told.items()]
    least = min(row[score] for row in told.values() for score in ("performance", "accessibility", "best-practices"))
    return "; ".join(words), least >= SCORE


def processor_s(process):
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def consoles_cost():
    """Processor time of the server for each open console, which asks for the live screen once a second."""
    server = harness.Server().start()
    server.open_item(total=100)
    time.sleep(SETTLE_S)  # a server that has just started draws pictures for the human check
    spent = {}
    for consoles in (0, 1, 20):
        began = processor_s(server.process.pid)
        end = time.monotonic() + COST_S
        while time.monotonic() < end:
            second = time.monotonic()
            for _ in range(consoles):
                server.admin_ok("GET", "/live", role="viewer")
            time.sleep(max(0, second + 1 - time.monotonic()))
        spent[consoles] = (processor_s(server.process.pid) - began) / COST_S
    server.stop()
    each = (spent[20] - spent[0]) / 20
    return "; ".join(f"{consoles} consoles: {1000 * 60 * spent[consoles]:.0f} ms a minute" for consoles in spent) \
        + f"; {100 * each:.3f} % of a core each", each < CONSOLE_CORES


BARS = {
    "1": lambda bars: [bars.part(f"1 {file.split('.')[0]}", "every screen in both languages in Chromium",
                                 lambda file=file: storefront(".", SECONDS, file)) for file in browser_files()]
    + [bars.part("1s", f"a sale from its making to its report, sold out under a crowd of {CROWD}", story)],
    "2": lambda bars: (bars.part("2", "axe finds nothing on any page, in light and dark", axe),
                       bars.part("2b", "bought, and a sale paused, by keyboard alone", lambda: several(
                           [storefront("keyboard", SECONDS, "storefront.test.mjs"), storefront("published, run and ended", SECONDS, "console.test.mjs")]))),
    "3": lambda bars: (bars.part("3", "60 kB for the storefront, 150 kB for the console, no policy with unsafe", lambda: rules("pages", 300)),
                       bars.part("3b", f"Lighthouse on a throttled phone: {SCORE} at least", lighthouse)),
    "4": lambda bars: (bars.part("4", "the live screen tells what /metrics tells", lambda: rules("live", 300)),
                       bars.part("4b", "an open console costs less than 1 % of a core", consoles_cost)),
    "5": lambda bars: bars.part("5", "a CDN carries the pages, the API is on another origin", lambda: several(
        [rules("export", 300), storefront(".", SECONDS, "export.test.mjs"), storefront(".", SECONDS, "embed.test.mjs")])),
    "6": lambda bars: bars.part("6", "the console's door", lambda: several(
        [rules("console_gate", 300), rules("console_password", 300)])),
    "7": lambda bars: bars.part("7", f"{SCREENS} pictures by one command", pictures),
    "8": lambda bars: bars.part("8", "visitors in the demo, a theme", lambda: several([rules("demo", 300), rules("theme", 300)])),
}

if __name__ == "__main__":
    sys.exit(main("check-pages", __doc__, BARS))
