#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`stampede verify` of a shop on Redis and MariaDB."""
from kit.verify_rules import run_on

run_on("mysql")
