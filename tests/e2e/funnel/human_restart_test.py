# SPDX-License-Identifier: Apache-2.0
"""A challenge is good once, over restarts too: what was used, or given out, before one is refused without blame."""
import time

from kit.bans import findings
from kit.clocks import WrongServer
from kit.harness import PICTURES, Buyer, Server, equal, eventually, problem, rule, run, true
from kit.solving import moved, payload, places_of, solve, work

HASHES = 256
SETTINGS = {**PICTURES, "human.pow_hashes": HASHES, "server.threads": 2, "watch.failures": "report", "watch.failures_per_minute": 1}
server = Server(settings=SETTINGS)
server.start()
items = {check: server.open_item(total=50, sale_fields={"human_check": check}) for check in ("pow", "slider")}


def challenge(buyer, kind="pow", at=None):
    at = at or server
    return eventually(lambda: (lambda given: given if kind == "pow" or "token" in given else None)(
        at.get(f"/v1/items/{items[kind]}/challenge?kind={kind}", session=buyer.session).json()), "no challenge")


def ask(buyer, body, kind="pow", at=None):
    return (at or server).request("POST", f"/v1/items/{items[kind]}/pass", body, session=buyer.session)


def refused(reply, kind="pow"):
    """As a client understands it: get a new one, there."""
    problem(reply, 403, "human-check-failed", challenge=f"/v1/items/{items[kind]}/challenge",
            kinds=["pow"] if kind == "pow" else [kind, "pow"])


@rule
def used_before_a_restart_is_used_and_a_new_one_is_good_at_once():
    for kill in (False, True):
        buyer = Buyer(server)
        used, unused = payload(solve(challenge(buyer))), payload(solve(challenge(buyer)))
        given = challenge(buyer, "slider")["token"]
        piece = moved(given, places_of(server, given))
        equal(ask(buyer, used).status, 201)
        equal(ask(buyer, piece, "slider").status, 201)
        server.restart(kill=kill)
        for _ in range(8):  # whichever edge is asked
            refused(ask(buyer, used))
            refused(ask(buyer, piece, "slider"), "slider")
        refused(ask(buyer, unused))
        again = payload(solve(challenge(buyer)))
        equal(ask(buyer, again).status, 201)
        problem(ask(buyer, again), 409, "human-check-spent")
        given = challenge(buyer, "slider")["token"]
        equal(ask(buyer, moved(given, places_of(server, given)), "slider").status, 201)


@rule
def nobody_is_blamed_for_a_restart():
    buyer = Buyer(server)
    solved = payload(solve(challenge(buyer)))
    server.restart()
    for _ in range(12):
        refused(ask(buyer, solved))
    equal(work(challenge(buyer)), HASHES)  # no dearer
    time.sleep(2.2)  # the rules have looked
    equal(findings(server), [])
    metrics = server.metrics()
    equal((metrics['stampede_human_total{answer="old"}'], metrics['stampede_human_total{answer="failed"}']), (12, 0))
    wrong = solve(challenge(buyer))
    wrong["solution"]["counter"] += 1
    problem(ask(buyer, payload(wrong)), 403, "human-check-failed")
    true(eventually(lambda: findings(server), "a wrong answer is blamed on nobody"))


@rule
def a_wall_clock_that_was_set_does_not_bring_it_back():
    wrong = WrongServer(settings=SETTINGS)
    wrong.start()
    items["pow"] = wrong.open_item(total=50, sale_fields={"human_check": "pow"})
    for offset_ms in (-30000, 3600000, 0):  # a little back, far ahead, and back as far as the log lets it
        buyer = Buyer(wrong)
        used = payload(solve(challenge(buyer, at=wrong)))
        equal(ask(buyer, used, at=wrong).status, 201)
        wrong.wall_set(offset_ms)
        wrong.restart(kill=True)
        refused(ask(buyer, used, at=wrong))
        solved = payload(solve(challenge(buyer, at=wrong)))
        equal(ask(buyer, solved, at=wrong).status, 201)
    wrong.stop()


@rule
def a_pass_that_is_good_once_outlives_a_restart_and_buys_once():
    item = server.open_item(total=5, sale_fields={"pass_once": True})
    ann, bob = Buyer(server), Buyer(server)
    used, unused = ann.get_pass(item), bob.get_pass(item)
    ticket = ann.win(item, give=used)["ticket"]
    server.restart(kill=True)
    equal(problem(ann.buy(item, give=used), 409, "already-bought")["ticket"], ticket)
    bob.win(item, give=unused)  # nobody loses a turn to a restart
    eventually(lambda: server.counts(item)["held"] == 2, "not two units")


run()
