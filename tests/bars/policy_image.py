# SPDX-License-Identifier: Apache-2.0
"""The container file: built by buildah without a container engine, on a Debian system of our own instead of a registry's; then it sells."""
import os
import subprocess
import tempfile
import time

from bars import REPOSITORY, Ended, command_run
from policy_package import Shop, buy, debian_make, item_open

SECONDS = 1800
BASES = ("docker.io/library/debian:12", "docker.io/library/debian:12-slim")
KEYS = "/var/lib/stampede/admin.keys"


class Images:
    """Buildah's own folder of images, apart from the machine's."""

    def __init__(self, folder):
        self.words = ["buildah", "--root", os.path.join(folder, "images"), "--runroot", os.path.join(folder, "run"), "--storage-driver", "vfs"]

    def run(self, *words):
        return command_run([*self.words, *words], SECONDS).strip()

    def base_make(self, root, name):
        container = self.run("from", "scratch").split()[-1]
        self.run("add", "--quiet", container, root, "/")
        self.run("commit", "--quiet", container, name)
        self.run("rm", container)


def image():
    """(figure, met)"""
    if os.geteuid() != 0:
        return "skipped: a system of its own needs root", True
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="image-") as folder:
        images = Images(folder)
        tree, base = (os.path.join(folder, name) for name in ("tree", "base"))
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", f"file://{REPOSITORY}", tree], check=True)
        debian_make(base)
        for name in BASES:
            images.base_make(base, name)
        images.run("build", "--pull-never", "--isolation", "chroot", "--network", "host", "-f", os.path.join(tree, "deploy/cluster/Containerfile"),
                   "-t", "stampede", tree)
        container = images.run("from", "--pull-never", "localhost/stampede").split()[-1]
        inside = ["run", "--isolation", "chroot", "--network", "host", "--env", "STAMPEDE_SERVER_ADDRESS=127.0.0.1",
                  "--env", "STAMPEDE_SESSION_GUESTS=yes", "--env", f"STAMPEDE_ADMIN_KEYS={KEYS}", container]
        key = images.run(*inside, "/usr/bin/stampede", "key", "new", "--name", "bar", "--role", "admin", "--file", KEYS).split()[-1]
        user = images.run(*inside, "/usr/bin/id", "-u").split()[-1]
        if user == "0":
            raise Ended("the server of the image runs as root")
        shop = Shop()
        with shop.started([*images.words, *inside, "/usr/bin/stampede", "serve", "--port", str(shop.port)]):
            buy(shop, item_open(shop, key))
        images.run("rm", container)
    return f"built, sold one unit as user {user} ({time.monotonic() - began:.0f} s)", True
