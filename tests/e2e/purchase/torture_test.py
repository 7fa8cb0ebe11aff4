#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 under load in a quick form; `make torture` is the long one."""
import sys

sys.dont_write_bytecode = True

from kit import torture  # noqa: E402
from kit.harness import Failure, rule, run  # noqa: E402


@rule
def what_was_told_survives_kills_and_nothing_is_invented():
    line, findings = torture.torment(torture.options_read(["--kills", "5"]))
    print(f"     {line}")
    if findings:
        raise Failure("\n".join(findings))


run()
