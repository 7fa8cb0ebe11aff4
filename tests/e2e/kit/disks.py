# SPDX-License-Identifier: Apache-2.0
"""A slow or broken disk under a server's journal or database, by a small library under it (slow_sync.c, built here)."""
import os
import subprocess

from kit import bots
from kit.harness import REPOSITORY, Server, skip, temp_folder


def _library(folder):
    """(the library, None), or (None, why there is none)."""
    library = os.path.join(folder, "slow_sync.so")
    source = os.path.join(REPOSITORY, "tests", "e2e", "kit", "slow_sync.c")
    try:
        done = subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-D_GNU_SOURCE", "-o", library, source, "-ldl"],
                              capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None, "no compiler to build slow_sync.c with"
    return (library, None) if done.returncode == 0 else (None, done.stderr)


class SlowServer(Server):
    """A server whose syncs can be held up. The release build: a sanitizer wants to be the first library under a
    program."""

    def __init__(self, settings=None):
        folder = temp_folder()
        library, self.why = _library(folder)
        self.marks = {name: os.path.join(folder, name) for name in ("SLOW_SYNC", "FAIL_SYNC", "SLOW_DATABASE")}
        super().__init__(settings=settings, binary=bots.binary(),
                         environment={"LD_PRELOAD": library or "", **self.marks})

    def held(self):
        """with server.held(): nothing becomes durable."""
        return _Mark(self, "SLOW_SYNC")

    def database_held(self):
        """with server.database_held(): a commit of the database does not end."""
        return _Mark(self, "SLOW_DATABASE")

    def failing(self):
        """with server.failing(): the next sync writes, and then answers that it could not."""
        return _Mark(self, "FAIL_SYNC")


class _Mark:
    def __init__(self, server, name):
        if server.why is not None:
            skip(f"no slow disk: {server.why}")
        self.path = server.marks[name]

    def __enter__(self):
        with open(self.path, "w", encoding="ascii"):
            pass

    def __exit__(self, *_):
        os.unlink(self.path)
