# SPDX-License-Identifier: Apache-2.0
"""What the rows about growth share: a server of the release build, the processor time of its threads, the exponent of a cost."""
import contextlib
import glob
import math
import os
import sqlite3
import statistics
import sys
import tempfile
import time
import types

from bars import BUILD_ROOT, REPOSITORY
from kit.harness import Server

sys.path.insert(1, os.path.join(REPOSITORY, "bench"))
from lab import Lab  # noqa: E402

EXPONENT_MAX = 0.2
ROUNDS = 6           # of pairs with nginx
SLICE_SECONDS = 0.5


@contextlib.contextmanager
def laboratory():
    """The bench's servers and its load generator, with the programs of the release build."""
    options = types.SimpleNamespace(bin=os.path.join(BUILD_ROOT, "release", "bench"), set=[], keep=False, quick=True,
                                    rounds=ROUNDS, slice=SLICE_SECONDS,
                                    stampede=os.path.join(BUILD_ROOT, "release", "stampede"))
    with tempfile.TemporaryDirectory(prefix="growth-") as folder:
        lab = Lab(options, folder)
        try:
            yield lab
        finally:
            lab.close()


@contextlib.contextmanager
def shop(tickets_max, settings=(), **more):
    """(lab, server): a server with a data folder of its own, and the bench's load generator."""
    with laboratory() as lab, lab.stampede(tickets_max, settings=settings, **more) as server:
        yield lab, server


@contextlib.contextmanager
def serving(**settings):
    """A server, not started yet. GROWTH_SERVER names another binary, to compare."""
    binary = os.environ.get("GROWTH_SERVER", os.path.join(BUILD_ROOT, "release", "stampede"))
    server = Server({name.replace("__", "."): value for name, value in settings.items()}, binary=binary)
    try:
        yield server
    finally:
        if server.process is not None and server.alive():
            server.kill()


@contextlib.contextmanager
def database(server):
    """Of a server that does not run."""
    connection = sqlite3.connect(os.path.join(server.data, "stampede.db"))
    try:
        yield connection
        connection.commit()
    finally:
        connection.close()


def thread_seconds(server, *names):
    """Processor time that the threads of these names have used; at least one of them must be there."""
    used, found = 0, False
    for path in glob.glob(f"/proc/{server.process.pid}/task/*/comm"):
        with open(path) as comm:
            if comm.read().strip() not in names:
                continue
        found = True
        with open(os.path.join(os.path.dirname(path), "schedstat")) as figures:
            used += int(figures.read().split()[0])
    if not found:
        raise ValueError(f"the server has no thread {' or '.join(names)}")
    return used / 1e9


def spent(server, name, work):
    """Seconds of the processor that a thread uses while `work` is done."""
    before = thread_seconds(server, name)
    work()
    return thread_seconds(server, name) - before


def idle_share(server, name, seconds=3):
    return spent(server, name, lambda: time.sleep(seconds)) / seconds


def exponent(sizes, costs):
    """Of cost = a × size^exponent, by least squares of the logarithms. A cost of nothing was not measured."""
    if min(costs) <= 0:
        raise ValueError(f"not measured: costs of {costs}")
    x, y = [math.log(size) for size in sizes], [math.log(cost) for cost in costs]
    middle_x, middle_y = statistics.fmean(x), statistics.fmean(y)
    return (sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y)) / sum((a - middle_x) ** 2 for a in x))


def told(sizes, costs, unit, what):
    """(figure, whether the exponent is small enough). Costs in `unit`."""
    grows = exponent(sizes, costs)
    figures = ", ".join(f"{cost:,.3g}" for cost in costs)
    named = ", ".join(f"{size:,}" for size in sizes)
    return f"{what}: {figures} {unit} at {named}, exponent {grows:.2f}", grows <= EXPONENT_MAX
