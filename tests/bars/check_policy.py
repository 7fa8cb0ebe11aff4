#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Merchant policy and operation, one line per bar with its figure.

  make check-policy
  make check-policy POLICY_ARGS='--bars 4'

ARCHIVED_SALES=100 makes bar 5 smaller. Exit status 1 if a bar is missed. Leave the machine alone meanwhile.
"""
import sys

sys.dont_write_bytecode = True

import policy_archive  # noqa: E402
import policy_rehearse  # noqa: E402
from bars import main  # noqa: E402


def bar_4(bars):
    policy_rehearse.parts(bars)


def bar_5(bars):
    policy_archive.parts(bars)


if __name__ == "__main__":
    sys.exit(main("check-policy", __doc__, {"4": bar_4, "5": bar_5}))
