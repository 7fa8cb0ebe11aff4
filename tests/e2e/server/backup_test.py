# SPDX-License-Identifier: Apache-2.0
"""A backup of a server that sells, and the way back: docs/backup.md. What was told before the backup is there afterwards, no number
is given twice, and a copy that is not whole is refused."""
import os
import re
import signal
import subprocess
import threading
import time

from kit.harness import Buyer, Server, equal, eventually, rule, run, temp_folder, true

server = Server(settings={"data.segment_bytes": 1024 * 1024 + 4096})
server.start()
item = server.open_item(total=100000, limit_per_user=1)


def stampede(*words, **more):
    return subprocess.run([server.binary, *words], capture_output=True, text=True, timeout=180, **more)


def backup(to=None):
    to = to or os.path.join(temp_folder(), "copy")
    done = stampede("backup", server.data, "--to", to)
    equal(done.returncode, 0, done.stdout + done.stderr)
    return to


def restored(copy, *more, ends=0):
    """A server of its own on what was made of the copy; it does not run yet."""
    other = Server(settings={"data.segment_bytes": 1024 * 1024 + 4096})
    done = stampede("restore", "--config", other.config, "--from", copy, *more)
    equal(done.returncode, ends, done.stdout + done.stderr)
    other.said = done.stdout + done.stderr
    return other


def sell(count, to=None):
    """Orders that customers were told of: their tickets."""
    told = []
    for _ in range(count):
        reply = Buyer(to or server).buy(item)
        equal(reply.status, 202, reply)
        told.append(reply.json()["ticket"])
    return told


class Crowd:
    """Buys all the time: what was told, with the moment, and the longest time that an answer took."""

    def __enter__(self):
        self.told, self.slowest, self.ends = [], 0, False
        self.thread = threading.Thread(target=self.go)
        self.thread.start()
        return self

    def go(self):
        while not self.ends:
            buyer = Buyer(server)
            began = time.monotonic()
            reply = buyer.buy(item)
            took = time.monotonic() - began
            self.slowest = max(self.slowest, took)
            if reply.status == 202:
                self.told.append((began, reply.json()["ticket"]))

    def __exit__(self, *_):
        self.ends = True
        self.thread.join()


def modes(folder):
    return {os.stat(os.path.join(where, name)).st_mode & 0o077 for where, _, names in os.walk(folder) for name in names}


@rule
def a_backup_under_load_has_all_that_was_told_before_it():
    with Crowd() as crowd:
        eventually(lambda: len(crowd.told) > 30, "nobody buys")
        began = time.monotonic()
        copy = backup()
        took = time.monotonic() - began
        eventually(lambda: len([1 for at, _ in crowd.told if at > began + took]) > 5, "selling stopped")
    equal(modes(copy), {0}, "others may read it")
    equal(stampede("verify", copy, "--quiet").returncode, 0)
    print(f"    backup took {took * 1000:.0f} ms; slowest purchase {crowd.slowest * 1000:.0f} ms")
    other = restored(copy, "--lose-later-orders")
    other.start()
    orders = {row["ticket"] for row in all_orders(other)}
    missing = [ticket for at, ticket in crowd.told if at < began - 0.5 and ticket not in orders]
    equal(missing, [], "told before the backup, and lost")
    fresh = sell(3, other)
    later = {ticket for _, ticket in crowd.told}
    equal(set(fresh) & later, set(), "a ticket id was told to two")
    other.stop()
    equal(stampede("verify", other.data, "--quiet").returncode, 0, stampede("verify", other.data).stdout)


def all_orders(of):
    """Views of all orders, page by page."""
    rows, path = [], "/orders"
    while path:
        page = of.admin_ok("GET", path)
        rows += [row["view"] for row in page["orders"]]
        path = f"/orders?before={page['next']}" if page.get("next") else None
    return rows


@rule
def no_number_is_given_again_after_the_way_back():
    copy = backup()
    lost = sell(5)
    other = restored(copy, "--lose-later-orders")
    other.start()
    equal(set(sell(8, other)) & set(lost), set(), "ids of lost orders were given again")
    other.restart()
    equal(set(sell(2, other)) & set(lost), set(), "ids of lost orders were given again")
    other.stop()
    equal(stampede("verify", other.data, "--quiet").returncode, 0, stampede("verify", other.data).stdout)


@rule
def losing_later_orders_must_be_said():
    copy = backup()
    other = restored(copy, ends=1)
    true("--lose-later-orders" in other.said, other.said)
    true(not os.path.exists(other.data), "something was made")


