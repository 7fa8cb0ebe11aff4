# SPDX-License-Identifier: Apache-2.0
"""Push over WebSocket in the real program: who may connect, which frames are taken, what is cut, how it ends. What is told:
push_text_test.py."""
import json
import socket
import struct
import subprocess
import threading
import time

from kit.harness import Buyer, Closed, Server, equal, eventually, problem, rule, run, true
from kit.push_client import BINARY, CLOSE, PING, PONG, TEXT, Push, frame, handshake, upgrade
from kit.push_crowd import resident_kib

server = Server(settings={"cors.origins": "https://shop.example"}).start()


# ---- who may ----


@rule
def a_session_is_needed_before_the_upgrade():
    problem(upgrade(server), 401, "session-required")
    problem(upgrade(server, "x" * 48), 401, "session-invalid")
    problem(upgrade(server, "short"), 401, "session-invalid")
    problem(upgrade(server, headers={"Authorization": "Basic abc"}), 401, "session-invalid")
    short = Server(settings={"session.life_s": 60}).start()
    problem(upgrade(short, Buyer(server).session), 401, "session-invalid")
    short.stop()


@rule
def the_session_travels_as_a_protocol_or_as_a_header_and_is_never_echoed():
    buyer = Buyer(server)
    with Push(server, buyer.session) as push:
        equal(push.headers["sec-websocket-protocol"], "stampede.v1")
        true(buyer.session not in str(push.headers), "the session came back")
        equal(push.message()["type"], "state")
    with Push(server, None, headers={"Authorization": f"Bearer {buyer.session}"}) as push:
        true("sec-websocket-protocol" not in push.headers, "a protocol nobody asked for")
        equal(push.message()["type"], "state")
    problem(upgrade(server, headers={"Sec-WebSocket-Protocol": f"bearer.{buyer.session}"}), 400, "malformed-request")


@rule
def foreign_pages_are_refused_and_named_ones_are_not():
    session = Buyer(server).session
    for origin in ("https://evil.example", "https://shop.test.evil.example", "null", "shop.test", "https://",
                   "https://shop.example.evil", "file://shop.test", "https://shop.test:444"):
        problem(upgrade(server, session, headers={"Origin": origin}), 403, "origin-not-allowed")
    for origin in ("https://shop.example", "https://shop.test", "http://SHOP.test"):
        with Push(server, session, headers={"Origin": origin}) as push:
            equal(push.message()["type"], "state", origin)


@rule
def only_a_well_formed_upgrade_is_one():
    session = Buyer(server).session
    reply = server.get("/v1/push", session=session)
    problem(reply, 426, "upgrade-required")
    equal((reply.headers["upgrade"], reply.headers["sec-websocket-version"]), ("websocket", "13"))
    for version in ("12", "8", "013", "13, 12", ""):
        problem(upgrade(server, session, headers={"Sec-WebSocket-Version": version}), 426, "upgrade-required")
    problem(upgrade(server, session, without=("Sec-WebSocket-Version",)), 426, "upgrade-required")
    for headers, without in (({"Connection": "keep-alive"}, ()), ({}, ("Connection",)), ({}, ("Sec-WebSocket-Key",)),
                             ({"Sec-WebSocket-Key": "AAAA"}, ()), ({"Sec-WebSocket-Key": "A" * 22 + "=="}, ()),
                             ({"Sec-WebSocket-Key": "A" * 24}, ()), ({"Sec-WebSocket-Key": "-" * 21 + "A=="}, ())):
        reply = upgrade(server, session, headers=headers, without=without)
        if headers.get("Sec-WebSocket-Key") == "A" * 22 + "==":
            equal(reply.status, 101)
        else:
            problem(reply, 400, "malformed-request")
    problem(server.request("POST", "/v1/push", {}, session=session), 405, "method-not-allowed")
    equal(server.request("HEAD", "/v1/push", session=session,
                         headers={"Upgrade": "websocket", "Connection": "Upgrade"}).status, 405)
    problem(upgrade(server, session, path="/v1/push?watch=1,x"), 400, "bad-query")
    problem(upgrade(server, session, path="/v1/push?watch=1,2,3,4,5,6,7,8,9"), 400, "bad-query")
    old = server.raw(handshake(session)[0].replace(b"HTTP/1.1", b"HTTP/1.0"))
    true(b" 400 " in old.split(b"\r\n")[0], old[:60])


# ---- frames ----


@rule
def a_ping_gets_its_pong_and_a_close_its_close():
    with Push(server, Buyer(server).session) as push:
        push.message()
        push.send(frame(PING, b"are you there"))
        equal(push.answered(), (PONG, b"are you there"))
        for byte in frame(PING, b"slowly"):
            push.send(bytes([byte]))
            time.sleep(0.002)
        equal(push.answered(), (PONG, b"slowly"))
        push.send(frame(PONG, b"unasked") + frame(CLOSE, struct.pack(">H", 1000) + b"bye"))
        equal(push.closed(), (1000, ""))
        try:
            push.read_frame()
            true(False, "more after the close")
        except Closed:
            pass


