# SPDX-License-Identifier: Apache-2.0
"""The waiting room, as users see it: numbers, two devices, refusals, push."""
import threading
import time

from kit.harness import equal, eventually, problem, rule, run, true
from kit.push_client import Push, upgrade
from kit.room_guests import TURN_MS, Guest, drawn, open_now, room, server, stampede_in



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
def who_comes_first_to_an_idle_room_is_not_sent_away_for_long():
    sale, _, first = room(total=5)
    open_now(sale)
    eventually(lambda: first.stands(sale)["state"] == "admitted", "the first is not admitted")
    equal(first.stands(sale)["turn_ms"], TURN_MS)
    time.sleep(1.5)  # the line is empty, and its places are free
    here = Guest(server).enter(sale).json()
    if here["state"] == "waiting":
        equal(here["eta_ms"], 0, here)
    true(1000 <= here["poll_after_ms"] < 1500, here)


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
def the_switch_that_opens_the_room_lets_everybody_in_and_only_while_it_is_on():
    sale, item, _ = room(total=50)
    open_now(sale)
    problem(Guest(server).ask_pass(item), 404, "not-in-room")
    server.admin_ok("PATCH", "/switches", {"bypass_waiting_room": True}, role="operator")
    guest = Guest(server)
    equal(guest.ask_pass(item).status, 201)
    guest.win(item)
    server.admin_ok("PATCH", "/switches", {"bypass_waiting_room": False}, role="operator")
    problem(Guest(server).ask_pass(item), 404, "not-in-room")


@rule
def an_operator_holds_the_line_and_lets_it_go_on():
    server.admin_ok("PATCH", "/switches", {"room_rate": 0}, role="operator")
    sale, _, _ = room(total=50)
    guests = [Guest(server) for _ in range(5)]
    for guest in guests:
        equal(guest.enter(sale).status, 202)
    open_now(sale)
    drawn(sale)
    time.sleep(1)  # ten turns of the worker
    equal({guest.stands(sale)["state"] for guest in guests}, {"waiting"})
    server.admin_ok("PATCH", "/switches", {"room_rate": 1000}, role="operator")
    eventually(lambda: all(guest.stands(sale)["state"] != "waiting" for guest in guests), "the line stands still")


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
