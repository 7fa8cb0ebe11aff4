# SPDX-License-Identifier: Apache-2.0
"""The Debian package in a clean system of its own: installed, sells, upgraded from an older revision, sells on, verified, purged."""
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from bars import REPOSITORY, Ended, command_run
from kit.harness import spare_port

OLD = os.environ.get("PACKAGE_OLD", "5e3c18ee")  # a revision with the same build dependencies, one schema step back
OLD_VERSION = "0.1.9"
SUITE = "bookworm"
SECONDS = 900
PATIENCE_S = 60
CONFIG = "/etc/stampede/stampede.ini"
KEYS = "/etc/stampede/admin.keys"
DATA = "/var/lib/stampede"


def debian_make(root):
    """A folder with a Debian system of its own that finds packages as this one does."""
    command_run(["debootstrap", "--variant=minbase", SUITE, root], SECONDS)
    for name in ("etc/resolv.conf", "etc/hosts", "etc/apt/apt.conf.d"):
        for path in [f"/{name}"] if not os.path.isdir(f"/{name}") else [os.path.join("/", name, one) for one in os.listdir(f"/{name}")]:
            shutil.copy(path, os.path.join(root, os.path.relpath(path, "/")))


class Shop:
    """A server at a spare port, whatever it runs in."""

    def __init__(self):
        self.port = spare_port()

    @contextlib.contextmanager
    def started(self, command, **options):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **options)
        try:
            deadline = time.monotonic() + PATIENCE_S
            while not self.ready():
                if process.poll() is not None:
                    raise Ended(f"the server ended with {process.returncode}: {process.stderr.read()[-300:]}")
                if time.monotonic() > deadline:
                    raise Ended(f"the server is not ready after {PATIENCE_S} s")
                time.sleep(0.05)
            yield
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE_S)

    def ready(self):
        try:
            return self.ask("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def ask(self, method, path, body=None, **headers):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json", **headers})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read()

    def asked(self, wanted, method, path, body=None, **headers):
        status, reply = self.ask(method, path, body, **headers)
        if status not in wanted:
            raise Ended(f"{method} {path}: {status} {reply[:200]!r}")
        return json.loads(reply)


class System(Shop):
    """A server that is installed in a Debian system of its own."""

    def __init__(self, root):
        super().__init__()
        self.root = root
        debian_make(root)
        policy = os.path.join(root, "usr/sbin/policy-rc.d")  # nothing is started by an installation
        with open(policy, "w") as file:
            file.write("#!/bin/sh\nexit 101\n")
        os.chmod(policy, 0o755)

    def run(self, *words, may_fail=False):
        return command_run(["chroot", self.root, "env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", *words], SECONDS, may_fail=may_fail)

    def install(self, package):
        shutil.copy(package, os.path.join(self.root, "tmp"))
        self.run("apt-get", "install", "-y", "--no-install-recommends", f"/tmp/{os.path.basename(package)}")

    def serving(self):
        """As the unit starts it: its user, its settings, its folder."""
        return self.started(["chroot", self.root, "setpriv", "--reuid=stampede", "--regid=stampede", "--init-groups", "stampede", "serve", "--config",
                             CONFIG, "--data", DATA, "--port", str(self.port), "--set", f"admin.keys={KEYS}"])


def item_open(system, key):
    """An item of two units that sells now."""
    headers = {"Authorization": f"Bearer {key}"}
    now = system.asked((200,), "GET", "/v1/time")["now_ms"]
    product = system.asked((201,), "POST", "/admin/v1/products", {"name": "Kettle", "list_price": 9900, "currency": "CNY"}, **headers)["id"]
    sale = system.asked((201,), "POST", "/admin/v1/sales",
                        {"title": "Package", "start_ms": now + 3600000, "end_ms": now + 7200000, "start_draw_ms": 0}, **headers)["id"]
    item = system.asked((201,), "POST", "/admin/v1/items", {"sale": sale, "product": product, "flash_price": 4900, "total": 2}, **headers)["id"]
    for step in ("publish", "open"):
        system.asked((200, 202), "POST", f"/admin/v1/sales/{sale}/{step}", {}, **headers)
    return item


def buy(system, item):
    """(session, order id)"""
    session = system.asked((200, 201), "POST", "/v1/session", {})["session"]
    bearer = {"Authorization": f"Bearer {session}"}
    proof = system.asked((200, 201), "POST", f"/v1/items/{item}/pass", {}, **bearer)["pass"]
    order = system.asked((202,), "POST", f"/v1/items/{item}/buy", {"quantity": 1}, **{"Stampede-Pass": proof, **bearer})["order"]
    deadline = time.monotonic() + PATIENCE_S
    while system.ask("GET", f"/v1/orders/{order}", **bearer)[0] != 200:
        if time.monotonic() > deadline:
            raise Ended(f"the order was not written within {PATIENCE_S} s")
        time.sleep(0.05)
    return bearer, order


def manuals(package, folder):
    """Renders the manual pages; groff's warnings are a fault."""
    command_run(["dpkg-deb", "-x", package, folder], SECONDS)
    for page in ("man1/stampede.1.gz", "man5/stampede.ini.5.gz"):
        said = command_run(["man", "--warnings", "-l", "-T", "utf8", os.path.join(folder, "usr/share/man", page)], SECONDS)
        if "warning:" in said or len(said) < 1000:
            raise Ended(f"{page}: {said[-300:]}")


def package():
    """(figure, met)"""
    if os.geteuid() != 0:
        return "skipped: a system of its own needs root", True
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="package-") as folder:
        old = command_run([os.path.join(REPOSITORY, "tools/deb"), os.path.join(folder, "old"), OLD, OLD_VERSION], SECONDS).split()[-1]
        new = command_run([os.path.join(REPOSITORY, "tools/deb"), os.path.join(folder, "new")], SECONDS).split()[-1]
        command_run(["lintian", "--fail-on", "error", "--allow-root", new], SECONDS)
        manuals(new, os.path.join(folder, "files"))
        system = System(os.path.join(folder, "system"))
        system.run("apt-get", "update")
        system.install(old)
        key = system.run("stampede", "key", "new", "--name", "bar", "--role", "admin", "--file", KEYS).split()[-1]
        system.run("chown", "stampede", KEYS)
        with system.serving():
            item = item_open(system, key)
            bearer, order = buy(system, item)
        system.install(new)
        with system.serving():
            if system.ask("GET", f"/v1/orders/{order}", **bearer)[0] != 200:
                raise Ended("the order of the older version is not there after the upgrade")
            buy(system, item)
        proof = system.run("stampede", "verify", DATA, "--quiet").strip()
        size = os.path.getsize(new)
        libraries = len(system.run("ldd", "/usr/bin/stampede").splitlines())
        system.run("apt-get", "purge", "-y", "stampede")
        left = [path for path in ("usr/bin/stampede", "etc/stampede/stampede.ini") if os.path.exists(os.path.join(system.root, path))]
        kept = os.path.exists(os.path.join(system.root, DATA.lstrip("/"), "stampede.db"))
    figure = (f"{size / 1e6:.1f} MB, {libraries} shared libraries, no error of lintian; upgraded from {OLD}: 2 of 2 sold, {proof}; "
              f"purged: {'nothing left' if not left else left}, data {'kept' if kept else 'LOST'} ({time.monotonic() - began:.0f} s)")
    return figure, not left and kept
