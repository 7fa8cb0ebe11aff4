# SPDX-License-Identifier: Apache-2.0
"""Wrong clocks for a server's process, by a small library under it (wrong_clocks.c, built here)."""
import os
import subprocess

from kit import bots
from kit.harness import REPOSITORY, Server, skip, temp_folder


def _library(folder):
    """(the library, None), or (None, why there is none)."""
    library = os.path.join(folder, "wrong_clocks.so")
    source = os.path.join(REPOSITORY, "tests", "e2e", "kit", "wrong_clocks.c")
    try:
        done = subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-D_GNU_SOURCE", "-o", library, source, "-ldl"],
                              capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None, "no compiler to build wrong_clocks.c with"
    return (library, None) if done.returncode == 0 else (None, done.stderr)


class WrongServer(Server):
    """A server whose clocks can be set wrong while it runs. The release build: a sanitizer wants to be the first library
    under a program."""

    def __init__(self, settings=None):
        folder = temp_folder()
        library, self.why = _library(folder)
        self.offsets = {clock: os.path.join(folder, clock) for clock in ("WALL", "BOOT")}
        super().__init__(settings=settings, binary=bots.binary(), environment={
            "LD_PRELOAD": library or "", **{f"{clock}_CLOCK_OFFSET": path for clock, path in self.offsets.items()}})

    def _set(self, clock, offset_ms):
        if self.why is not None:
            skip(f"no wrong clock: {self.why}")
        path = self.offsets[clock]
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write(str(offset_ms))
        os.rename(path + ".new", path)

    def wall_set(self, offset_ms):
        """What an administrator, NTP or a resumed virtual machine does to the wall clock."""
        self._set("WALL", offset_ms)

    def time_pass(self, ms):
        """So much time is over, for the clock that carries the server's time."""
        self.passed_ms = getattr(self, "passed_ms", 0) + ms
        self._set("BOOT", self.passed_ms)
