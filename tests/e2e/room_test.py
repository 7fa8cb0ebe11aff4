"""The waiting room in the real program: numbers, the draw, turns; two devices, restarts, kill -9; the draw checked by an
implementation of its own and by `stampede draw verify`; forged ones found.

KILLS=N: so many kills (3). PEOPLE=N: so many in the rooms that are killed (300)."""
import hashlib
import hmac
import json
import os
import random
import struct
import subprocess
import threading
import time

from harness import (Buyer, Closed, Connection, Server, equal, eventually, problem, request_bytes, rule, run, temp_folder,
                     true)
from push_client import Push, upgrade

KILLS = int(os.environ.get("KILLS", "3"))
PEOPLE = int(os.environ.get("PEOPLE", "300"))
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
    if start_in_ms > 0:  # the desk opens it within a moment; who asks too early is no guest yet
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


def work_out(draw, marks):
    """(commitment, arrivals hash, place of each number)."""
    sale, secret, count = struct.pack("<I", draw["sale"]), bytes.fromhex(draw["secret"]), len(marks)
    chain = sha(b"stampede arrivals 1" + sale)
    for number, mark in enumerate(marks):
        chain = sha(chain + struct.pack("<IQ", number, mark))
    key = mac(secret, b"stampede draw 1" + sale + struct.pack("<I", count) + chain + draw["beacon"].encode())[:16]
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