@rule
def frames_that_no_browser_sends_end_the_connection_with_the_right_code():
    session = Buyer(server).session
    wrong = [
        (1002, frame(TEXT, b'{"watch":[]}', mask=None)),
        (1002, frame(TEXT, b'{"watch":[]}', reserved=4)),
        (1002, frame(3, b"")), (1002, frame(11, b"")), (1002, frame(0, b"x")),
        (1002, frame(PING, b"x" * 126)), (1002, frame(PING, b"", final=False)),
        (1002, frame(CLOSE, b"x")), (1002, frame(CLOSE, struct.pack(">H", 1005))),
        (1002, b"\x81\xfe\x00\x05" + b"\0" * 4 + b"hello"),  # a length in more bytes than it needs
        (1003, frame(BINARY, b"x")), (1003, frame(TEXT, b"{", final=False)),
        (1007, frame(TEXT, b'{"watch":["\xff"]}')), (1007, frame(TEXT, b"\xed\xa0\x80")),
        (1007, frame(CLOSE, struct.pack(">H", 1000) + b"\xc0\x80")),
        (1008, frame(TEXT, b"hello")), (1008, frame(TEXT, b'{"watch":[1,2,3,4,5,6,7,8,9]}')),
        (1008, frame(TEXT, b'{"watch":["1"]}')), (1008, frame(TEXT, b'{"watch":[1]}x')),
        (1008, frame(TEXT, b'{"watch":[-1]}')), (1008, frame(TEXT, b"")),
        (1009, frame(TEXT, b"x" * 1025)), (1009, frame(TEXT, b"", length=1 << 62)),
    ]
    for code, data in wrong:
        with Push(server, session) as push:
            push.message()
            push.send(data)
            equal(push.closed()[0], code, repr(data[:40]))
            true(len(push.rest) == 0, "more after the close")


@rule
def bytes_behind_the_upgrade_are_frames():
    session = Buyer(server).session
    with socket.create_connection(("127.0.0.1", server.port), 10) as raw:
        raw.sendall(handshake(session)[0] + frame(PING, b"1") + frame(PING, b"2")[:5])
        raw.sendall(frame(PING, b"2")[5:] + b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
        data = b""
        while chunk := raw.recv(65536):
            data += chunk
    body = rest = data.partition(b"\r\n\r\n")[2]
    pongs = []
    while rest:  # short frames, and the first state may come between any two of them
        pongs += [rest[2:2 + rest[1]]] if rest[0] & 15 == PONG else []
        rest = rest[2 + rest[1]:]
    equal(pongs, [b"1", b"2"], body)
    true(b"HTTP/1.1 200" not in body, "HTTP on a websocket")


# ---- bounds ----


@rule
def a_client_that_never_reads_is_cut_and_costs_no_memory():
    items = [server.open_item(total=1) for _ in range(8)]
    before, cut = resident_kib(server.process.pid), server.metrics()['stampede_push_cut_total{reason="slow"}']
    for _ in range(20):
        with Push(server, Buyer(server).session, receive_bytes=4096) as push:
            wish = frame(TEXT, json.dumps({"watch": items}).encode()) * 100
            try:
                for _ in range(1000):
                    push.send(wish)
            except (ConnectionError, socket.timeout):
                continue
            true(False, "100,000 answers were kept for somebody who does not read")
    equal(server.metrics()['stampede_push_cut_total{reason="slow"}'], cut + 20)
    grown = resident_kib(server.process.pid) - before
    print(f"     20 sockets that never read: {grown} KiB more")
    # A sanitizer keeps what was freed for a while.
    true(grown < (65536 if "asan" in server.binary else 4096), f"{grown} KiB more")


@rule
def sockets_leave_room_for_buying():
    short = Server(settings={"session.life_s": 60, "server.connections_max": 16, "server.threads": 1}).start()
    sockets = [Push(short, Buyer(short).session) for _ in range(12)]
    problem(upgrade(short, Buyer(short).session), 503, "too-popular")
    for push in sockets:
        push.message()
        push.socket.close()
    eventually(lambda: short.metrics()["stampede_push_sockets"] == 0, "sockets stay counted")
    with Push(short, Buyer(short).session) as push:
        push.message()
    short.stop()


@rule
def a_session_that_is_over_ends_its_sockets():
    command = [server.binary, "mint", "--data", server.data, "--session", "--users", "1:1", "--life", "2"]
    session = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    with Push(server, session) as push:
        equal(push.message()["type"], "state")
        equal(push.closed(), (1008, "the session has expired"))
    problem(upgrade(server, session), 401, "session-invalid")
    true(server.metrics()['stampede_push_cut_total{reason="session"}'] >= 1, "not counted")


@rule
def a_drain_says_goodbye_and_when_to_come_back():
    leaving = Server(settings={"server.threads": 1}).start()
    sockets = [Push(leaving, Buyer(leaving).session) for _ in range(20)]
    for push in sockets:
        push.message()
    stopping = threading.Thread(target=leaving.stop)
    began = time.monotonic()
    stopping.start()
    hints = set()
    for push in sockets:
        code, reason = push.closed()
        equal((code, reason[:9]), (1001, "retry_ms="))
        hints.add(int(reason[9:]))
        push.socket.close()
    stopping.join()
    true(len(hints) > 10 and all(500 <= hint <= 10000 for hint in hints), f"hints {hints}")
    true(time.monotonic() - began < 5, "the drain waited for sockets")


run()
