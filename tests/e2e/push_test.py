"""Push over WebSocket in the real program: who may connect, what is told in which order, what is cut, and that it
says the same as polling. The parts: push, desk_push.

PUSH_CLIENTS=N: so many sockets in the crowd (1000)."""
import json
import os
import socket
import struct
import threading
import time

from harness import Buyer, Closed, Server, equal, eventually, problem, rule, run, true
from push_crowd import crowd, resident_kib
from push_client import BINARY, CLOSE, PING, PONG, TEXT, Push, frame, handshake, upgrade

PRICE = 99900
CLIENTS = int(os.environ.get("PUSH_CLIENTS", "1000"))
server = Server(settings={"cors.origins": "https://shop.example", "orders.grace_ms": 500}).start()


def pay(order, reference):
    body = {"amount": PRICE, "currency": "CNY", "reference": reference}
    equal(server.admin("POST", f"/orders/{order}/paid", body, "operator").status, 200)


def refund(order):
    equal(server.admin("POST", f"/orders/{order}/refund", {"to": "stock"}).status, 200)


def cancel(buyer, order):
    equal(server.request("POST", f"/v1/orders/{order}/cancel", session=buyer.session).status, 200)


def is_event(name):
    return lambda message: message["type"] == "order" and message["event"] == name


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


# ---- what is told ----


@rule
def the_life_of_an_order_is_told_as_it_happens():
    item = server.open_item(total=5)
    buyer = Buyer(server)
    with Push(server, buyer.session) as push:
        state = push.message()
        equal((state["type"], state["orders"], state["items"]), ("state", [], []))
        true(abs(state["now_ms"] - server.now_ms()) < 60000, "now_ms")
        ticket = buyer.win(item)["ticket"]
        created = push.until(is_event("created"))
        equal((created["version"], created["order"]["ticket"]), (1, ticket))
        equal(created["order"], buyer.order(ticket), "push and polling")
        pay(created["order"]["order"], "push-1")
        paid = push.until(is_event("paid"))
        equal((paid["version"], paid["order"]), (2, buyer.order(ticket)))
        refund(created["order"]["order"])
        refunded = push.until(is_event("refunded"))
        equal((refunded["version"], refunded["order"]), (3, buyer.order(ticket)))


@rule
def an_order_that_is_cancelled_or_expires_is_told_closed():
    item = server.open_item(total=5)
    quick = server.open_item(total=5, pay_window_ms=1000)
    buyer = Buyer(server)
    with Push(server, buyer.session) as push:
        buyer.win(item)
        cancel(buyer, push.until(is_event("created"))["order"]["order"])
        closed = push.until(is_event("closed"))
        equal(closed["order"]["reason"], "cancelled")
        buyer.win(quick)
        expired = push.until(lambda message: is_event("closed")(message) and message["order"]["item"] == quick)
        equal(expired["order"]["reason"], "expired")


@rule
def versions_never_go_back_and_the_last_word_is_what_polling_says():
    item = server.open_item(total=200, limit_per_user=0)
    buyer = Buyer(server)
    seen = {}

    def note(order):
        true(order["version"] >= seen.get(order["ticket"], {"version": 0})["version"], f"back to {order}")
        seen[order["ticket"]] = order

    with Push(server, buyer.session) as push:
        done = threading.Event()

        def act():
            for number in range(40):
                order = buyer.order(buyer.win(item, key=f"many-{number}")["ticket"])["order"]
                if number % 2:
                    pay(order, f"many-{number}")
                else:
                    cancel(buyer, order)
            done.set()

        worker = threading.Thread(target=act)
        worker.start()

        def settled():
            return done.is_set() and len(seen) == 40 and all(order["state"] != "pending" for order in seen.values())

        while not settled():
            message = push.message()
            for order in message["orders"] if message["type"] == "state" else [message["order"]]:
                note(order)
        worker.join()
    equal(seen, {order["ticket"]: order for order in buyer.get("/v1/orders").json()["orders"]})


@rule
def who_comes_back_gets_the_present_state_and_not_a_replay():
    item = server.open_item(total=5)
    buyer, other = Buyer(server), Buyer(server)
    with Push(server, buyer.session) as push:
        push.message()
        ticket = buyer.win(item)["ticket"]
        order = push.until(is_event("created"))["order"]["order"]
    pay(order, "back-1")
    with Push(server, buyer.session) as push, Push(server, other.session) as strange:
        state = push.message()
        equal((state["type"], state["orders"]), ("state", buyer.get("/v1/orders").json()["orders"]))
        equal([(one["ticket"], one["version"]) for one in state["orders"]], [(ticket, 2)])
        equal(strange.message()["orders"], [])
        refund(order)
        equal(push.until(is_event("refunded"))["version"], 3)
        other.win(item)
        true(is_event("created")(strange.message()), "a stranger hears of their own orders only")


