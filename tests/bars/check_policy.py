#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Merchant policy and operation, one line per bar with its figure.

  make check-policy
  make check-policy POLICY_ARGS='--bars 4'

Exit status 1 if a bar is missed. Leave the machine alone meanwhile.
"""
import sys

sys.dont_write_bytecode = True

import policy_metrics  # noqa: E402
import policy_rehearse  # noqa: E402
from bars import main  # noqa: E402


def bar_3(bars):
    policy_metrics.parts(bars)


def bar_4(bars):
    policy_rehearse.parts(bars)


if __name__ == "__main__":
    sys.exit(main("check-policy", __doc__, {"3": bar_3, "4": bar_4}))
