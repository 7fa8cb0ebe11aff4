# SPDX-License-Identifier: Apache-2.0
"""What the tests of a second machine share: a server, its follower, and the taking over. Both are real processes with folders of
their own; the way between them is loopback."""
import os
import random
import signal
import subprocess
import time

from kit import harness
from kit.harness import Server, equal, eventually, spare_port, temp_folder, true

SECRET = "a secret of forty characters, or longer."


def secret_file(folder, secret=SECRET):
    path = os.path.join(folder, f"follow-secret-{random.randrange(1 << 30)}")
    with open(path, "w") as file:
        file.write(secret + "\n")
    os.chmod(path, 0o600)
    return path


class Follower:
    """`stampede follow`. data: its folder; log(): what it wrote."""

    def __init__(self, address, binary, data=None, secret=SECRET, preexec=None):
        self.folder = temp_folder()
        self.address, self.binary, self.preexec = address, binary, preexec
        self.data = data or os.path.join(self.folder, "copy")
        self.secret = secret_file(self.folder, secret)
        self.log_path = os.path.join(self.folder, "log")
        self.process = None
        harness.running.append(self)

    def words(self):
        return [self.binary, "follow", "--from", self.address, "--data", self.data, "--secret-file", self.secret]

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.words(), stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                            preexec_fn=self.preexec)
        return self

    def refused(self):
        """(exit code, what it says) of a follower that must not run."""
        done = subprocess.run(self.words(), capture_output=True, text=True, timeout=harness.PATIENCE_S)
        return done.returncode, done.stdout + done.stderr

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        equal(self.process.wait(harness.PATIENCE_S), 0, self.log()[-1000:])

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def log(self):
        if not os.path.exists(self.log_path):
            return ""
        with open(self.log_path, errors="replace") as file:
            return file.read()

    def verify(self):
        """The copy of a follower that has ended holds what verify checks."""
        if os.path.exists(os.path.join(self.data, "identity")):
            done = subprocess.run([self.binary, "verify", self.data], capture_output=True, text=True, timeout=120)
            equal(done.returncode, 0, done.stdout + done.stderr)

    def status(self):
        return subprocess.run([self.binary, "follow", "status", "--data", self.data], capture_output=True, text=True, timeout=60)

    def whole(self):
        eventually(lambda: "copy: whole" in self.status().stdout, f"no whole copy: {self.log()[-1000:]}")
        return self

    def takeover(self, *more):
        return subprocess.run([self.binary, "follow", "takeover", "--data", self.data, *more], capture_output=True, text=True,
                              timeout=240)

    def took_over(self, *more):
        """Seconds."""
        began = time.monotonic()
        done = self.takeover(*more)
        equal(done.returncode, 0, done.stdout + done.stderr + self.log()[-1500:])
        true("taken over: generation" in done.stdout, done.stdout)
        return time.monotonic() - began


class Followed(Server):
    """A server that listens for a follower."""

    def __init__(self, settings=None, data=None, binary=None, port=None, peer=None):
        self.follow_port = port or spare_port()
        base = temp_folder()
        super().__init__(data=data, binary=binary, settings={
            "follow.listen": f"127.0.0.1:{self.follow_port}", "follow.secret_file": secret_file(base),
            "data.segment_bytes": 1024 * 1024 + 4096,
            **({"follow.peer": f"127.0.0.1:{peer}"} if peer else {}), **(settings or {})})

    @property
    def address(self):
        return f"127.0.0.1:{self.follow_port}"

    def current(self):
        """The follower has everything, and purchases go on: the server looks at that ten times a second."""
        eventually(lambda: (now := self.metrics())["stampede_follow_current"] == 1 and now["stampede_wins_stopped"] == 0,
                   f"no follower: {self.log()[-1500:]}")
        return self


def pair(settings=None, binary=None, data=None):
    """A server that sells and a follower that has everything."""
    server = Followed(settings, binary=binary, data=data)
    server.spawn()
    follower = Follower(server.address, server.binary).start()
    ready(server)
    follower.whole()
    server.current()
    return server, follower


def ready(server):
    def is_ready():
        true(server.process.poll() is None, server.log()[-2000:])
        try:
            return server.request("GET", "/readyz").status == 200
        except (OSError, harness.Closed):
            return False
    eventually(is_ready, f"not ready: {server.log()[-1500:]}")
    return server


def order_of(to, buyer, ticket):
    def written():
        order = to.get(f"/v1/tickets/{ticket}", session=buyer.session).json()
        return order if order.get("state") != "creating" else None
    return eventually(written)


def heir(follower, of, **settings):
    """A server on what a follower has taken over."""
    own = ("server.port", "data.folder", "follow.peer", "follow.listen", "admin.keys")
    return Followed(data=follower.data, settings={**{name: value for name, value in of.settings.items() if name not in own},
                                                  **settings})


def heir_keeps(server, told):
    """It sells, has each order of `told` ((buyer, ticket), not paid), stops, and verifies."""
    ready(server)
    for buyer, ticket in told:
        equal(order_of(server, buyer, ticket)["state"], "pending")
    server.stop()
    server.verify()