@rule
def the_journal_of_the_lost_folder_brings_everything_back():
    copy = backup()
    later = sell(6)
    eventually(lambda: server.metrics()["stampede_order_lag"] == 0)
    server.stop()
    other = restored(copy, "--journal", os.path.join(server.data, "journal"))
    other.start()
    equal([ticket for ticket in later if ticket not in {row["ticket"] for row in all_orders(other)}], [], "lost")
    other.stop()
    equal(stampede("verify", other.data, "--quiet").returncode, 0, stampede("verify", other.data).stdout)
    server.start()


@rule
def a_point_in_time_ends_there():
    copy = backup()
    position = int(re.search(r"^position (\d+)$", open(os.path.join(copy, "manifest")).read(), re.M).group(1))
    kept = sell(3)
    time.sleep(0.02)
    moment = int(time.time() * 1000)
    time.sleep(0.02)
    gone = sell(3)
    server.stop()
    other = restored(copy, "--journal", os.path.join(server.data, "journal"), "--until", str(moment),
                     "--lose-later-orders")
    other.start()
    there = {row["ticket"] for row in all_orders(other)}
    equal([ticket in there for ticket in kept + gone], [True] * 3 + [False] * 3)
    other.stop()
    too_early = restored(copy, "--until", str(position - 1), "--lose-later-orders", ends=1)
    true("take an older backup" in too_early.said, too_early.said)
    server.start()


@rule
def a_damaged_backup_is_refused_by_name():
    for name in ("stampede.db", "identity", "manifest", "journal/segment-0000000000000001"):
        copy = backup()
        path = os.path.join(copy, name)
        with open(path, "r+b") as file:
            file.seek(os.path.getsize(path) // 2 if name != "journal/segment-0000000000000001" else 5000)
            byte = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte[0] ^ 1]))
        other = restored(copy, "--lose-later-orders", ends=1)
        true("damaged" in other.said and name.split("/")[-1] in other.said, other.said)
        true(not os.path.exists(other.data), "something was made of it")
    copy = backup()
    os.remove(os.path.join(copy, "identity"))
    true("identity is missing" in restored(copy, "--lose-later-orders", ends=1).said)


@rule
def a_backup_that_was_killed_is_none():
    for wait_s in (0.0, 0.01, 0.03, 0.06, 0.1):
        copy = os.path.join(temp_folder(), "copy")
        process = subprocess.Popen([server.binary, "backup", server.data, "--to", copy], stdout=subprocess.DEVNULL)
        time.sleep(wait_s)
        process.send_signal(signal.SIGKILL)
        process.wait()
        whole = os.path.exists(os.path.join(copy, "manifest"))
        if os.path.isdir(os.path.join(copy, "journal")):
            other = restored(copy, "--lose-later-orders", ends=0 if whole else 1)
            true(whole or "no manifest" in other.said, other.said)
    sell(1)


@rule
def a_server_does_not_start_on_a_bare_copy():
    copy = backup()
    os.remove(os.path.join(copy, "manifest"))
    other = Server(data=copy)
    code, said = other.start_refused()
    equal(code, 1)
    true("stampede restore" in said, said)


@rule
def a_restore_that_was_killed_can_be_finished():
    copy = backup()
    for wait_s in (0.0, 0.02, 0.05, 0.1, 0.2):
        other = Server(settings={"data.segment_bytes": 1024 * 1024 + 4096})
        process = subprocess.Popen([server.binary, "restore", "--config", other.config, "--from", copy,
                                    "--lose-later-orders"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(wait_s)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if os.path.exists(other.data):
            done = stampede("restore", "--config", other.config)
        else:
            subprocess.run(["rm", "-rf", other.data + ".part"], check=True)
            done = stampede("restore", "--config", other.config, "--from", copy, "--lose-later-orders")
        equal(done.returncode, 0, done.stdout + done.stderr)
        other.start()
        sell(1, other)
        other.stop()
        equal(stampede("verify", other.data, "--quiet").returncode, 0, stampede("verify", other.data).stdout)


@rule
def folders_in_use_are_left_alone():
    copy = backup()
    again = stampede("backup", server.data, "--to", copy)
    equal((again.returncode, "not empty" in again.stderr), (1, True), again.stderr)
    onto = stampede("restore", "--config", server.config, "--from", copy, "--lose-later-orders")
    equal((onto.returncode, "not empty" in onto.stderr), (1, True), onto.stderr)
    equal(stampede("backup", server.data).returncode, 2)
    equal(stampede("restore", "--until", "5").returncode, 2)


run()
