# SPDX-License-Identifier: Apache-2.0
"""Machines of a test: each has a network namespace of its own and one cable to a router, which is the namespace of the test itself. What
passes between two of them can be dropped, also in one direction only. Needs root and iproute2; nothing of it is seen outside, and all
of it goes when its processes end.

    enter()                                   # starts this program again as the router; or says why it can't, and ends with 77
    one, other = Machine(), Machine()
    subprocess.Popen([*one.wrapper, "redis-server", …])
    with cut([one], [other], "to"): …         # what the first sends to the second is lost; "from": the other way; "both"
"""
import contextlib
import itertools
import os
import subprocess
import sys
import time

INSIDE = "STAMPEDE_TEST_ROUTER"
SKIPPED = 77
numbers = itertools.count(1)
holders = []


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip()}")


def why_not():
    """Why there can be no machines here; None: there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    try:
        run("unshare", "--net", "ip", "rule", "add", "from", "10.99.1.2", "to", "10.99.2.2", "blackhole")
        run("unshare", "--net", "sh", "-c", "ip link add probe type veth peer name other")
        run("nsenter", "--version")
        run("setpriv", "--version")
    except OSError as wrong:
        return str(wrong)
    return None


def enter():
    if INSIDE in os.environ:
        run("ip", "link", "set", "lo", "up")
        with open("/proc/sys/net/ipv4/ip_forward", "w", encoding="ascii") as file:
            file.write("1")
        return
    wrong = why_not()
    if wrong:
        print(f"skipped: {wrong}")
        sys.exit(SKIPPED)
    os.execvpe("unshare", ["unshare", "--net", sys.executable, *sys.argv], {**os.environ, INSIDE: "1"})


class Machine:
    def __init__(self):
        number = next(numbers)
        self.address = f"10.99.{number}.2"
        # It ends with this program, in whatever way that ends.
        self.holder = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "sleep", "86400"], stdin=subprocess.DEVNULL)
        holders.append(self.holder)
        self.wrapper = ["nsenter", "-t", str(self.holder.pid), "-n"]
        until = time.monotonic() + 30
        while os.readlink(f"/proc/{self.holder.pid}/ns/net") == os.readlink("/proc/self/ns/net"):
            if time.monotonic() > until:
                raise OSError("no network namespace")
            time.sleep(0.01)
        run("ip", "link", "add", f"cable{number}", "type", "veth", "peer", "name", "eth0", "netns", str(self.holder.pid))
        run("ip", "address", "add", f"10.99.{number}.1/24", "dev", f"cable{number}")
        run("ip", "link", "set", f"cable{number}", "up")
        for words in (f"address add {self.address}/24 dev eth0", "link set eth0 up", "link set lo up", f"route add default via 10.99.{number}.1"):
            run(*self.wrapper, "ip", *words.split())


@contextlib.contextmanager
def cut(ones, others, direction):
    ways = {"to": [(ones, others)], "from": [(others, ones)], "both": [(ones, others), (others, ones)]}[direction]
    rules = [("from", one.address, "to", other.address, "blackhole") for senders, receivers in ways for one in senders for other in receivers]
    for rule in rules:
        run("ip", "rule", "add", *rule)
    try:
        yield
    finally:
        for rule in rules:
            run("ip", "rule", "del", *rule)


def end():
    for holder in holders:
        holder.kill()
        holder.wait()
