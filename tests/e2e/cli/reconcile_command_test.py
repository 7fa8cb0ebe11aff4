#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`stampede reconcile`: what it prints and how it ends."""
import os
import subprocess

from kit.harness import equal, rule, run, true
from kit.reconcile_shop import Shop, cli, database, open_shop, server

open_shop()

@rule
def wrong_arguments_small_roles_and_missing_servers_end_with_2():
    equal(cli("--repair", key="operator")[0], 2)
    equal(cli("--nonsense")[0], 2)
    done = subprocess.run([server.binary, "reconcile", "--url", "http://127.0.0.1:1"], capture_output=True, timeout=30,
                          env={**os.environ, "STAMPEDE_ADMIN_KEY": "x"})
    equal(done.returncode, 2)


@rule
def findings_end_with_1_and_repaired_ones_with_0():
    server.stop()
    database("UPDATE items SET sold = sold + 1 WHERE id = %d" % Shop.one)
    server.start()
    code, out, _ = cli(key="operator")
    true(code == 1 and "sold-differs: can be repaired (--repair)" in out and "1 found, 0 repaired, 1 left" in out, out)
    code, out, _ = cli("--repair")
    true(code == 0 and "sold-differs: repaired" in out, out)
    code, out, _ = cli()
    true(code == 0 and out.endswith("nothing found\n"), out)
    equal(cli("--help")[0], 0)


run()
