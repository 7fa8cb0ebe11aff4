# SPDX-License-Identifier: Apache-2.0
"""Shaping: who has no chance is told to come back and costs no stock; whatever is refused so, every unit is sold.

The server is halted while a crowd sends, so that all of it arrives at one moment.
"""
import signal

from kit.harness import Buyer, Server, equal, eventually, halt, problem, request_bytes, rule, run, true

SLACK = 64  # NO_CHANCE_SLACK of src/funnel/door.c
ROUNDS_MAX = 50

server = Server(settings={"pass.life_s": 600}).start()


def door(answer):
    line = f'stampede_door_total{{answer="{answer}"}} '
    return next(int(row[len(line):]) for row in server.get("/metrics").body.decode().splitlines() if row.startswith(line))


def passes(item, count):
    return [Buyer(server).get_pass(item) for _ in range(count)]


def all_at_once(item, given, **fields):
    """The answers to one purchase with each pass, all sent before the server looks at the first."""
    connections = [server.connect() for _ in given]
    halt(server.process.pid)
    try:
        for connection, one in zip(connections, given):
            connection.send(request_bytes("POST", f"/v1/items/{item}/buy", None, {"Stampede-Pass": one, **fields}))
    finally:
        server.process.send_signal(signal.SIGCONT)
    replies = [connection.read_reply() for connection in connections]
    for connection in connections:
        connection.close()
    return replies


def until_told(item, given):
    """{pass: final answer}, coming back as told; and how often somebody had to."""
    final, again = {}, 0
    for _ in range(ROUNDS_MAX):
        waiting = [one for one in given if one not in final]
        if not waiting:
            return final, again
        for one, reply in zip(waiting, all_at_once(item, waiting)):
            if reply.status == 503:
                problem(reply, 503, "too-popular")
                true(1 <= int(reply.headers["retry-after"]) <= 5, reply.headers)
                again += 1
            else:
                final[one] = reply
    raise AssertionError(f"{len(given) - len(final)} never got an answer")


@rule
def who_is_behind_more_than_there_is_comes_back_and_every_unit_is_sold():
    units, users = 20, 400
    item = server.open_item(total=units)
    given = passes(item, users)
    before = door("go")
    final, again = until_told(item, given)
    equal(sum(reply.status == 202 for reply in final.values()), units)
    for reply in final.values():
        if reply.status != 202:
            problem(reply, 409, "sold-out")
    true(again > 0, "nobody had to come back")
    true(door("go") - before <= units + 2 * SLACK, "most never reached the inventory")
    equal(door("no-chance"), again)
    equal(server.counts(item)["free"], 0)


@rule
def nobody_is_turned_away_while_there_is_a_unit_for_everyone():
    users = 300
    item = server.open_item(total=users)
    before = door("no-chance")
    equal([reply.status for reply in all_at_once(item, passes(item, users))], [202] * users)
    equal((door("no-chance"), server.counts(item)["free"]), (before, 0))


@rule
def a_queue_of_repetitions_keeps_no_unit_from_those_behind():
    units, users, times = 100, 60, 6
    item = server.open_item(total=units)
    given = passes(item, users)
    all_at_once(item, given[:10] * (users * times // 10))
    final, _ = until_told(item, given)
    true(all(reply.status == 202 or problem(reply, 409, "already-bought") for reply in final.values()))
    equal(server.counts(item)["free"], units - users)


@rule
def an_item_goes_at_its_pace_and_nobody_is_lost_by_it():
    users, pace = 60, 5
    item = server.open_item(total=users, sale_fields={"pace_per_s": pace})
    given = passes(item, users)
    before = door("go")
    first = [reply.status for reply in all_at_once(item, given)]
    equal(set(first), {202, 503})
    equal(door("go") - before, first.count(202), "what is above the pace never reaches the inventory")
    true(first.count(202) < users // 2, "a moment is less than six seconds")
    server.admin_ok("PATCH", f"/sales/{server.sale_of(item)}", {"pace_per_s": 0})
    late = [one for one, status in zip(given, first) if status == 503]
    eventually(lambda: all_at_once(item, late[:1])[0].status == 202, "the pace is not taken off")
    final, _ = until_told(item, late[1:])
    equal([reply.status for reply in final.values()], [202] * (len(late) - 1))
    equal(server.counts(item)["free"], 0)


@rule
def an_item_beside_the_crowded_one_is_not_touched():
    crowded, quiet = server.open_item(total=1), server.open_item(total=50)
    mixed = passes(crowded, 200)
    here = passes(quiet, 50)
    connections = [server.connect() for _ in mixed + here]
    halt(server.process.pid)
    try:
        for connection, (item, one) in zip(connections, [(crowded, one) for one in mixed] + [(quiet, one) for one in here]):
            connection.send(request_bytes("POST", f"/v1/items/{item}/buy", None, {"Stampede-Pass": one}))
    finally:
        server.process.send_signal(signal.SIGCONT)
    replies = [connection.read_reply() for connection in connections]
    for connection in connections:
        connection.close()
    equal([reply.status for reply in replies[len(mixed):]], [202] * len(here))
    equal(sum(reply.status == 202 for reply in replies[:len(mixed)]), 1)
    # Sold out, or told to come back: which of them depends on how the edges shared the crowd.
    true({reply.status for reply in replies[:len(mixed)]} <= {202, 409, 503}, "an answer of another kind")


@rule
def a_winner_behind_a_long_queue_hears_of_the_win():
    item = server.open_item(total=2)
    winner = Buyer(server)
    ticket = winner.win(item)["ticket"]
    crowd = passes(item, 200)
    replies = all_at_once(item, crowd + [winner.get_pass(item)])
    equal(problem(replies[-1], 409, "already-bought")["ticket"], ticket)


run()
