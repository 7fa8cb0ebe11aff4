# SPDX-License-Identifier: Apache-2.0
"""One server sells with a database: MariaDB."""
from kit.held_rules import run_on

run_on("mysql")
