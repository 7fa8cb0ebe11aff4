# SPDX-License-Identifier: Apache-2.0
"""The server's time is the authority: one clock for all answers, which never goes back and does not jump when the wall clock does.

The wall clock of the server's process is set wrong by a small library under it (clocks.py)."""
import time

from kit.clocks import WrongServer
from kit.harness import Buyer, equal, eventually, problem, rule, run, true

HOUR_MS = 3600 * 1000
CLOSE_MS = 5000  # the machine may be busy; jumps here are hours


server = WrongServer()


def wall_set(offset_ms):
    server.wall_set(offset_ms)


def times(count):
    """What /v1/time said, one after the other on one connection."""
    with server.connect() as connection:
        return [connection.request("GET", "/v1/time").json()["now_ms"] for _ in range(count)]


server.start()


@rule
def the_time_is_told_in_milliseconds_to_everybody_and_not_kept_by_caches():
    before = int(time.time() * 1000)
    reply = server.get("/v1/time")
    after = int(time.time() * 1000)
    equal(reply.status, 200, str(reply))
    equal(list(reply.json()), ["now_ms"], "what is told")
    true(before - CLOSE_MS <= reply.json()["now_ms"] <= after + CLOSE_MS, f"{before} {reply.json()} {after}")
    true("no-store" in reply.headers.get("cache-control", ""), f"caches: {reply.headers}")


@rule
def the_time_never_goes_back():
    seen = times(2000)
    equal(seen, sorted(seen), "times in order")


@rule
def a_wall_clock_that_jumps_moves_neither_the_time_nor_the_sale():
    item = server.open_item(total=10, sale_fields={"start_in_ms": 2 * HOUR_MS})
    started_ms, started = times(1)[0], time.monotonic()
    for hours in (-5, 0, 3, -24, 24, 0):
        wall_set(hours * HOUR_MS)
        seen = times(50)
        equal(seen, sorted(seen), f"times in order with the wall clock {hours} h off")
        passed_ms = (time.monotonic() - started) * 1000
        true(abs(seen[-1] - started_ms - passed_ms) < CLOSE_MS,
             f"with the wall clock {hours} h off the time moved by {seen[-1] - started_ms} ms in {passed_ms:.0f} ms")
        buyer = Buyer(server)
        true(abs(buyer.expires_ms - seen[-1] - 43200 * 1000) < CLOSE_MS + 1000, "a session's end follows the server's time")
        problem(buyer.ask_pass(item), 403, "not-started")
    wall_set(0)


@rule
def a_wall_clock_that_was_set_back_does_not_take_the_time_back_over_a_restart():
    item = server.open_item(total=10)
    buyer = Buyer(server)
    ticket = buyer.win(item)["ticket"]
    buyer.order(ticket)
    last_ms = times(1)[0]
    wall_set(-HOUR_MS)
    server.restart()
    true(times(1)[0] >= last_ms - CLOSE_MS, f"the time went back by {last_ms - times(1)[0]} ms")
    equal(server.get(f"/v1/items/{item}").json()["accepting"], True, "the sale goes on")
    wall_set(0)
    server.restart()
    eventually(lambda: abs(times(1)[0] - time.time() * 1000) < CLOSE_MS, "the time is right again after a start")


@rule
def a_start_takes_the_wall_clock_as_it_is():
    wall_set(HOUR_MS)  # also shows that the clock of these rules is really wrong
    server.restart()
    true(abs(times(1)[0] - HOUR_MS - time.time() * 1000) < CLOSE_MS, "the time is not the wall clock's")


run()
