# SPDX-License-Identifier: Apache-2.0
"""The human check with what others have: altcha-lib and the ALTCHA widget of npm, and a browser (tests/human)."""
import json
import os
import shutil
import subprocess

from kit.harness import PICTURES, Server, equal, rule, run, skip, spare_port
from kit.solving import key_of

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
FOLDER = os.path.join(ROOT, "tests", "human")
site_port = spare_port()
server = Server(settings={**PICTURES, "human.pow_hashes": 2000, "cors.origins": f"http://127.0.0.1:{site_port}"})
server.start()


def secret():
    return key_of(server, b"human check").hex()


def node_test(name):
    packages = subprocess.run([os.path.join(ROOT, "tools", "npm-packages"), FOLDER], capture_output=True, text=True)
    if packages.returncode != 0:
        skip(packages.stdout.strip() or packages.stderr.strip())
    items = {check: server.open_item(total=50, sale_fields={"human_check": check})
             for check in ("pow", "image", "slider")}
    environment = {**os.environ, "BASE_URL": f"http://127.0.0.1:{server.port}", "ITEMS": json.dumps(items),
                   "SECRET": secret(), "SITE_PORT": str(site_port), "DATA": server.data,
                   "SOLVING": os.path.join(ROOT, "tests", "e2e", "kit", "solving.py")}
    done = subprocess.run(["node", "--test", name], cwd=FOLDER, env=environment, capture_output=True, text=True,
                          timeout=200)
    equal(done.returncode, 0, done.stdout[-6000:] + done.stderr[-1000:])


@rule
def altcha_lib_solves_and_verifies_ours_and_makes_what_we_accept():
    node_test("library.test.mjs")


@rule
def the_altcha_widget_on_another_site_gets_a_pass():
    if shutil.which("chromium-headless-shell") is None:
        skip("no chromium-headless-shell")
    node_test("widget.test.mjs")


@rule
def the_storefront_asks_in_words_and_by_keyboard():
    if shutil.which("chromium-headless-shell") is None:
        skip("no chromium-headless-shell")
    node_test("storefront.test.mjs")


run()
