#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a hot hour and a long year cost, one line per bar with its figure.

  make check-growth
  make check-growth GROWTH_ARGS='--bars 1'

Exit status 1 if a bar is missed.
"""
import contextlib
import os
import sys
import tempfile
import time
import types

sys.dont_write_bytecode = True

from bars import BUILD_ROOT, REPOSITORY, main  # noqa: E402

sys.path.insert(1, os.path.join(REPOSITORY, "bench"))
from lab import Lab  # noqa: E402

USERS = 130000
USERS_SECONDS = 10


@contextlib.contextmanager
def shop(tickets_max, settings=()):
    """(lab, server): a server with a data folder of its own, and the bench's load generator."""
    options = types.SimpleNamespace(bin=os.path.join(BUILD_ROOT, "release", "bench"), set=[], keep=False,
                                    stampede=os.path.join(BUILD_ROOT, "release", "stampede"))
    with tempfile.TemporaryDirectory(prefix="growth-") as folder:
        lab = Lab(options, folder)
        try:
            with lab.stampede(tickets_max, settings=settings) as server:
                yield lab, server
        finally:
            lab.close()


def strangers():
    """Each user buys once; the limit by user is the default."""
    with shop(2 * USERS, ["limits.user_requests=10", "limits.user_window_ms=10000"]) as (lab, server):
        source = server.make_requests("win", USERS)
        began = time.monotonic()
        result = lab.load.run(server.port, source, 64, 8, 60, 0, ["--count", str(USERS)])
        seconds = time.monotonic() - began
        refused = USERS - result["status"].get("202", 0)
        return f"{USERS:,} users within {seconds:.1f} s, {refused:,} refused", refused == 0 and seconds <= USERS_SECONDS


def bar_1(bars):
    bars.part("1", f"{USERS:,} users within {USERS_SECONDS} s, none refused by a limit that they did not reach", strangers)


if __name__ == "__main__":
    sys.exit(main("check-growth", __doc__, {"1": bar_1}))
