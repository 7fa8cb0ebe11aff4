# SPDX-License-Identifier: Apache-2.0
"""A follower that needs a whole copy names the blocks that it has, and gets the others (docs/follow.md). Whatever is killed,
full or damaged meanwhile: the old copy stays until the new one is whole, and the new one is the server's."""
import os
import random
import resource
import shutil
import signal
import time

from kit.following import Followed, Follower, heir, order_of, pair, ready
from kit.harness import Buyer, Server, equal, eventually, rule, run, true

SIZE = 6 << 20
server, follower = pair({"follow.away_ms": 3000, "data.segment_bytes": 4 * 1024 * 1024})
item = server.open_item(total=100000, limit_per_user=1)
told = []
for number in range(3):
    with open(os.path.join(server.data, f"ballast-{number}"), "wb") as file:
        file.write(os.urandom(SIZE + number))


def sell(count):
    for _ in range(count):
        buyer = Buyer(server)
        reply = buyer.buy(item)
        equal(reply.status, 202, reply)
        told.append((buyer, reply.json()["ticket"]))


def names(data):
    own = ("lock", "following", "fenced", "follow-state", "stampede.db-shm")
    return sorted(os.path.join(part, name) for part in (".", "journal", "media", "sandbox")
                  if os.path.isdir(os.path.join(data, part)) for name in os.listdir(os.path.join(data, part))
                  if name not in own and os.path.isfile(os.path.join(data, part, name)))


def content(data, name):
    with open(os.path.join(data, name), "rb") as file:
        return file.read()


def same():
    """Both folders, byte for byte."""
    def is_same():
        ours, theirs = names(server.data), names(follower.data)
        return ours == theirs and all(content(server.data, name) == content(follower.data, name) for name in ours)
    eventually(is_same, "the folders differ")


def sent():
    return server.metrics()["stampede_follow_base_bytes_total"]


def again():
    """The server, after a restart, with a follower that has everything."""
    ready(server.spawn())
    server.current()
    equal(server.metrics()["stampede_follow_bases_total"], 1)


@rule
def after_a_restart_only_what_has_changed_is_sent():
    sell(5)
    same()
    for end in (server.stop, server.kill):
        end()
        again()
        true(sent() < 1 << 20, f"{sent()} bytes were sent")
        same()
        sell(3)


@rule
def a_follower_that_ends_and_comes_back_needs_nothing():
    bases = server.metrics()["stampede_follow_bases_total"]
    follower.stop()
    follower.start()
    server.current()
    equal(server.metrics()["stampede_follow_bases_total"], bases)


@rule
def what_changed_while_nobody_looked_is_sent():
    server.stop()
    follower.stop()
    with open(os.path.join(server.data, "ballast-1"), "r+b") as file:
        file.seek(SIZE // 2)
        file.write(b"changed")
    os.remove(os.path.join(server.data, "ballast-2"))
    follower.start()
    again()
    true(sent() < 1 << 20, f"{sent()} bytes were sent")
    same()


@rule
def a_copy_that_was_damaged_is_repaired():
    server.stop()
    follower.stop()
    for name, at in (("stampede.db", 5000), ("ballast-0", SIZE - 3), ("ballast-1", 0)):
        with open(os.path.join(follower.data, name), "r+b") as file:
            file.seek(at)
            file.write(b"rotten")
    os.truncate(os.path.join(follower.data, "ballast-0"), SIZE // 2 + 5)
    segment = sorted(name for name in os.listdir(os.path.join(follower.data, "journal")) if name.startswith("segment-"))[0]
    os.remove(os.path.join(follower.data, "journal", segment))
    with open(os.path.join(follower.data, "nobody-has-this"), "w") as file:
        file.write("x")
    follower.start()
    again()
    true(SIZE // 4 < sent() < 2 * SIZE, f"{sent()} bytes were sent")
    same()
    sell(3)


@rule
def a_server_that_is_killed_while_the_copy_is_made_begins_again():
    for turn in range(6):
        server.kill()
        server.spawn()
        eventually(lambda: "gets a whole copy first" in server.log().split("listening for a follower")[-1])
        time.sleep(random.uniform(0, 0.05))
        equal(Server(data=follower.data).start_refused()[0], 1)
        true("copy: whole" in follower.status().stdout, follower.status().stdout)
    server.kill()
    again()
    same()
    sell(3)


@rule
def a_follower_that_is_killed_while_it_compares_or_copies_begins_again():
    for turn in range(6):
        server.kill()
        server.spawn()
        before = follower.log().count("comparing the copy")
        eventually(lambda: follower.log().count("comparing the copy") > before)
        time.sleep(random.uniform(0, 0.05))
        follower.kill()
        true("copy: whole" in follower.status().stdout, follower.status().stdout)
        follower.start()
    server.current()
    same()
    sell(3)


@rule
def a_disk_that_takes_no_more_keeps_the_old_copy_and_goes_on_when_there_is_room():
    global follower
    follower.stop()
    follower = Follower(server.address, server.binary, data=follower.data,
                        preexec=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN)).start()
    server.current()
    server.kill()
    most = resource.prlimit(follower.process.pid, resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))
    server.spawn()
    eventually(lambda: follower.log().count("can't be written") >= 2, "it takes more")
    true("copy: whole" in follower.status().stdout, follower.status().stdout)
    eventually(lambda: b"follower is away" in server.get("/readyz").body)
    resource.prlimit(follower.process.pid, resource.RLIMIT_FSIZE, most)
    server.current()
    same()
    sell(3)


@rule
def a_copy_that_was_compared_takes_over_with_all_that_was_told():
    server.kill()
    shutil.rmtree(server.data)
    follower.took_over()
    new = heir(follower, server, **{"follow.alone": "sell"})
    ready(new.spawn())
    for buyer, ticket in told:
        equal(order_of(new, buyer, ticket)["state"], "pending")
    true(not os.path.exists(follower.data + ".part"))
    new.stop()
    new.verify()


run()
