# SPDX-License-Identifier: Apache-2.0
"""How the line of a waiting room moves: by stock, past those who never come, to the end."""
import time

from kit.harness import equal, eventually, problem, rule, run, true
from kit.room_guests import TURN_MS, Guest, drawn, marks_of, open_now, room, server, work_out


@rule
def a_sale_that_is_opened_by_hand_long_before_its_start_can_be_entered():
    """room.open_ms is ten minutes here, the start is in two hours."""
    sale = server.sale(start_in_ms=7200000, waiting_room=True)
    item = server.item(sale, total=2)
    server.publish(sale)
    guest = Guest(server)
    problem(guest.enter(sale), 403, "room-not-open")
    open_now(sale)
    reply = eventually(lambda: (r := guest.enter(sale)).status == 202 and r, "the room of an open sale stays closed")
    true(reply.json()["poll_after_ms"] < 10000, f"told to come back as if the sale began in two hours: {reply.json()}")
    eventually(lambda: guest.stands(sale)["state"] == "admitted", "nobody goes in")
    equal(guest.buy(item).status, 202)
    server.admin_ok("POST", f"/sales/{sale}/pause")
    late = Guest(server)
    equal(late.enter(sale).status, 202, "a pause does not close the room")
    server.admin_ok("POST", f"/sales/{sale}/resume")
    eventually(lambda: late.stands(sale)["state"] == "admitted", "nobody goes in after the pause")
    equal(late.buy(item).status, 202)


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
def every_sale_may_have_its_room_at_the_same_time():
    product, rooms = server.product(), []
    for _ in range(70):
        sale = server.sale(start_in_ms=-1000, waiting_room=True)
        rooms.append((sale, server.item(sale, product=product, total=1)))
        server.publish(sale, visible=False)
    guest = Guest(server)
    for sale, _ in rooms:
        eventually(lambda at=sale: guest.enter(at).status == 202, "a room does not open")
    for sale, item in rooms:
        eventually(lambda at=sale: guest.stands(at)["state"] == "admitted", f"the room of sale {sale} does not advance")
    equal(guest.buy(rooms[-1][1]).status, 202)
    for sale, _ in rooms:
        server.admin_ok("POST", f"/sales/{sale}/end")


@rule
def a_room_whose_sale_was_ended_by_hand_goes_on_when_it_is_opened_again():
    sale, item, first = room(total=1)
    open_now(sale)
    eventually(lambda: first.stands(sale)["state"] == "admitted", "nobody goes in")
    server.admin_ok("POST", f"/sales/{sale}/end")
    time.sleep(TURN_MS / 1000 + 0.3)  # by now it is let go
    server.admin_ok("POST", f"/sales/{sale}/reopen")
    server.admin_ok("POST", f"/sales/{sale}/open")
    late = Guest(server)
    eventually(lambda: late.enter(sale).status == 202, "nobody can enter")
    eventually(lambda: late.stands(sale)["state"] == "admitted", "the line stands still")
    equal(late.buy(item).status, 202)


run()