@rule
def all_sockets_of_a_user_hear_it_and_a_ninth_ends_the_oldest():
    single = Server(settings={"server.threads": 1}).start()
    item = single.open_item(total=5)
    buyer = Buyer(single)
    sockets = []
    for _ in range(9):
        sockets.append(Push(single, buyer.session))
        equal(sockets[-1].message()["type"], "state")
    equal(sockets[0].closed()[0], 1008)
    buyer.win(item)
    for push in sockets[1:]:
        push.until(is_event("created"))
        push.socket.close()
    sockets[0].socket.close()
    eventually(lambda: single.metrics()["stampede_push_sockets"] == 0, "sockets stay counted")
    single.stop()


@rule
def items_that_are_watched_say_when_they_are_gone_and_when_they_are_back():
    item, other = server.open_item(total=1), server.open_item(total=1)
    buyer = Buyer(server)
    with Push(server, Buyer(server).session, path=f"/v1/push?watch={item}") as watcher, \
            Push(server, Buyer(server).session) as late:
        state = watcher.message()
        equal([(one["item"], one["state"]) for one in state["items"]], [(item, "available")])
        equal(late.message()["items"], [])
        order = buyer.order(buyer.win(item)["ticket"])
        gone = watcher.message()
        equal((gone["type"], gone["item"], gone["state"]), ("item", item, "sold-out"))
        late.watch(other, item, 999999)
        equal([(one["item"], one["state"]) for one in late.message()["items"]],
              [(other, "available"), (item, "sold-out")])
        cancel(buyer, order["order"])
        for push in (watcher, late):
            back = push.message()
            equal((back["item"], back["state"]), (item, "available"))
        true(back["version"] > gone["version"] > state["items"][0]["version"], "versions grow")
        late.watch()
        equal(late.message(), {"type": "items", "items": []})
        sale = server.sale_of(item)
        server.admin_ok("POST", f"/sales/{sale}/pause")
        equal(watcher.message()["state"], "paused")
        server.admin_ok("POST", f"/sales/{sale}/resume")
        equal(watcher.message()["state"], "available")
        server.admin_ok("POST", f"/sales/{sale}/end")
        equal(watcher.message()["state"], "ended")


# ---- frames ----


@rule
def a_ping_gets_its_pong_and_a_close_its_close():
    with Push(server, Buyer(server).session) as push:
        push.message()
        push.send(frame(PING, b"are you there"))
        equal(push.read_frame(), (PONG, b"are you there"))
        for byte in frame(PING, b"slowly"):
            push.send(bytes([byte]))
            time.sleep(0.002)
        equal(push.read_frame(), (PONG, b"slowly"))
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
    body = data.partition(b"\r\n\r\n")[2]
    true(body.startswith(b"\x8a\x011\x8a\x012"), body)
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
    true(grown < 4096, f"{grown} KiB more")


@rule
def a_client_that_stops_reading_is_cut_after_send_timeout():
    small = Server(settings={"server.send_timeout_ms": 1000}).start()
    item = small.open_item(total=200, limit_per_user=0)
    buyer = Buyer(small)
    with Push(small, buyer.session, receive_bytes=2048) as push:
        # Enough to fill the socket, and less than what may wait behind it.
        wish = frame(TEXT, json.dumps({"watch": [item]}).encode())
        waits = 0
        while small.metrics()['stampede_push_cut_total{reason="slow"}'] == 0 and waits < 4000:
            try:
                push.send(wish)
            except ConnectionError:
                break
            waits += 1
        eventually(lambda: small.metrics()['stampede_push_cut_total{reason="slow"}'] == 1, "not cut")
        eventually(lambda: small.metrics()["stampede_push_sockets"] == 0, "still there")
    small.stop()


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


@rule
def everybody_in_a_crowd_is_told_of_their_own_order():
    busy = Server(settings={"server.connections_max": 2 * CLIENTS + 100}).start()
    figures = crowd(busy, CLIENTS)
    print("     " + ", ".join(f"{name} {value:.0f}" for name, value in figures.items()))
    equal(busy.metrics()['stampede_push_cut_total{reason="slow"}'], 0)
    busy.stop()
    busy.verify()


@rule
def a_kill_loses_nothing_that_a_new_connection_would_not_tell():
    item = server.open_item(total=5)
    buyer = Buyer(server)
    push = Push(server, buyer.session)
    push.message()
    ticket = buyer.win(item)["ticket"]
    push.until(is_event("created"))
    server.restart(kill=True)
    with Push(server, buyer.session) as again:
        equal([order["ticket"] for order in again.message()["orders"]], [ticket])


run()
