# SPDX-License-Identifier: Apache-2.0
"""What the tests of the waiting room share: a server with short turns, guests, rooms, and the draw worked out by the document
docs/waiting-room.md alone."""
import hashlib
import hmac
import struct

from kit.harness import Buyer, Closed, Connection, Server, equal, eventually, request_bytes

TURN_MS = 1500
server = Server(settings={"room.turn_ms": TURN_MS, "room.open_ms": 600000, "room.rate_min": 1,
                          "server.threads": 2}).start()


class Guest(Buyer):
    def enter(self, sale):
        return server.request("POST", f"/v1/sales/{sale}/room", session=self.session)

    def look(self, sale):
        return server.get(f"/v1/sales/{sale}/room", session=self.session)

    def stands(self, sale):
        reply = self.look(sale)
        equal(reply.status, 200, reply)
        return reply.json()


def room(start_in_ms=600000, total=3, **fields):
    """(sale, item) with a room that takes people in."""
    sale = server.sale(start_in_ms=start_in_ms, waiting_room=True, **fields)
    item = server.item(sale, total=total)
    server.publish(sale)
    probe = Guest(server)
    if start_in_ms > 0:  # the worker opens it within a moment; who asks too early is no guest yet
        eventually(lambda: probe.enter(sale).status == 202, "the room does not open")
    return sale, item, probe


def open_now(sale):
    server.admin_ok("POST", f"/sales/{sale}/preheat")
    server.admin_ok("POST", f"/sales/{sale}/open")


def drawn(sale):
    return eventually(lambda: (lambda draw: draw if draw["state"] == "drawn" else None)(
        server.get(f"/v1/sales/{sale}/draw").json()), "no draw")


def marks_of(sale):
    marks, after = "", 0
    while after is not None:
        page = server.get(f"/v1/sales/{sale}/draw/arrivals?after={after}").json()
        marks += page["marks"]
        after = page.get("next")
    return [int(marks[i:i + 16], 16) for i in range(0, len(marks), 16)]


# ---- the draw, worked out by the document docs/waiting-room.md alone ---------------------------------------


def sha(data):
    return hashlib.sha256(data).digest()


def mac(key, data):
    return hmac.new(key, data, hashlib.sha256).digest()


def speck(key, value):
    """Speck64/128, the key as 16 bytes."""
    words, mask = list(struct.unpack("<4I", key)), 0xffffffff
    high, low, k, rest = value >> 32, value & mask, words[0], words[1:]
    for i in range(27):
        high = (((high >> 8 | high << 24) & mask) + low & mask) ^ k
        low = ((low << 3 | low >> 29) & mask) ^ high
        rest.append((k + ((rest[i] >> 8 | rest[i] << 24) & mask) & mask) ^ i)
        k = ((k << 3 | k >> 29) & mask) ^ rest[-1]
    return high << 32 | low


def beacon_of(name, value):
    return sha(b"stampede beacon 1" + struct.pack("<I", len(name.encode())) + name.encode() + value.encode()).hex()


def work_out(draw, marks):
    """(commitment, arrivals hash, place of each number); beacon and key must be what was published."""
    value = draw.get("beacon_value")
    equal(draw["beacon"], "" if value is None else beacon_of(draw["beacon_name"], value))
    sale, secret, count = struct.pack("<I", draw["sale"]), bytes.fromhex(draw["secret"]), len(marks)
    chain = sha(b"stampede arrivals 1" + sale)
    for number, mark in enumerate(marks):
        chain = sha(chain + struct.pack("<IQ", number, mark))
    key = mac(secret, b"stampede draw 1" + sale + struct.pack("<I", count) + chain + draw["beacon"].encode())[:16]
    equal(key.hex(), draw["key"])
    half = 3
    while count > 1 << 2 * half:
        half += 1
    low = (1 << half) - 1

    def place(number):
        while True:
            left, right = number >> half, number & low
            for turn in range(10):
                left, right = right, left ^ speck(key, turn << 32 | right) & low
            number = left << half | right
            if number < count:
                return number
    return sha(b"stampede room 1" + sale + secret).hex(), chain.hex(), [place(number) for number in range(count)]


def mark_of(draw, user):
    return struct.unpack("<Q", sha(bytes.fromhex(draw["secret"]) + b"mark"
                                   + struct.pack("<IQ", draw["sale"], int(user, 16)))[:8])[0]


def stampede_in(sale, people, told, ended):
    """Enters with all of them over one connection; notes what each was told."""
    try:
        with Connection(server.port) as connection:
            for guest in people:
                connection.send(request_bytes("POST", f"/v1/sales/{sale}/room",
                                              headers={"Authorization": f"Bearer {guest.session}"}))
                reply = connection.read_reply()
                if reply.status == 202:
                    told[guest.session] = reply.json()["number"]
    except (Closed, OSError):
        pass
    ended.set()
