# SPDX-License-Identifier: Apache-2.0
"""The waiting room over restarts and kill -9: what was told is there, under the same number, and the draw is the same.

KILLS=N: so many kills (3). PEOPLE=N: so many who enter meanwhile (300)."""
import os
import random
import threading
import time

from kit.harness import Closed, among, equal, eventually, rule, run, true
from kit.room_guests import Guest, drawn, marks_of, open_now, room, server, stampede_in, work_out

KILLS = int(os.environ.get("KILLS", "3"))
PEOPLE = int(os.environ.get("PEOPLE", "300"))



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


@rule
def nobody_who_was_admitted_waits_again_after_a_restart():
    sale, item, probe = room(total=40)
    guests = [probe] + [Guest(server) for _ in range(29)]
    for guest in guests[1:]:
        guest.enter(sale)
    open_now(sale)
    eventually(lambda: all(guest.stands(sale)["state"] == "admitted" for guest in guests), "all are admitted")
    for kill in (True, False, True):
        server.kill() if kill else server.stop()
        server.spawn()
        ready = asked = 0
        end = time.monotonic() + 20
        while ready < 3 and time.monotonic() < end:
            try:
                ready += server.get("/readyz").status == 200
                for guest in (guests[asked % 30], guests[(asked + 7) % 30]):
                    reply = guest.look(sale)
                    asked += 1
                    if ready == 0 and reply.status == 503:
                        continue  # not known again yet: no answer, but no wrong one
                    equal((reply.status, reply.json().get("state")), (200, "admitted"), str(reply.body[:200]))
                    among(guest.ask_pass(item).status, (201, 503) if ready == 0 else (201,))
            except (OSError, Closed):
                time.sleep(0.002)
        equal(ready, 3, "never ready")


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


run()
