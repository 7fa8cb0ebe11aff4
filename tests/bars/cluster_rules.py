#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of tests/e2e on other servers than SQLite and the embedded engine (bar 1 of the steps of check-cluster).

As a program: runs the files that it is given, one after the other, with the servers that are there, and prints what each says.

  E2E_STORE=postgres E2E_INVENTORY=redis tools/with-postgres tools/with-redis python3 tests/bars/cluster_rules.py orders/order_life …
"""
import glob
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True

from bars import REPOSITORY, Ended, command_run  # noqa: E402

HERE = os.path.realpath(__file__)
TESTS = os.path.join(REPOSITORY, "tests", "e2e")
FILE_SECONDS = 600
HEAD = "== "

# Rules that only SQLite can keep: (file, rule, why). With other databases a rule that is named here must fail, and no other one may.
ONLY_SQLITE = (
    ("orders/views_beside", "while a commit does not end orders are shown as they were",
     "it holds a commit by a slow disk below SQLite's file; a database server commits elsewhere"),
)


def files(folders):
    """All of these folders."""
    return sorted(os.path.relpath(path, TESTS)[:-len("_test.py")] for folder in folders
                  for path in glob.glob(os.path.join(TESTS, folder, "*_test.py")))


def judge(name, output, exempt):
    """(rules that passed, rules that failed and may, what is wrong). exempt: rules of this file that must fail"""
    total = re.search(r"^(\d+) passed, (\d+) failed", output, re.M)
    if not total:
        return 0, 0, [f"{name}: {output.strip()[-300:]}"]
    failed = re.findall(r"^FAIL(?: +[\d.]+s)? (.*)$", output, re.M)
    known = [rule for rule in exempt if any(line.startswith(f"{rule}:") for line in failed)]
    wrong = [f"{name}: {line[:250]}" for line in failed if not any(line.startswith(f"{rule}:") for rule in known)]
    wrong += [f"{name}: is named as one that only SQLite can keep, and does not fail: {rule}" for rule in exempt if rule not in known]
    return int(total[1]), len(known), wrong


def rules_run(names, wrapper, servers, seconds):
    """(figure, whether all is as it should be). servers: {"E2E_STORE": …}; {}: SQLite and the embedded engine."""
    gone = [file for file, _, _ in ONLY_SQLITE if not os.path.exists(os.path.join(TESTS, f"{file}_test.py"))]
    if gone:
        raise Ended(f"named, but not there: {gone}")
    words = [f"{variable}={value}" for variable, value in servers.items()]
    output = command_run(["env", *words, *wrapper, sys.executable, HERE, *names], seconds, may_fail=True)
    parts = re.split(rf"^{HEAD}(.+)$", output, flags=re.M)
    if "skipped: " in parts[0]:
        return parts[0].strip().splitlines()[-1], True
    outputs = dict(zip(parts[1::2], parts[2::2]))
    if set(outputs) != set(names):
        raise Ended(f"not all files ran: {output[-300:]}")
    exempt = {name: [rule for file, rule, _ in ONLY_SQLITE if file == name and servers] for name in names}
    counted = [judge(name, outputs[name], exempt[name]) for name in names]
    passed, known = (sum(one[at] for one in counted) for at in (0, 1))
    wrong = [line for one in counted for line in one[2]]
    told = f"{len(names)} files, {passed} rules passed, {len(wrong)} failed" + (f", {known} need SQLite" if known else "")
    return " | ".join([told, *wrong[:5]]), not wrong


def main(names):
    for name in names:
        print(f"{HEAD}{name}", flush=True)
        try:
            subprocess.run([sys.executable, os.path.join(TESTS, f"{name}_test.py")], stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT,
                           timeout=FILE_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            print(f"does not end within {FILE_SECONDS} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
