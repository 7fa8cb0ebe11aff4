# SPDX-License-Identifier: Apache-2.0
"""The disk is full, or broken: a full one stops wins and nothing else; after a failed sync nothing more is told."""
import os
import shutil
import subprocess
import time

from kit.harness import Buyer, Closed, Server, equal, eventually, problem, rule, run, skip, temp_folder, true

SEGMENT = 1024 * 1024 + 4096  # the smallest there is


class SmallDisk:
    """A tmpfs that can be filled and emptied again."""

    def __init__(self, megabytes):
        self.place = temp_folder()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", self.place], capture_output=True)
        if done.returncode != 0:
            skip("mount is not allowed here")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.place], check=False)

    def fill(self):
        with open(os.path.join(self.place, "ballast"), "ab", buffering=0) as file:
            for block in (1024 * 1024, 4096):
                try:
                    while file.write(bytes(block)) == block:
                        pass
                except OSError:
                    pass

    def empty(self):
        os.remove(os.path.join(self.place, "ballast"))


def buy_until_refused(buyer, item, give, most=2000):
    """(tickets by key, the refusal)"""
    told = {}
    with buyer.server.connect() as connection:
        for number in range(most):
            connection.send(buyer.purchase_request(item, key=str(number), give=give))
            reply = connection.read_reply()
            if reply.status != 202:
                return told, reply
            told[str(number)] = reply.json()["ticket"]
    return told, None


def is_up(server, name):
    return server.metrics()[f'stampede_alarm{{name="{name}"}}'] == 1


def full_disk_rule(server, disk, words, alarms):
    """From full to free again. words: what /readyz may say meanwhile."""
    item = server.open_item(total=5000, limit_per_user=0)
    last = server.open_item(total=1)
    buyer, other = Buyer(server), Buyer(server)
    other.win(last)
    give = buyer.get_pass(item)
    time.sleep(0.3)  # the spare segment is prepared
    disk.fill()
    told, refusal = buy_until_refused(buyer, item, give)
    true(refusal is not None, "wins never stopped")
    true(len(told) > 100, f"what was prepared is still used: {len(told)}")
    problem(refusal, 503, "unavailable")
    true(1 <= int(refusal.headers["retry-after"]) <= 10)
    ready = eventually(lambda: [reply for reply in [server.get("/readyz")] if reply.status == 503], "not ready")[0]
    true(any(word in ready.body for word in words), ready)
    equal(server.get("/livez").status, 200)
    for name in alarms:
        eventually(lambda: is_up(server, name), f"{name} is not raised")
    # Reads, duplicates and other refusals are answered as always.
    key, ticket = list(told.items())[-1]
    equal(buyer.win(item, key=key, give=give)["ticket"], ticket)
    equal(server.counts(item)["held"], len(told))
    equal(server.get(f"/v1/items/{item}").json()["accepting"], False)
    equal(buyer.mine(item)["quantity"], len(told))
    equal(server.get("/v1/sales").status, 200)
    equal(other.buy(last).status, 409)
    problem(buyer.buy(item, key="new", give=give), 503, "unavailable")
    true(server.alive())
    disk.empty()
    eventually(lambda: server.get("/readyz").status == 200, "ready by itself when there is room again")
    for name in alarms:
        eventually(lambda: not is_up(server, name), f"{name} stays")
    more = buyer.win(item, key="new", give=buyer.get_pass(item))
    eventually(lambda: server.item_orders(item)[0] == len(told) + 1, "all orders are written")
    equal(server.admin_ok("GET", "/dead-letters"), {"dead_letters": []})
    server.restart(kill=True)
    equal(server.counts(item)["held"], len(told) + 1)
    equal(buyer.win(item, key="new")["ticket"], more["ticket"])
    server.stop()
    server.verify()


@rule
def a_full_disk_under_the_journal_stops_wins_and_not_answers():
    with SmallDisk(8) as disk:
        server = Server(settings={"data.segment_bytes": SEGMENT})
        os.makedirs(server.data, mode=0o700)
        os.symlink(disk.place, os.path.join(server.data, "journal"))
        full_disk_rule(server.start(), disk, (b"disk is full",), ["disk-full"])


@rule
def a_full_disk_under_everything_stops_wins_and_not_answers():
    with SmallDisk(16) as disk:
        server = Server(settings={"data.segment_bytes": SEGMENT, "alarms.disk_free_bytes": 65536}, data=os.path.join(disk.place, "data"))
        true(not is_up(server.start(), "disk-low"), "there is room")
        full_disk_rule(server, disk, (b"disk is full", b"database is unavailable"), ["disk-full", "disk-low"])


@rule
def a_full_disk_at_the_start_is_named():
    with SmallDisk(1) as disk:
        server = Server(data=os.path.join(disk.place, "data"))
        disk.fill()
        code, log = server.start_refused()
        true(code > 0 and ("space" in log or "full" in log), log)


def broken_sync(call, number, error="EIO"):
    """A server whose n-th sync fails from the moment that wins come; what was told before it ended."""
    if shutil.which("strace") is None:
        skip("strace is not installed")
    trial = subprocess.run(["strace", "-f", "-o", os.devnull, "true"], capture_output=True)
    if trial.returncode != 0:
        skip("strace can't attach here")
    binary = os.environ.get("TEST_SERVER") or None  # leak checks and strace don't go together
    server = Server(binary=binary, environment={"ASAN_OPTIONS": "detect_leaks=0"}).start()
    item = server.open_item(total=5000, limit_per_user=0)
    buyer = Buyer(server)
    give = buyer.get_pass(item)
    told, refusal = buy_until_refused(buyer, item, give, 20)
    equal((len(told), refusal), (20, None))
    tracer = subprocess.Popen(["strace", "-f", "-o", os.devnull, "-p", str(server.process.pid), "-e", f"trace={call}",
                               "-e", f"inject={call}:error={error}:when={number}+"], stderr=subprocess.PIPE)
    tracer.stderr.readline()  # attached
    time.sleep(0.3)
    refusals = []
    try:
        with server.connect(5) as connection:
            for number in range(20, 400):
                connection.send(buyer.purchase_request(item, key=str(number), give=give))
                reply = connection.read_reply()
                if reply.status == 202:
                    true(not refusals, "a win was told after the fault")
                    told[str(number)] = reply.json()["ticket"]
                else:
                    refusals.append(reply)
    except (Closed, OSError):
        pass
    code = server.wait()
    tracer.wait()
    equal(code, 1, "it stops for a restart")
    true("journal has failed" in server.log(), server.log()[-500:])
    server.start()
    for key, ticket in told.items():
        equal(buyer.win(item, key=key, give=give)["ticket"], ticket, "told is kept")
    held = server.counts(item)["held"]
    true(len(told) <= held <= len(told) + 1, f"{held} held, {len(told)} told")
    eventually(lambda: server.item_orders(item)[0] == held)
    server.stop()
    server.verify()
    return told


@rule
def after_a_failed_sync_nothing_more_is_told_and_the_process_ends_with_code_1():
    true(len(broken_sync("fdatasync", 4)) >= 20)


@rule
def after_a_failed_write_nothing_more_is_told_and_the_process_ends_with_code_1():
    true(len(broken_sync("pwrite64", 9)) >= 20)


run()