def cli(*arguments):
    done = subprocess.run([server.binary, "draw", "verify", *arguments], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


# ---- rules -------------------------------------------------------------------------------------------------


@rule
def numbers_count_up_and_two_devices_have_one_place():
    sale, _, first = room()
    equal(first.stands(sale)["number"], 0)
    for number in range(1, 6):
        guest = Guest(server)
        here = guest.enter(sale)
        equal((here.status, here.json()["number"], here.json()["state"], here.json()["drawn"]), (202, number, "waiting", False))
        true(1000 <= here.json()["poll_after_ms"] < 22500 and "ahead" not in here.json(), here)
        again = guest.enter(sale)
        equal((again.status, again.json()["number"]), (202, number), "the same user again")
        equal(guest.stands(sale)["number"], number)
    equal(first.stands(sale)["arrived"], 6)
    draw = server.get(f"/v1/sales/{sale}/draw").json()
    equal((draw["state"], draw["arrived"], len(draw["commitment"])), ("open", 6, 64))
    true("secret" not in draw and "arrivals_hash" not in draw, draw)
    problem(server.get(f"/v1/sales/{sale}/draw/arrivals"), 403, "not-started")


@rule
def who_is_not_in_the_room_gets_nothing_and_bad_questions_change_nothing():
    sale, item, _ = room()
    stranger = Guest(server)
    problem(stranger.look(sale), 404, "not-in-room")
    problem(server.request("POST", f"/v1/sales/{sale}/room"), 401, "session-required")
    problem(server.request("POST", f"/v1/sales/{sale}/room", session="x" * 48), 401, "session-invalid")
    problem(server.request("DELETE", f"/v1/sales/{sale}/room", session=stranger.session), 405, "method-not-allowed")
    problem(server.request("POST", f"/v1/sales/{sale}/room", {"user": 1}, session=stranger.session), 400, "bad-body")
    problem(server.request("POST", "/v1/sales/999999/room", session=stranger.session), 404, "unknown-sale")
    problem(server.get(f"/v1/sales/{sale}/draw/arrivals?after=x"), 400, "bad-query")
    plain = server.sale_of(server.open_item())
    problem(stranger.enter(plain), 404, "no-room")
    problem(server.get(f"/v1/sales/{plain}/draw"), 404, "no-room")
    far = server.sale(start_in_ms=3600000, waiting_room=True)
    server.item(far)
    server.publish(far)
    early = stranger.enter(far)
    problem(early, 403, "room-not-open")
    equal(early.json()["opens_ms"], server.get(f"/v1/sales/{far}").json()["start_ms"] - 600000)
    equal(server.get(f"/v1/sales/{sale}/draw").json()["arrived"], 1)


@rule
def a_pass_is_given_in_turn_and_the_line_follows_the_stock():
    sale, item, probe = room(total=3)
    guests = [probe] + [Guest(server) for _ in range(7)]
    for guest in guests[1:]:
        equal(guest.enter(sale).status, 202)
    open_now(sale)
    draw = drawn(sale)
    late = Guest(server)
    equal(late.enter(sale).json()["number"], 8)
    places = work_out(draw, marks_of(sale))[2]
    line = sorted(range(8), key=lambda number: places[number])
    eventually(lambda: server.get(f"/v1/sales/{sale}/draw").json()["head"] >= 3, "nobody goes in")
    for number in line[:3]:
        equal(guests[number].stands(sale)["state"], "admitted")
        equal(guests[number].buy(item).status, 202)
    refused = late.ask_pass(item)
    problem(refused, 403, "not-your-turn")
    true(refused.json()["state"] in ("waiting", "sold-out") and "retry-after" in refused.headers, refused)
    problem(Guest(server).ask_pass(item), 404, "not-in-room")
    # All are held: nobody else goes in, and everybody stands where the draw put them.
    time.sleep(0.4)
    head = server.get(f"/v1/sales/{sale}/draw").json()["head"]
    for at, number in enumerate(line):
        here = guests[number].stands(sale)
        if at >= head:
            equal((here["state"], here["ahead"], here["position"]), ("waiting", at - head, at - head + 1))
            true(here["odds"] in ("fair", "poor"), here)
    equal(late.stands(sale)["ahead"], 8 - head, "first come, first served after the start")
    # Who has bought gets a pass again, to hear of it: the room does not stand in the way.
    equal(guests[line[0]].ask_pass(item).status, 201)


@rule
def who_does_not_come_does_not_hold_up_the_line():
    sale, item, probe = room(total=1)
    guests = [probe] + [Guest(server) for _ in range(3)]
    for guest in guests[1:]:
        guest.enter(sale)
    open_now(sale)
    places = work_out(drawn(sale), marks_of(sale))[2]
    last = guests[places.index(3)]
    eventually(lambda: last.stands(sale)["state"] == "admitted", "the last one waits for those who never come",
               patience_s=4 * TURN_MS / 1000 + 10)
    equal(last.buy(item).status, 202)
    # Who has missed the turn may still come; here there is nothing left.
    missed = guests[places.index(0)]
    equal(missed.stands(sale)["state"], "admitted")
    problem(missed.buy(item), 409, "sold-out")


@rule
def sold_out_closes_the_room_and_says_so():
    sale, item, probe = room(total=1)
    guests = [probe] + [Guest(server) for _ in range(4)]
    for guest in guests[1:]:
        guest.enter(sale)
    open_now(sale)
    places = work_out(drawn(sale), marks_of(sale))[2]
    winner = guests[places.index(0)]
    eventually(lambda: winner.stands(sale)["state"] == "admitted")
    order = winner.order(winner.buy(item).json()["ticket"])
    server.admin_ok("POST", f"/orders/{order['order']}/paid",
                    {"amount": order["amount"], "currency": "CNY", "reference": f"room-{sale}"}, "operator")
    others = [guest for guest in guests if guest.stands(sale)["state"] != "admitted"]
    if others:
        eventually(lambda: others[-1].stands(sale)["state"] == "sold-out", "the room does not close")
        refused = others[-1].ask_pass(item)
        problem(refused, 403, "not-your-turn")
        equal(refused.json()["state"], "sold-out")


@rule
def the_draw_is_what_was_published_and_forgeries_are_found():
    sale, _, probe = room(total=2)
    before = server.get(f"/v1/sales/{sale}/draw").json()
    guests = [probe] + [Guest(server) for _ in range(40)]
    for guest in guests[1:]:
        guest.enter(sale)
    open_now(sale)
    draw, marks = drawn(sale), marks_of(sale)
    late = Guest(server)
    late.enter(sale)
    commitment, chain, places = work_out(draw, marks)
    equal((commitment, chain, draw["count"]), (before["commitment"], draw["arrivals_hash"], 41))
    equal(draw["commitment"], before["commitment"])
    equal(sorted(places), list(range(41)))
    url = f"http://127.0.0.1:{server.port}"
    saved = os.path.join(temp_folder(), "draw.json")
    code, out = cli("--url", url, "--sale", str(sale), "--save", saved, "--commitment", before["commitment"], "--places")
    equal(code, 0, out)
    told = [tuple(map(int, line.split())) for line in out.splitlines() if line.split()[0].isdigit()]
    equal(told, list(enumerate(places)))
    session = server.request("POST", "/v1/session").json()
    someone = Guest(server, token=None)
    equal(cli("--file", saved, "--user", session["user"])[0], 1, "who was not there")
    someone.session = session["session"]
    equal(cli("--file", saved)[0], 0)
    for path, forge in (("secret", lambda d: d["draw"].update(secret="0" * 64)),
                        ("commitment", lambda d: d["draw"].update(commitment="0" * 64)),
                        ("arrivals_hash", lambda d: d["draw"].update(arrivals_hash="0" * 64)),
                        ("count", lambda d: d["draw"].update(count=40)),
                        ("one mark", lambda d: d.update(marks="0" * 16 + d["marks"][16:])),
                        ("two swapped", lambda d: d.update(marks=d["marks"][16:32] + d["marks"][:16] + d["marks"][32:])),
                        ("one more", lambda d: d.update(marks=d["marks"] + "0" * 16)),
                        ("sale", lambda d: d["draw"].update(sale=sale + 1)),
                        ("state", lambda d: d["draw"].update(state="open")),
                        ("no marks", lambda d: d.pop("marks"))):
        with open(saved) as file:
            forged = json.load(file)
        forge(forged)
        path = os.path.join(temp_folder(), "forged.json")
        with open(path, "w") as file:
            json.dump(forged, file)
        code, out = cli("--file", path)
        equal(code, 1, f"{path}: {out}")
    equal(cli("--file", saved, "--commitment", "0" * 64)[0], 1, "another commitment than the one that was noted")
    equal(cli("--file", "/nonexistent")[0], 2)
    equal(cli("--url", "http://127.0.0.1:1", "--sale", "1")[0], 2)
    equal(cli("--sale", "x")[0], 2)
    equal(cli("--help")[0], 0)


@rule
def ones_own_mark_is_found_by_the_user_alone():
    sale, _, _ = room(total=2)
    session = server.request("POST", "/v1/session").json()
    number = server.request("POST", f"/v1/sales/{sale}/room", session=session["session"]).json()["number"]
    open_now(sale)
    draw, marks = drawn(sale), marks_of(sale)
    equal(marks[number], mark_of(draw, session["user"]))
    code, out = cli("--url", f"http://127.0.0.1:{server.port}", "--sale", str(sale), "--user", session["user"])
    equal(code, 0, out)
    true(f"number {number} and has place {work_out(draw, marks)[2][number]}" in out, out)


@rule
def a_push_connection_hears_of_its_place():
    sale, item, _ = room(total=1)
    guest = Guest(server)
    equal(guest.enter(sale).json()["number"], 1)
    problem(upgrade(server, guest.session, path="/v1/push?room=x"), 400, "bad-query")
    push = Push(server, guest.session, path=f"/v1/push?room={sale}")

    def room_message():
        while True:
            message = push.message()
            if message["type"] == "room":
                return message
    first = room_message()
    equal((first["sale"], first["state"], first["drawn"], first["number"]), (sale, "waiting", False, 1))
    open_now(sale)
    seen = room_message()
    while seen["state"] != "admitted":
        true(seen["drawn"] and seen["ahead"] >= 0, seen)
        seen = room_message()
    equal(guest.ask_pass(item).status, 201)
    push.socket.close()


@rule
def places_and_the_head_survive_a_restart():
    sale, item, probe = room(total=2)
    guests = [probe] + [Guest(server) for _ in range(9)]
    for guest in guests[1:]:
        guest.enter(sale)
    server.restart()
    for number, guest in enumerate(guests):
        equal(guest.stands(sale)["number"], number)
    equal(guests[3].enter(sale).json()["number"], 3)
    open_now(sale)
    draw, marks = drawn(sale), marks_of(sale)
    eventually(lambda: server.get(f"/v1/sales/{sale}/draw").json()["head"] >= 2)
    server.restart(kill=True)
    again = drawn(sale)
    true(again["head"] >= 2, again)
    equal({**again, "head": 0}, {**draw, "head": 0}, "the draw after a restart")
    equal(marks_of(sale), marks)
    places = work_out(draw, marks)[2]
    for number, guest in enumerate(guests):
        if places[number] < 2:
            equal(guest.stands(sale)["state"], "admitted")


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


@rule
def what_was_told_survives_kill_9():
    sale, _, probe = room()
    everybody = [Guest(server) for _ in range(PEOPLE)]
    told, expected = {probe.session: 0}, 1
    for kill in range(KILLS):
        crowd = everybody[:PEOPLE * (kill + 1) // KILLS]  # some are there already, some come now
        groups = [(crowd[i::4], {}, threading.Event()) for i in range(4)]
        threads = [threading.Thread(target=stampede_in, args=(sale, *group)) for group in groups]
        for thread in threads:
            thread.start()
        time.sleep(random.uniform(0.005, 0.08))
        server.restart(kill=True)
        for thread in threads:
            thread.join()
        for _, heard, _ in groups:
            for session, number in heard.items():
                equal(told.setdefault(session, number), number, "a number that changed")
        for guest in everybody:
            reply = guest.look(sale)
            if guest.session in told:
                equal((reply.status, reply.json()["number"]), (200, told[guest.session]), "told, and lost")
            elif reply.status == 200:
                told[guest.session] = reply.json()["number"]
        expected = server.get(f"/v1/sales/{sale}/draw").json()["arrived"]
    for guest in everybody:
        told[guest.session] = guest.enter(sale).json()["number"]
    equal(sorted(told.values()), list(range(PEOPLE + 1)), "numbers that are missing or there twice")
    true(expected <= PEOPLE + 1)


@rule
def many_at_once_get_a_number_each():
    sale, _, _ = room()
    everybody = [Guest(server) for _ in range(200)]
    told, threads = {}, []
    for i in range(8):
        threads.append(threading.Thread(target=stampede_in, args=(sale, everybody[i % 4::4], told, threading.Event())))
        threads[-1].start()
    for thread in threads:
        thread.join()
    equal(sorted(told.values()), list(range(1, 201)))


run()
