# SPDX-License-Identifier: Apache-2.0
"""The server with its orders in PostgreSQL."""
from kit.database_rules import run_on

run_on("postgres")
