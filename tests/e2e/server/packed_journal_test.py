# SPDX-License-Identifier: Apache-2.0
"""Closed segments of the journal are packed (docs/journal.md): the disk gets its room back, and nothing that was told changes:
not for the server after a kill, not for verify, a backup up to a point, or a follower."""
import os
import struct
import subprocess

from kit.following import heir, heir_keeps, pair
from kit.harness import Buyer, Server, equal, eventually, rule, run, temp_folder, true

SEGMENT = 1024 * 1024 + 4096  # the smallest there is: 256 batches of one page
server = Server(settings={"data.segment_bytes": SEGMENT})
server.start()
item = server.open_item(total=100000, limit_per_user=1)


def segments(data):
    """[(name, version, bytes)], oldest first."""
    folder, found = os.path.join(data, "journal"), []
    for name in sorted(os.listdir(folder)):
        if name.startswith("segment-"):
            with open(os.path.join(folder, name), "rb") as file:
                head = file.read(40)
            found.append((name, struct.unpack_from("<I", head, 12)[0], os.path.getsize(os.path.join(folder, name))))
    return found


def batches(data, name):
    """The batches of a segment, in whichever form."""
    with open(os.path.join(data, "journal", name), "rb") as file:
        content = file.read()
    align, offset, found = struct.unpack_from("<I", content, 36)[0], 4096, []
    while content[offset:offset + 4] == b"SBAT":
        size = struct.unpack_from("<I", content, offset + 8)[0]
        found.append(content[offset:offset + size])
        offset += (size + align - 1) // align * align
    return found


def types(batch):
    offset = 72
    while offset < len(batch):
        size, kind = struct.unpack_from("<HB", batch, offset)
        yield kind
        offset += 4 + size


def stampede(*words):
    done = subprocess.run([server.binary, *words], capture_output=True, text=True, timeout=120)
    equal(done.returncode, 0, done.stdout + done.stderr)


def sell_until(count, to, of, told):
    """Wins one by one, until so many segments are closed and packed."""
    while len(segments(to.data)) <= count:
        buyer = Buyer(to)
        reply = buyer.buy(of)
        if reply.status == 503:  # the next segment is not there yet
            continue
        equal(reply.status, 202, reply)
        told.append((buyer, reply.json()["ticket"]))
    eventually(lambda: all(version == 2 for _, version, _ in segments(to.data)[:-1]), f"not packed: {segments(to.data)}")


@rule
def closed_segments_are_packed_and_the_live_one_is_not():
    server.told, server.early = [], os.path.join(temp_folder(), "early")
    stampede("backup", server.data, "--to", server.early)
    sell_until(2, server, item, server.told)
    for name, version, size in segments(server.data)[:-1]:
        records = sum(struct.unpack_from("<I", batch, 12)[0] for batch in batches(server.data, name))
        true(version == 2 and size / records <= 200, f"{name}: {size} bytes, {records} records")
    equal(segments(server.data)[-1][1:], (1, SEGMENT))
    true(not os.path.exists(os.path.join(server.data, "journal", "packed-segment.part")))
    true("packed segment=segment-0000000000000001" in server.log(), server.log()[-1000:])


@rule
def what_was_told_is_there_after_a_kill_and_verifies():
    with open(os.path.join(server.data, "journal", "packed-segment.part"), "wb") as file:
        file.write(b"SMPESEG1 left by a crash")
    server.restart(kill=True)
    true(not os.path.exists(os.path.join(server.data, "journal", "packed-segment.part")))
    equal(server.counts(item)["held"], len(server.told))
    for buyer, ticket in server.told[::50]:
        equal(buyer.order(ticket)["state"], "pending")
    for name in os.listdir(os.path.join(server.data, "journal")):  # all of it is replayed from packed segments
        if name.startswith("snapshot-"):
            os.remove(os.path.join(server.data, "journal", name))
    server.restart(kill=True)
    equal(server.counts(item)["held"], len(server.told))
    done = server.verify_run()
    equal(done.returncode, 0, done.stdout + done.stderr)


@rule
def a_damaged_packed_segment_is_named_and_refused():
    server.kill()
    name = segments(server.data)[1][0]
    path = os.path.join(server.data, "journal", name)
    for at in (12, 20, 4096 + 2, 4096 + 100, os.path.getsize(path) - 20):
        for is_good in (False, True):
            with open(path, "r+b") as file:
                file.seek(at)
                byte = file.read(1)[0]
                file.seek(at)
                file.write(bytes([byte ^ 0x40]))
            done = subprocess.run([server.binary, "verify", server.data], capture_output=True, text=True, timeout=60)
            equal(done.returncode, 0 if is_good else 2, f"byte {at}: {done.stdout}{done.stderr}")
            true(is_good or name in done.stdout + done.stderr, done.stdout + done.stderr)
    server.start()


def restored(*words):
    """A server on what was made of a backup; it has started."""
    other = Server(settings={"data.segment_bytes": SEGMENT})
    stampede("restore", "--config", other.config, *words)
    return other.start()


@rule
def a_backup_has_the_packed_segments_and_a_restore_sells_on():
    copy = os.path.join(temp_folder(), "copy")
    stampede("backup", server.data, "--to", copy)
    for name, version, _ in segments(server.data)[:-1]:
        true((name, version) in [one[:2] for one in segments(copy)], segments(copy))
        equal(batches(copy, name), batches(server.data, name))
    other = restored("--from", copy, "--lose-later-orders")
    equal(other.counts(item)["held"], len(server.told))
    other.stop()
    other.verify()


@rule
def a_restore_up_to_a_point_within_a_packed_segment_sells_on():
    server.stop()
    second = int(segments(server.data)[1][0][8:], 16)
    before = second - 1 - sum(of == 7 for batch in batches(server.data, segments(server.data)[0][0]) for of in types(batch))
    for position in (second - 100, second - 1, second, second + 100):
        other = restored("--from", server.early, "--journal", os.path.join(server.data, "journal"), "--until", str(position),
                         "--lose-later-orders")
        equal(other.counts(item)["held"], position - before)
        reply = Buyer(other).buy(item)
        equal(reply.status, 202, reply)
        other.restart(kill=True)
        equal(other.counts(item)["held"], position - before + 1)
        other.stop()
        other.verify()
    server.start()


@rule
def a_follower_packs_what_its_server_packs_and_takes_over():
    first, follower = pair()
    told, of = [], first.open_item(total=10000, limit_per_user=1)
    sell_until(2, first, of, told)
    eventually(lambda: segments(follower.data)[:-1] == segments(first.data)[:-1],
               f"{segments(follower.data)} {segments(first.data)}")
    for name, version, _ in segments(first.data)[:-1]:
        equal(version, 2)
        equal(batches(follower.data, name), batches(first.data, name))
    first.kill()
    follower.took_over()
    heir_keeps(heir(follower, first).spawn(), told[::40])


run()
