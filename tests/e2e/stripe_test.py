#!/usr/bin/env python3
"""Runs the tests of the stand-in for Stripe (tests/providers/stripe), which hold it, and the fixed vectors of the
unit test, against Stripe's own package. Exit code 77 with a reason means skipped."""

import os
import shutil
import subprocess
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "providers", "stripe")


def packages_brought():
    lock = os.path.join(FOLDER, "package-lock.json")
    mark = os.path.join(FOLDER, "node_modules", ".package-lock.json")
    if os.path.exists(mark) and os.path.getmtime(mark) >= os.path.getmtime(lock):
        return True
    command = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
    done = subprocess.run(command, cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.stdout.buffer.write(done.stdout)
    return done.returncode == 0


def main():
    if shutil.which("node") is None or shutil.which("npm") is None:
        print("skipped: no node")
        return 77
    if not packages_brought():
        print("skipped: npm could not bring the packages of tests/providers/stripe/package-lock.json")
        return 77
    return subprocess.run(["npm", "test", "--silent"], cwd=FOLDER, check=False).returncode


sys.exit(main())
