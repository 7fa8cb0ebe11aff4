#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A flood of Stampede beside another service on the same machine (bar 6 of step 3 of check-cluster, row B6).

  python3 tests/bars/cluster_neighbour.py [--rounds 5] [--seconds 4] [--weight idle|1-10000|none]

The neighbour is nginx with an empty answer, asked 400 times a second (open loop: a late answer counts from when it was due). It is measured in turns
without and with a flood of Stampede: 256 connections that ask for a sold-out item as fast as it answers. Stampede runs as a systemd unit with
deploy/stampede-beside.conf would: in a control group with that CPUWeight and MemoryMax; the flood's own client is in that group, too, since
it stands for other machines. Where no control group can be made: nice 19, and the line says so.
Good is: the neighbour's median and p99 with the flood are at most as much later as LATER_MS says, and nobody is refused.
Prints a line of figures, then what is wrong; exit status 1 if something is.
"""
import argparse
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from bars import REPOSITORY  # noqa: E402
from kit import crowd  # noqa: E402
from kit.harness import Server, eventually, temp_folder  # noqa: E402

ROOTS = ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup")
MEMORY = ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
MEMORY_BYTES = 2 << 30
RATE, FLOOD_CONNECTIONS, FLOOD_USERS = 400, 256, 1024
LATER_MS = {"p50": 0.2, "p99": 3.0}
SHARES_OF_100 = 1024  # version 1 counts in shares; CPUWeight=100 is 1024 of them


class Group:
    """A control group with the weight of the unit; without one, nice 19."""

    def __init__(self, weight):
        self.weight, self.paths, self.says, self.wrapper = weight, [], "no limit", []
        if weight == "none":
            return
        try:
            self.make()
        except OSError:
            self.end()
            self.says, self.wrapper = "nice 19 (no control group can be made here)", ["nice", "-n", "19"]
            return
        enter = "; ".join(f"echo $$ > {path}/cgroup.procs" for path in self.paths)
        self.wrapper = ["sh", "-c", f'{enter}; exec "$@"', "sh"]

    def folder(self, root):
        path = os.path.join(root, f"stampede-bar-{os.getpid()}")
        os.mkdir(path)
        self.paths.append(path)
        return path

    @staticmethod
    def put(path, name, value):
        with open(os.path.join(path, name), "w", encoding="ascii") as file:
            file.write(str(value))

    def make(self):
        first = os.path.exists(os.path.join(ROOTS[0], "cpu.shares"))
        path = self.folder(ROOTS[0] if first else ROOTS[1])
        if self.weight == "idle":
            self.put(path, "cpu.idle", 1)
        elif first:
            self.put(path, "cpu.shares", max(2, SHARES_OF_100 * int(self.weight) // 100))
        else:
            self.put(path, "cpu.weight", self.weight)
        if first:
            self.put(self.folder(MEMORY[0]), MEMORY[1], MEMORY_BYTES)
        else:
            self.put(path, "memory.max", MEMORY_BYTES)
        self.says = f"control group, version {1 if first else 2}, CPUWeight {self.weight}, MemoryMax {MEMORY_BYTES >> 20} MiB"

    def end(self):
        for path in self.paths:
            for _ in range(50):
                try:
                    os.rmdir(path)
                    break
                except OSError:
                    time.sleep(0.1)
        self.paths = []


class Neighbour:
    """nginx that says 200, and its client."""

    def __init__(self):
        self.folder = temp_folder("stampede-neighbour-")
        with socket.socket() as spare:
            spare.bind(("127.0.0.1", 0))
            self.port = spare.getsockname()[1]
        config = os.path.join(self.folder, "nginx.conf")
        with open(config, "w", encoding="ascii") as file:
            file.write(f"daemon off; worker_processes 1; pid {self.folder}/pid; error_log {self.folder}/error.log;\n"
                       f"events {{ worker_connections 512; }}\n"
                       f"http {{ access_log off; client_body_temp_path {self.folder}/b; proxy_temp_path {self.folder}/p; fastcgi_temp_path {self.folder}/f;\n"
                       f"  uwsgi_temp_path {self.folder}/u; scgi_temp_path {self.folder}/s; keepalive_requests 1000000;\n"
                       f"  server {{ listen 127.0.0.1:{self.port}; location / {{ return 200 'ok'; }} }} }}\n")
        self.request = os.path.join(self.folder, "get")
        with open(self.request, "w", encoding="ascii") as file:
            file.write("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        self.process = subprocess.Popen([shutil.which("nginx") or "/usr/sbin/nginx", "-p", self.folder, "-c", config])
        eventually(self.answers, "nginx does not start")

    def answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        except OSError:
            return False

    def measure(self, seconds):
        done = subprocess.run([load(), "--port", str(self.port), "--template", self.request, "--connections", "16", "--rate", str(RATE), "--warm", "0.5",
                               "--seconds", str(seconds)], capture_output=True, text=True, timeout=seconds + 60, check=True)
        return json.loads(done.stdout)

    def end(self):
        self.process.terminate()
        self.process.wait()


def load():
    return os.path.join(os.path.dirname(crowd.crowd_binary()), "load")


class Flood:
    def __init__(self, group):
        self.group = group
        self.server = Server(settings={"server.threads": 1, "data.tickets_max": 10000, "limits.address_per_s": 1000000, "limits.address_burst": 1000000,
                                       "limits.connections_per_address": 1000000, "limits.user_requests": 60, "limits.user_window_ms": 1,
                                       "pass.life_s": 3599, "human.pictures": 0, "server.log_level": "warn"})
        self.server.wrapper = group.wrapper
        self.server.start()
        item = self.server.open_item(total=1)
        self.passes, self.request = (os.path.join(self.server.folder, name) for name in ("passes", "buy"))
        with open(self.passes, "wb") as file:
            subprocess.run([self.server.binary, "mint", "--config", self.server.config, "--item", str(item), "--users", f"0:{FLOOD_USERS}"],
                           stdout=file, check=True)
        with open(self.request, "w", encoding="ascii") as file:
            file.write(f"POST /v1/items/{item}/buy HTTP/1.1\r\nHost: 127.0.0.1\r\nStampede-Pass: {'@' * 48}\r\nContent-Length: 0\r\n\r\n")

    def begin(self, seconds):
        return subprocess.Popen([*self.group.wrapper, load(), "--port", str(self.server.port), "--template", self.request, "--fill", self.passes,
                                 "--connections", str(FLOOD_CONNECTIONS), "--seconds", str(seconds)], stdout=subprocess.PIPE, text=True)


def unit_weight():
    with open(os.path.join(REPOSITORY, "deploy", "stampede-beside.conf"), encoding="utf-8") as unit:
        return re.search(r"^CPUWeight=(\w+)$", unit.read(), re.M)[1]


def arguments():
    parser = argparse.ArgumentParser(description="A flood of Stampede beside another service.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--weight", default=unit_weight(), help="idle, none, or a number; else that of the unit")
    return parser.parse_args()


def rounds(given, neighbour, flood):
    alone, beside, floods = [], [], []
    for _ in range(given.rounds):
        alone.append(neighbour.measure(given.seconds))
        client = flood.begin(given.seconds + 2)
        time.sleep(0.5)
        beside.append(neighbour.measure(given.seconds))
        floods.append(json.loads(client.communicate(timeout=60)[0]))
    return alone, beside, floods


def main():
    given = arguments()
    findings = crowd.Findings()
    group = Group(given.weight)
    neighbour, flood = None, None
    try:
        neighbour, flood = Neighbour(), Flood(group)
        alone, beside, floods = rounds(given, neighbour, flood)
    finally:
        if neighbour is not None:
            neighbour.end()
        if flood is not None and flood.server.alive():
            flood.server.stop()
        group.end()
    words = []
    for name, later in LATER_MS.items():
        before, after = (statistics.median(one[f"{name}_us"] for one in many) / 1000 for many in (alone, beside))
        words.append(f"{name} {before:.2f} ms alone, {after:.2f} ms beside")
        if after > before + later:
            findings.say("later", f"{name} {after:.2f} ms beside the flood, {before:.2f} ms alone; {later} ms later at most")
    for one in (*alone, *beside):
        if one["errors"] or one["closed"] or one["unsent"]:
            findings.say("refused", f"the neighbour: {one}")
    rate = statistics.median(one["rate"] for one in floods)
    if rate < 1000:
        findings.say("no flood", f"{rate:.0f} requests/s")
    print(f"neighbour at {RATE} requests/s: {', '.join(words)} a flood of {rate:.0f} requests/s; {group.says}; {given.rounds} rounds, {len(findings)} findings")
    print("\n".join(findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
