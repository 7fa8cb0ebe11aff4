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

sys.dont_write_bytecode = True

from bars import BUILD_ROOT, CLEAN_ENVIRONMENT, REPOSITORY, command_run, main, rules, several, storefront  # noqa: E402

os.environ["E2E_SERVER"] = CLEAN_ENVIRONMENT["E2E_SERVER"] = os.path.join(BUILD_ROOT, "release", "stampede")

SECONDS = 1800
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


BARS = {
    "1": lambda bars: [bars.part(f"1 {file.split('.')[0]}", "every screen in both languages in Chromium",
                                 lambda file=file: storefront(".", SECONDS, file)) for file in browser_files()],
    "2": lambda bars: bars.part("2", "no finding of axe, by keyboard alone, in light and dark", lambda: several(
        [storefront("axe|keyboard|contrast|dark", SECONDS, file) for file in ("storefront.test.mjs", "console.test.mjs")])),
    "3": lambda bars: bars.part("3", "60 kB for the storefront, no policy with unsafe", lambda: rules("pages", 300)),
    "4": lambda bars: bars.part("4", "the live screen tells what /metrics tells", lambda: rules("live", 300)),
    "5": lambda bars: bars.part("5", "a CDN carries the pages, the API is on another origin", lambda: several(
        [rules("export", 300), storefront(".", SECONDS, "export.test.mjs"), storefront(".", SECONDS, "embed.test.mjs")])),
    "6": lambda bars: bars.part("6", "the console's door", lambda: rules("console_gate", 300)),
    "7": lambda bars: bars.part("7", f"{SCREENS} pictures by one command", screens),
    "8": lambda bars: bars.part("8", "visitors in the demo, a theme", lambda: several([rules("demo", 300), rules("theme", 300)])),
}

if __name__ == "__main__":
    sys.exit(main("check-pages", __doc__, BARS))
