# SPDX-License-Identifier: Apache-2.0
"""What the tests of the human check share: solving challenges as a browser would, and what only the server knows."""
import base64
import hashlib
import hmac
import json
import os


def work(of):
    return of["parameters"]["cost"] * 16 ** len(of["parameters"]["keyPrefix"])


def solve(given):
    """As a browser would: counters until the derived key has the prefix."""
    parameters = given["parameters"]
    salt, nonce = bytes.fromhex(parameters["salt"]), bytes.fromhex(parameters["nonce"])
    for counter in range(1 << 32):
        key = hashlib.sha256(salt + nonce + counter.to_bytes(4, "big")).digest()
        for _ in range(parameters["cost"] - 1):
            key = hashlib.sha256(key).digest()
        if key.hex().startswith(parameters["keyPrefix"]):
            return {"challenge": given, "solution": {"counter": counter, "derivedKey": key.hex(), "time": 1.5}}


def payload(solution):
    return {"solution": base64.b64encode(json.dumps(solution).encode()).decode()}


# ---- the keys of the server, to know what only it knows

def key_of(server, label):
    with open(os.path.join(server.data, "identity"), encoding="ascii") as file:
        master = bytes.fromhex(max(file.read().split(), key=len))
    root = hmac.new(master, b"stampede funnel 1", "sha256").digest()
    return hmac.new(root, label + bytes(8), "sha256").digest()


def siphash(key, data):
    mask = (1 << 64) - 1
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:16], "little")
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]

    def turn(value, bits):
        return (value << bits | value >> 64 - bits) & mask

    def rounds(count):
        for _ in range(count):
            v[0] = v[0] + v[1] & mask; v[1] = turn(v[1], 13) ^ v[0]; v[0] = turn(v[0], 32)
            v[2] = v[2] + v[3] & mask; v[3] = turn(v[3], 16) ^ v[2]
            v[0] = v[0] + v[3] & mask; v[3] = turn(v[3], 21) ^ v[0]
            v[2] = v[2] + v[1] & mask; v[1] = turn(v[1], 17) ^ v[2]; v[2] = turn(v[2], 32)
    data = data + bytes(-(len(data) + 1) % 8) + bytes([len(data) & 255])
    for at in range(0, len(data), 8):
        word = int.from_bytes(data[at:at + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 255
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def places_of(server, token):
    """Where the pieces belong, by trying all places against the hashes in the token."""
    raw, key = base64.urlsafe_b64decode(token + "=="), key_of(server, b"puzzle")
    nonce, places = raw[20:28], []
    for piece in range(2):
        answer = raw[28 + 4 * piece:32 + 4 * piece]
        places += [x for x in range(300)
                   if siphash(key, b"\x03" + nonce + piece.to_bytes(4, "little") + x.to_bytes(4, "little"))
                   .to_bytes(8, "little")[:4] == answer][:1]
    if len(places) != 2:
        raise AssertionError("no place fits")
    return places


def moved(token, places):
    return {"solution": {"token": token, "x": places}}


if __name__ == "__main__":  # for tests in other languages: the data folder of the server, and a token
    import sys
    import types
    print(json.dumps(places_of(types.SimpleNamespace(data=sys.argv[1]), sys.argv[2])))
