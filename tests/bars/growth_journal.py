# SPDX-License-Identifier: Apache-2.0
"""What a record takes on disk when wins come one by one, in the live segment and after its segment was packed."""
import os
import struct

from bars import Ended
from growth_kit import serving
from kit.harness import Buyer, eventually

SEGMENT_BYTES = 1024 * 1024 + 4096  # the smallest there is
CLOSED = 4
BYTES_MAX = 200
WINS_PER_S = 30
DAY_S = 86400


def segments(server):
    folder = os.path.join(server.data, "journal")
    return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("segment-"))


def disk_bytes(path):
    return os.stat(path).st_blocks * 512


def records(path):
    """(records, batches) of a segment in whichever form."""
    with open(path, "rb") as file:
        content = file.read()
    align, offset, count, batches = struct.unpack_from("<I", content, 36)[0], 4096, 0, 0
    while content[offset:offset + 4] == b"SBAT":
        size, more = struct.unpack_from("<II", content, offset + 8)
        count, batches, offset = count + more, batches + 1, offset + (size + align - 1) // align * align
    return count, batches


def is_packed(path):
    with open(path, "rb") as file:
        return struct.unpack_from("<I", file.read(40), 12)[0] == 2


def packed():
    """Each win waits for the one before: every batch has one record, as at some 30 wins a second."""
    with serving(data__segment_bytes=SEGMENT_BYTES) as server:
        server.start()
        item = server.open_item(total=100000, limit_per_user=1)
        before = {}
        while len(segments(server)) <= CLOSED:
            if Buyer(server).buy(item).status not in (202, 503):  # 503: the next segment is not there yet
                raise Ended("a purchase was refused")
            live = segments(server)[-1]
            before[live] = disk_bytes(live)
        closed = segments(server)[:CLOSED]
        eventually(lambda: all(is_packed(path) for path in closed), f"not packed: {server.log()[-500:]}")
        counts = [records(path) for path in closed]
        after = sum(disk_bytes(path) for path in closed)
        server.stop()
        server.verify()
    held, batches = sum(count for count, _ in counts), sum(count for _, count in counts)
    was, now = sum(before[path] for path in closed) / held, after / held
    return (f"{now:.0f} bytes on disk for a record in {CLOSED} closed segments, {was:,.0f} before they were packed; {held:,} records in "
            f"{batches:,} batches; a day of {WINS_PER_S} wins/s: {now * WINS_PER_S * DAY_S / 1e9:.1f} GB instead of "
            f"{was * WINS_PER_S * DAY_S / 1e9:.1f}", now <= BYTES_MAX)


def parts(bars):
    bars.part("3 journal", f"at most {BYTES_MAX} bytes on disk for a record in closed segments, when wins come one by one", packed,
              "docs/performance.md#the-journal-at-low-rates")
