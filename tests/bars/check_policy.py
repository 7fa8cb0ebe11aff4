#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a merchant decides, one line per bar with its figure.

  make check-policy
  make check-policy POLICY_ARGS='--bars 2'

The last lines say which are met and which are not. Exit status 1 if a bar is missed.
"""
import sys

sys.dont_write_bytecode = True

import policy_remedies  # noqa: E402
from bars import main  # noqa: E402


def bar_2(bars):
    policy_remedies.parts(bars)


if __name__ == "__main__":
    sys.exit(main("check-policy", __doc__, {"2": bar_2}))
