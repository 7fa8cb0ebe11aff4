# SPDX-License-Identifier: Apache-2.0
"""The public beacon of a waiting room's draw: named before entry, given after the start, waited for, never twice, over kill -9.

KILLS=N: so many kills around the moment in which a value is given (4)."""
import contextlib
import json
import os
import random
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import threading
import time

from kit.harness import REPOSITORY, Closed, equal, eventually, problem, rule, run, temp_folder, true
from kit.push_client import Push
from kit.room_guests import Guest, beacon_of, drawn, mac, marks_of, open_now, room, server, work_out

KILLS = int(os.environ.get("KILLS", "4"))
NAME = 'drand mainnet, round 5123456 ("quicknet")'
VALUE = "b9a1" * 16
WAIT_LONG_MS = 600000

server.write_config(room__beacon_wait_ms=WAIT_LONG_MS)
server.restart()


def draw_of(sale):
    return server.get(f"/v1/sales/{sale}/draw").json()


def give(sale, value, role="operator"):
    return server.admin("POST", f"/sales/{sale}/beacon", {"value": value}, role)


def change(sale, **fields):
    return server.admin("PATCH", f"/sales/{sale}", fields)


def closed_room(guests=5, name=NAME):
    """(sale, item, guests) of a room whose line is closed and whose draw waits."""
    sale, item, probe = room(total=2, beacon_name=name)
    people = [probe] + [Guest(server) for _ in range(guests - 1)]
    for guest in people[1:]:
        equal(guest.enter(sale).status, 202)
    open_now(sale)
    eventually(lambda: draw_of(sale)["beacon_state"] == "waiting", "the draw does not wait")
    return sale, item, people


