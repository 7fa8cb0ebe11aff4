# SPDX-License-Identifier: Apache-2.0
"""A crowd on push connections: each buys one unit and waits to be told of its order.

    PUSH_CLIENTS=10000 python3 tests/e2e/kit/push_crowd.py      # prints the figures; needs `ulimit -n` above the clients

crowd(server, clients) is the same for a test: it fails if one of them is not told, and returns the figures."""
import asyncio
import json
import os
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))  # run as a program too

from kit.harness import Server, equal, request_bytes, true  # noqa: E402
from kit.push_client import PING, PONG, TEXT, frame, handshake

CONNECTING = 64  # handshakes at once
BUYERS = 8       # connections that the purchases share
EVENT_S = 60


def resident_kib(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


class Http:
    """A keep-alive connection, one request after another."""

    def __init__(self, port):
        self.port = port

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def request(self, method, path, headers):
        self.writer.write(request_bytes(method, path, None, headers))
        head = await self.reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        return int(head[9:12]), json.loads(await self.reader.readexactly(size))


class Client:
    async def connect(self, port, session):
        self.session = session
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        self.writer.write(handshake(session)[0])
        head = await self.reader.readuntil(b"\r\n\r\n")
        true(head.startswith(b"HTTP/1.1 101 "), head[:200])
        equal((await self.message())["type"], "state")

    async def message(self):
        while True:
            first, second = await self.reader.readexactly(2)
            size = second
            if second == 126:
                size, = struct.unpack(">H", await self.reader.readexactly(2))
            payload = await self.reader.readexactly(size)
            if first & 15 == PING:
                self.writer.write(frame(PONG, payload))
            elif first & 15 == TEXT:
                return json.loads(payload)

    async def event(self):
        message = await asyncio.wait_for(self.message(), EVENT_S)
        equal((message["type"], message["event"]), ("order", "created"))
        self.told_s = time.monotonic()
        self.told = message["order"]["ticket"]


async def shared(count, jobs, act):
    """Runs act(worker state, job) for all jobs on `count` workers."""
    jobs = iter(jobs)

    async def work():
        http = await Http(shared.port).open()
        for job in jobs:
            await act(http, job)
        http.writer.close()
    await asyncio.gather(*(work() for _ in range(count)))


async def play(server, clients, item):
    shared.port = server.port
    sessions, sockets = [], [Client() for _ in range(clients)]

    async def session_get(http, _):
        status, answer = await http.request("POST", "/v1/session", {})
        equal(status, 201)
        sessions.append(answer["session"])

    async def buy(http, client):
        session = {"Authorization": f"Bearer {client.session}"}
        status, answer = await http.request("POST", f"/v1/items/{item}/pass", session)
        equal(status, 201, str(answer))
        status, answer = await http.request(
            "POST", f"/v1/items/{item}/buy", {**session, "Stampede-Pass": answer["pass"]})
        equal(status, 202, str(answer))
        client.won, client.won_s = answer["ticket"], time.monotonic()

    await shared(BUYERS, range(clients), session_get)
    before = resident_kib(server.process.pid)
    gate = asyncio.Semaphore(CONNECTING)

    async def connect(client):
        async with gate:
            await client.connect(server.port, sessions.pop())
    began = time.monotonic()
    await asyncio.gather(*(connect(client) for client in sockets))
    connected_s = time.monotonic() - began
    grown = resident_kib(server.process.pid) - before
    events = [asyncio.ensure_future(client.event()) for client in sockets]
    began = time.monotonic()
    await shared(BUYERS, sockets, buy)
    bought_s = time.monotonic() - began
    await asyncio.gather(*events)
    equal([client.told for client in sockets], [client.won for client in sockets], "who was told what")
    waits = sorted(client.told_s - client.won_s for client in sockets)
    for client in sockets:
        client.writer.close()
    return {"clients": clients, "connected_s": connected_s, "bought_s": bought_s,
            "last_event_s": max(client.told_s for client in sockets) - began,
            "after_win_median_ms": waits[len(waits) // 2] * 1000, "after_win_max_ms": waits[-1] * 1000,
            "bytes_per_socket": grown * 1024 / clients}


def crowd(server, clients):
    item = server.open_item(total=clients)
    return asyncio.run(play(server, clients, item))


if __name__ == "__main__":
    COUNT = int(os.environ.get("PUSH_CLIENTS", "10000"))
    shop = Server(settings={"server.connections_max": 2 * COUNT + 100}).start()
    for name, value in crowd(shop, COUNT).items():
        print(f"{name:20} {value:.1f}" if isinstance(value, float) else f"{name:20} {value}")
    shop.stop()
    shop.verify()
    sys.exit(0)
