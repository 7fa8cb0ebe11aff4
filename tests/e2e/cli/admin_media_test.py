# SPDX-License-Identifier: Apache-2.0
"""`stampede admin media`: pictures from the command line."""
import os
import subprocess

from kit.harness import Server, equal, rule, run, temp_folder, true
from kit.pictures import png

server = Server().start()


def cli(*words):
    environment = {**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["admin"], "STAMPEDE_URL": f"http://127.0.0.1:{server.port}"}
    return subprocess.run([server.binary, "admin", *words], capture_output=True, text=True, env=environment, timeout=90)


@rule
def the_command_line_adds_lists_and_removes():
    path = os.path.join(temp_folder(), "picture.png")
    with open(path, "wb") as file:
        file.write(png(250, 250, noise=True))
    done = cli("media", "add", path)
    equal(done.returncode, 0, done.stderr)
    kept = next(line.split()[-1] for line in done.stdout.splitlines() if line.startswith("path"))
    equal(server.get(kept).status, 200)
    true(kept in cli("media", "list").stdout)
    equal(cli("media", "remove", kept).returncode, 0)
    equal(server.get(kept).status, 404)
    with open(path, "wb") as file:
        file.write(b"no picture")
    refused = cli("media", "add", path)
    true(refused.returncode == 1 and "not a JPEG" in refused.stderr, refused.stderr)
    with open(path, "wb") as file:
        file.write(png(60, 60)[:-30])
    refused = cli("media", "add", path)
    true(refused.returncode == 1 and "can't be decoded" in refused.stderr, refused.stderr)
    true(cli("media", "add", path + "x").returncode == 2)


run()