def verify(*arguments):
    done = subprocess.run([server.binary, "draw", "verify", *arguments], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def verify_now(sale, *arguments):
    return verify("--url", f"http://127.0.0.1:{server.port}", "--sale", str(sale), *arguments)


def admin_cli(*arguments):
    done = subprocess.run([server.binary, "admin", "--url", f"http://127.0.0.1:{server.port}", "--json", *arguments],
                          capture_output=True, text=True, timeout=60,
                          env={**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["admin"]})
    return done.returncode, done.stdout, done.stderr


@rule
def a_name_is_public_before_entry_opens_and_fixed_from_then_on():
    sale = server.sale(start_in_ms=3600000, waiting_room=True, beacon_name=NAME)
    server.item(sale)
    server.publish(sale)
    for shown in (server.get(f"/v1/sales/{sale}").json(), draw_of(sale),
                  next(one for one in server.get("/v1/sales").json()["sales"] if one["id"] == sale)):
        equal(shown["beacon_name"], NAME)
    draw = draw_of(sale)
    equal((draw["state"], draw["beacon_state"], draw["beacon_value"]), ("open", "announced", None))
    true("beacon_until_ms" not in draw and "beacon" not in draw, draw)
    for name in ("上证指数 2026-11-16 收盘价", "数" * 120, "😀" * 120, '"' * 120, NAME):
        equal(change(sale, beacon_name=name).status, 200, name)
        equal((draw_of(sale)["beacon_name"], server.get(f"/v1/sales/{sale}").json()["beacon_name"]), (name, name))
    for wrong in ("x" * 121, "数" * 121, "a\nb", "\x7f", " x", "x ", "a\u200bb", "a\u202eb", "\ufeffx", "a\u0085b", "a\u00a0b",
                  "a\u2028b", "a\u3000b", 7, None):
        problem(change(sale, beacon_name=wrong), 422, "bad-value")
    problem(change(sale, beacon_value="7"), 422, "bad-value")
    equal(change(sale, beacon_name="").status, 200)
    equal(server.admin_ok("GET", f"/sales/{sale}")["beacon_state"], "none")
    true("beacon_name" not in draw_of(sale), "a name that was taken back")
    equal(change(sale, beacon_name=NAME).status, 200)
    # The room opens ten minutes before the start.
    equal(change(sale, start_ms=server.now_ms() + 300000).status, 200)
    for name in ("another", ""):
        refused = problem(change(sale, beacon_name=name), 409, "conflict")
        true("beacon" in refused["detail"], refused)
    equal(change(sale, beacon_name=NAME, title="Renamed").json()["title"], "Renamed")
    guest = Guest(server)
    entered = eventually(lambda: (lambda reply: reply if reply.status == 202 else None)(guest.enter(sale)), "no entry").json()
    equal((entered["beacon_name"], guest.stands(sale)["beacon_name"]), (NAME, NAME))
    # Who is in relies on it, wherever the start goes.
    equal(change(sale, start_ms=server.now_ms() + 3500000).status, 200)
    problem(change(sale, beacon_name="another"), 409, "conflict")
    equal(draw_of(sale)["beacon_name"], NAME)


@rule
def only_a_waiting_room_has_a_beacon():
    now = server.now_ms()
    body = {"title": "S", "start_ms": now + 60000, "end_ms": now + 120000, "beacon_name": NAME}
    problem(server.admin("POST", "/sales", body), 422, "bad-value")
    problem(server.admin("POST", "/sales", {**body, "waiting_room": True, "beacon_name": "\t"}), 422, "bad-value")
    made = server.admin_ok("POST", "/sales", {**body, "waiting_room": True})
    equal((made["beacon_name"], made["beacon_state"], made["beacon_value"]), (NAME, "announced", None))
    plain = server.sale(start_in_ms=60000)
    problem(change(plain, beacon_name=NAME), 422, "bad-value")
    equal(change(plain, beacon_name=NAME, waiting_room=True).status, 200)


@rule
def the_draw_waits_for_the_value_uses_it_and_says_so():
    sale, item, probe = room(total=2, beacon_name=NAME)
    guests = [probe] + [Guest(server) for _ in range(30)]
    for guest in guests[1:]:
        equal(guest.enter(sale).status, 202)
    problem(give(sale, VALUE), 409, "conflict")  # before the start
    push = Push(server, guests[1].session, path=f"/v1/push?room={sale}")
    open_now(sale)
    draw = eventually(lambda: (lambda seen: seen if seen["beacon_state"] == "waiting" else None)(draw_of(sale)))
    left_ms = draw["beacon_until_ms"] - server.now_ms()
    true(0 < left_ms <= WAIT_LONG_MS, draw)
    equal((draw["state"], draw["beacon_value"]), ("open", None))
    true("secret" not in draw and "beacon" not in draw, draw)
    problem(server.get(f"/v1/sales/{sale}/draw/arrivals"), 403, "not-started")
    late = Guest(server)
    equal(late.enter(sale).json()["number"], 31)
    for guest in (guests[0], guests[7], late):
        here = guest.stands(sale)
        equal((here["state"], here["drawn"], here.get("waits_for_beacon")), ("waiting", False, True))
        true(here["poll_after_ms"] > 5000, here)
        equal(problem(guest.ask_pass(item), 403, "not-your-turn").get("waits_for_beacon"), True)
    message = push.message()
    while message["type"] != "room" or not message.get("waits_for_beacon"):
        message = push.message()
    for wrong in ("", "x" * 201, "a\tb", "数", " 7", "7 ", 7, None):
        problem(give(sale, wrong), 422, "bad-value")
    problem(server.admin("POST", f"/sales/{sale}/beacon", {}), 422, "bad-value")
    problem(server.admin("POST", f"/sales/{sale}/beacon", {"value": "7", "name": "x"}), 422, "bad-value")
    problem(give(sale, VALUE, "viewer"), 403, "admin-role")
    problem(give(999, VALUE), 404, "unknown-sale")
    equal(draw_of(sale)["beacon_state"], "waiting", "refusals change nothing")
    given = give(sale, VALUE)
    equal((given.status, given.json()["changed"], given.json()["beacon_value"]), (200, True, VALUE))
    again = give(sale, VALUE)
    equal((again.status, again.json()["changed"]), (200, False))
    problem(give(sale, VALUE + "0"), 409, "conflict")
    draw, marks = drawn(sale), marks_of(sale)
    equal((draw["beacon_name"], draw["beacon_state"], draw["beacon_value"], draw["beacon"]),
          (NAME, "used", VALUE, beacon_of(NAME, VALUE)))
    equal(give(sale, VALUE).json()["changed"], False, "the same value after the draw")
    problem(give(sale, "7"), 409, "conflict")
    problem(change(sale, beacon_name="another"), 409, "conflict")
    _, _, places = work_out(draw, marks)
    without = work_out({**draw, "beacon": "", "beacon_value": None, "key": key_without(draw, marks)}, marks)[2]
    true(places != without, "the beacon changed nothing")
    eventually(lambda: draw_of(sale)["head"] >= 2, "nobody goes in")
    head = draw_of(sale)["head"]
    for number, guest in enumerate(guests):
        here = guest.stands(sale)
        true("waits_for_beacon" not in here and here["drawn"], here)
        if places[number] < head:
            equal(here["state"], "admitted")
    equal(late.stands(sale)["drawn"], True)
    audit, after = [], 0
    while after is not None:
        page = server.admin_ok("GET", f"/audit?after={after}")
        audit += [entry for entry in page["audit"] if entry["action"] == "sale.beacon"]
        after = page.get("next")
    equal([entry["detail"] for entry in audit], [f'sale {sale} value "{VALUE}"'])
    push.socket.close()


def key_without(draw, marks):
    """The key that the draw would have had without a beacon."""
    sale, chain = struct.pack("<I", draw["sale"]), bytes.fromhex(draw["arrivals_hash"])
    return mac(bytes.fromhex(draw["secret"]),
                      b"stampede draw 1" + sale + struct.pack("<I", len(marks)) + chain)[:16].hex()


@rule
def a_changed_name_or_value_is_found():
    sale, _, _ = closed_room(20)
    equal(give(sale, VALUE).status, 200)
    draw, marks = drawn(sale), marks_of(sale)
    saved = os.path.join(temp_folder(), "draw.json")
    code, out = verify_now(sale, "--save", saved, "--beacon", NAME, "--beacon-value", VALUE, "--places")
    equal(code, 0, out)
    true(NAME in out and VALUE in out, out)
    equal([tuple(map(int, line.split())) for line in out.splitlines() if line.split()[0].isdigit()],
          list(enumerate(work_out(draw, marks)[2])))
    equal(verify("--file", saved, "--beacon", "another")[0], 1)
    equal(verify("--file", saved, "--beacon-value", VALUE + "0")[0], 1)

    def forged(**members):
        with open(saved) as file:
            whole = json.load(file)
        whole["draw"].update(members)
        for name in [name for name, value in members.items() if value == "gone"]:
            del whole["draw"][name]
        path = os.path.join(temp_folder(), "forged.json")
        with open(path, "w") as file:
            json.dump(whole, file)
        return verify("--file", path)
    equal(forged()[0], 0)
    for members in ({"beacon_value": "0" * 64}, {"beacon_name": "another"}, {"beacon_value": None}, {"beacon": ""},
                    {"beacon": "", "beacon_value": None}, {"beacon": "0" * 64}, {"key": "0" * 32}, {"key": "gone"}, {"key": "x"},
                    {"beacon_value": "7", "beacon": beacon_of(NAME, "7")}, {"beacon_name": "n", "beacon": beacon_of("n", VALUE)},
                    {"beacon_name": NAME + VALUE[:1], "beacon_value": VALUE[1:]}, {"beacon_name": "gone"}, {"beacon_value": "gone"},
                    {"beacon_name": "gone", "beacon_value": "gone"}, {"beacon_name": "", "beacon_value": VALUE},
                    {"beacon_value": "x" * 201}, {"beacon": "x" * 65}):
        code, out = forged(**members)
        equal(code, 1, f"{members}: {out}")
    true("\x1b" not in forged(beacon_name="\x1b[31mred")[1], "a stranger's text reaches the terminal")


@rule
def the_python_of_the_document_works_it_out_too():
    with open(os.path.join(REPOSITORY, "docs", "waiting-room.md"), encoding="utf-8") as file:
        program = re.search(r"```python\n(.*?)```", file.read(), re.S).group(1)
    lit, _, _ = closed_room(9, "上证指数 2026-11-16 收盘价")
    equal(give(lit, "3 990.49").status, 200)
    plain, _, _ = room()
    open_now(plain)
    for sale in (lit, plain):
        draw, marks = drawn(sale), marks_of(sale)
        done = subprocess.run([sys.executable, "-c", program, f"http://127.0.0.1:{server.port}/v1/sales/{sale}"],
                              capture_output=True, text=True, timeout=60)
        equal(done.returncode, 0, done.stderr)
        equal(done.stdout.splitlines(), [f"number {number}, mark {marks[number]:016x}: place {place}"
                                         for number, place in enumerate(work_out(draw, marks)[2])])


@rule
def the_value_and_the_draw_survive_kill_9():
    for kill in range(KILLS):
        value = f"{VALUE}{kill}"
        sale, _, guests = closed_room(6)
        until_ms = draw_of(sale)["beacon_until_ms"]
        server.restart(kill=True)
        waiting = eventually(lambda: (lambda seen: seen if seen["beacon_state"] == "waiting" else None)(draw_of(sale)))
        equal(waiting["beacon_until_ms"], until_ms, "a restart makes the wait longer")
        told = []

        def tell():
            try:
                told.append(give(sale, value).status)
            except (Closed, OSError):
                pass
        thread = threading.Thread(target=tell)
        thread.start()
        if kill % 2 == 0:
            thread.join()  # given, and killed before or while it is drawn
            equal(told, [200])
        time.sleep(random.uniform(0, 0.12))
        server.restart(kill=True)
        thread.join()
        if not told:  # nobody knows whether it was written: giving it again is right in both cases
            equal(give(sale, value).status, 200)
        problem(give(sale, "another"), 409, "conflict")
        draw, marks = drawn(sale), marks_of(sale)
        equal((draw["beacon_state"], draw["beacon_value"]), ("used", value))
        places = work_out(draw, marks)[2]
        server.restart(kill=True)
        again = drawn(sale)
        equal({**again, "head": 0}, {**draw, "head": 0}, "the draw after a restart")
        equal(verify_now(sale, "--beacon", NAME, "--beacon-value", value)[0], 0)
        head = eventually(lambda: draw_of(sale)["head"])
        for number, guest in enumerate(guests):
            if places[number] < head:
                eventually(lambda g=guest: g.stands(sale)["state"] == "admitted")


@rule
def a_value_that_does_not_come_is_done_without_and_that_is_published():
    sales = []
    for wait_ms in (0, 1500):
        server.write_config(room__beacon_wait_ms=wait_ms)
        server.restart()
        sale, _, probe = room(total=2, beacon_name=NAME)
        Guest(server).enter(sale)
        open_now(sale)
        draw, marks = drawn(sale), marks_of(sale)
        equal((draw["beacon"], draw["beacon_name"], draw["beacon_state"], draw["beacon_value"]), ("", NAME, "missed", None))
        work_out(draw, marks)
        problem(give(sale, VALUE), 409, "conflict")
        equal(probe.stands(sale)["drawn"], True)
        equal(server.admin_ok("GET", f"/sales/{sale}")["beacon_state"], "missed")
        code, out = verify_now(sale, "--beacon", NAME)
        equal((code, "announced, but not used" in out), (0, True), out)
        equal(verify_now(sale, "--beacon-value", VALUE)[0], 1)
        sales.append((sale, draw))
    # A longer wait afterwards does not reopen what was decided, and a value does not come back.
    server.write_config(room__beacon_wait_ms=WAIT_LONG_MS)
    server.restart(kill=True)
    for sale, draw in sales:
        equal({**drawn(sale), "head": 0}, {**draw, "head": 0})
        problem(give(sale, VALUE), 409, "conflict")


@rule
def a_wait_that_ends_while_the_server_is_down_ends():
    server.write_config(room__beacon_wait_ms=2000)
    server.restart()
    sale, _, _ = room(total=1, beacon_name=NAME)
    open_now(sale)
    until_ms = eventually(lambda: draw_of(sale).get("beacon_until_ms"), "the draw does not wait")
    server.kill()
    server.write_config(room__beacon_wait_ms=WAIT_LONG_MS)
    time.sleep(max(0, until_ms - time.time() * 1000) / 1000 + 0.1)
    server.start()
    equal(drawn(sale)["beacon_state"], "missed")


@contextlib.contextmanager
def database_locked():
    """Somebody else writes: the server can read, and nothing that it writes is taken."""
    database = sqlite3.connect(os.path.join(server.data, "stampede.db"), isolation_level=None, timeout=20)
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        database.execute("ROLLBACK")
        database.close()


@rule
def nobody_hears_a_place_before_it_is_stored_how_it_was_drawn():
    server.write_config(room__beacon_wait_ms=3000)
    server.restart()
    sale, item, _ = room(total=2, beacon_name=NAME)
    server.admin_ok("POST", f"/sales/{sale}/preheat")
    late = Guest(server)
    with database_locked():
        server.admin_ok("POST", f"/sales/{sale}/open")
        eventually(lambda: server.get(f"/v1/items/{item}").json()["state"] == "open")
        equal(late.enter(sale).status, 202)  # the line is closed: this one comes after the draw
        equal(give(sale, VALUE).status, 503)
        time.sleep(1)
        draw = draw_of(sale)
        equal((draw["state"], draw["beacon_state"]), ("open", "announced"), "nothing could be written")
    until_ms = eventually(lambda: draw_of(sale).get("beacon_until_ms"), "it does not begin to wait")
    with database_locked():
        time.sleep(max(0, until_ms - server.now_ms()) / 1000 + 0.3)
        equal(draw_of(sale)["state"], "open", "the time is over, and that could not be written")
        equal(late.stands(sale)["drawn"], False)
    draw = drawn(sale)
    equal((draw["beacon_state"], draw["count"]), ("missed", 1))
    plain, _, _ = room(total=2)
    server.admin_ok("POST", f"/sales/{plain}/preheat")
    with database_locked():
        server.admin_ok("POST", f"/sales/{plain}/open")
        drawn(plain)  # a draw without a beacon needs no database
    server.write_config(room__beacon_wait_ms=WAIT_LONG_MS)
    server.restart()


@rule
def without_a_name_everything_is_as_before():
    sale, _, _ = room(total=1)
    problem(give(sale, VALUE), 409, "conflict")
    open_now(sale)
    draw = drawn(sale)
    problem(give(sale, VALUE), 409, "conflict")
    equal((draw["beacon"], [name for name in draw if name.startswith("beacon_")]), ("", []))
    true("beacon_name" not in server.get(f"/v1/sales/{sale}").json(), "a name from nowhere")
    saved = os.path.join(temp_folder(), "draw.json")
    code, out = verify_now(sale, "--save", saved)
    equal((code, "beacon" in out), (0, False), out)
    with open(saved) as file:
        whole = json.load(file)
    del whole["draw"]["key"]  # as the first servers published it
    with open(saved, "w") as file:
        json.dump(whole, file)
    equal(verify("--file", saved)[0], 0)
    equal(verify("--file", saved, "--beacon", NAME)[0], 1, "a beacon was noted, none was announced")


@rule
def the_command_line_names_and_gives_it():
    code, out, err = admin_cli("sale", "create", "--title", "C", "--start", str(server.now_ms() + 3600000), "--end",
                               str(server.now_ms() + 7200000), "--waiting-room", "--beacon", "first name")
    equal(code, 0, err)
    sale = json.loads(out)["id"]
    equal(json.loads(out)["beacon_name"], "first name")
    code, out, err = admin_cli("sale", "change", str(sale), "--beacon", NAME)
    equal((code, code or json.loads(out)["beacon_name"]), (0, NAME), err)
    equal(admin_cli("sale", "beacon", str(sale), VALUE)[0], 1, "before the start")
    equal(admin_cli("sale", "beacon", str(sale))[0], 2)
    sale, _, _ = closed_room(2)
    code, out, err = admin_cli("sale", "beacon", str(sale), VALUE)
    equal((code, code or json.loads(out)["changed"]), (0, True), err)
    equal(drawn(sale)["beacon_value"], VALUE)


@rule
def a_draw_that_people_went_in_by_is_not_made_anew_after_a_restore():
    sale, _, people = closed_room()
    server.stop()
    database = os.path.join(server.data, "stampede.db")
    backup = os.path.join(temp_folder(), "stampede.db")
    shutil.copy(database, backup)
    server.start()
    equal(give(sale, VALUE).status, 200)
    before = drawn(sale)["key"]
    eventually(lambda: any(guest.stands(sale)["state"] != "waiting" for guest in people), "nobody goes in")
    server.stop()
    shutil.copy(backup, database)
    subprocess.run([server.binary, "restore", "--config", server.config], check=True, capture_output=True, timeout=60)
    server.start()
    eventually(lambda: "nobody is admitted" in server.log(), "the room goes on by another draw")
    true(draw_of(sale)["state"] != "drawn", "drawn without its beacon")
    equal(give(sale, VALUE).status, 200)
    equal(drawn(sale)["key"], before)


run()
