#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the pages keep their promises: storefront, console, exported pages, demo; a line per bar.

  make check-pages
  make check-pages PAGES_ARGS='--bars 3,5'

Exit status 1 if a bar is missed.
"""
import glob
import os
import sys
import tempfile
import time

sys.dont_write_bytecode = True

from bars import BUILD_ROOT, CLEAN_ENVIRONMENT, REPOSITORY, command_run, main, rules, several, storefront  # noqa: E402
from kit import harness  # noqa: E402

os.environ["E2E_SERVER"] = CLEAN_ENVIRONMENT["E2E_SERVER"] = os.path.join(BUILD_ROOT, "release", "stampede")

SECONDS = 1800
COST_S = 20
SETTLE_S = 10
CONSOLE_CORES = 0.01
SCREENS = 52  # 8 screens of the storefront and 5 of the console, in two languages and two sizes


def browser_files():
    return sorted(os.path.basename(path) for path in glob.glob(os.path.join(REPOSITORY, "tests/e2e/storefront/*.test.mjs")))


def screens():
    with tempfile.TemporaryDirectory() as folder:
        CLEAN_ENVIRONMENT.update(SHOTS=folder, TEST_SERVER=os.environ["E2E_SERVER"])
        command_run([os.path.join(REPOSITORY, "tools", "test-storefront"), "screens.mjs"], SECONDS)
        made = len(os.listdir(folder))
        CLEAN_ENVIRONMENT.pop("SHOTS")
    return f"{made} pictures", made >= SCREENS


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
                                 lambda file=file: storefront(".", SECONDS, file)) for file in browser_files()],
    "2": lambda bars: bars.part("2", "no finding of axe, by keyboard alone, in light and dark", lambda: several(
        [storefront("axe|keyboard|contrast|dark", SECONDS, file) for file in ("storefront.test.mjs", "console.test.mjs")])),
    "3": lambda bars: bars.part("3", "60 kB for the storefront, no policy with unsafe", lambda: rules("pages", 300)),
    "4": lambda bars: (bars.part("4", "the live screen tells what /metrics tells", lambda: rules("live", 300)),
                       bars.part("4b", "an open console costs less than 1 % of a core", consoles_cost)),
    "5": lambda bars: bars.part("5", "a CDN carries the pages, the API is on another origin", lambda: several(
        [rules("export", 300), storefront(".", SECONDS, "export.test.mjs"), storefront(".", SECONDS, "embed.test.mjs")])),
    "6": lambda bars: bars.part("6", "the console's door", lambda: several(
        [rules("console_gate", 300), rules("console_password", 300)])),
    "7": lambda bars: bars.part("7", f"{SCREENS} pictures by one command", screens),
    "8": lambda bars: bars.part("8", "visitors in the demo, a theme", lambda: several([rules("demo", 300), rules("theme", 300)])),
}

if __name__ == "__main__":
    sys.exit(main("check-pages", __doc__, BARS))
