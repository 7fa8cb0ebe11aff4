#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The crowd in a quick form, and that its judge sees what it must see."""
import sys

sys.dont_write_bytecode = True

from kit import crowd  # noqa: E402
from kit.crowd import Adjust, Findings, Order, Request  # noqa: E402
from kit.harness import Failure, equal, rule, run, true  # noqa: E402

QUICK = crowd.options_read(["--users", "5000", "--units", "300"])
USERS = [f"{user:016x}" for user in range(10)]


def request(user, start, end, what="won", ticket=None, number=0, quantity=1, keyed=1):
    status = {"won": 202, "lost": 0}.get(what, 409)
    told = ticket or (f"t{user}" if what == "won" else "-")
    return Request(user, number, quantity, keyed, "f", start, end, status, what, told, "o" + told if what == "won" else "-")


def order(number, user, ticket=None, quantity=1):
    ticket = ticket or f"t{user}"
    return Order(number, USERS[user], ticket, "o" + ticket, 1, quantity)


def told_findings(requests, orders):
    findings = Findings()
    crowd.check_told(findings, requests, orders, USERS, 1, one_each=True)
    return [finding.split(":")[0] for finding in findings]


def sold_out_findings(requests, orders, units, adjusts=()):
    findings = Findings()
    crowd.check_sold_out(findings, requests, orders, units, adjusts)
    return len(findings)


def played(name):
    line, findings = crowd.play(name, QUICK)
    print(f"     {line}, seed {QUICK.seed}")
    if findings:
        raise Failure("\n".join(findings))


@rule
def three_hundred_units_have_three_hundred_winners_and_each_retry_tells_the_same():
    played("a")


@rule
def limits_and_quantities_hold_in_a_crowd():
    played("b")


@rule
def stock_that_moves_is_conserved_and_sold_to_the_last_unit():
    played("c")


@rule
def the_judge_accepts_a_true_story():
    requests = [request(1, 0, 9), request(2, 1, 8, "lost"), request(2, 10, 12), request(3, 5, 11, "sold-out")]
    orders = [order(1, 1), order(2, 2)]
    equal(told_findings(requests, orders), [])
    equal(sold_out_findings(requests, orders, 2), 0)


@rule
def the_judge_sees_what_was_told_and_lost_or_never_told():
    equal(told_findings([request(1, 0, 9)], []), ["told and lost"])
    true("never told" in told_findings([request(1, 0, 9, "sold-out")], [order(1, 1)]))
    true("never asked" in told_findings([request(2, 0, 9, "sold-out")], [order(1, 1)]))


@rule
def the_judge_sees_two_outcomes_and_two_owners():
    orders = [order(1, 1), order(2, 1, "x")]
    equal(told_findings([request(1, 0, 9), request(1, 10, 19, ticket="x")], orders), ["two outcomes"])
    true("told to another" in told_findings([request(1, 0, 9), request(2, 0, 9, ticket="t1")], [order(1, 1)]))


@rule
def the_judge_sees_a_hidden_win_and_a_forgotten_key():
    orders = [order(1, 1)]
    equal(told_findings([request(1, 0, 9), request(1, 10, 19, "sold-out")], orders), ["win hidden"])
    again = request(1, 10, 19, "already-bought", "t1")
    equal(told_findings([request(1, 0, 9), again], orders), ["key forgotten"])


@rule
def the_judge_sees_a_refusal_that_ended_before_the_last_unit_was_asked_for():
    orders = [order(1, 1), order(2, 2)]
    late = [request(1, 0, 9), request(2, 20, 29)]
    equal(sold_out_findings([*late, request(3, 5, 19, "sold-out")], orders, 2), 1)
    equal(sold_out_findings([*late, request(3, 5, 21, "sold-out")], orders, 2), 0)
    equal(sold_out_findings([*late, request(3, 5, 19, "sold-out", quantity=2)], orders, 2), 0)


@rule
def the_judge_follows_the_order_of_tickets():
    """The second win was decided after the first, so not before 20, whenever it was asked for."""
    orders = [order(1, 1), order(2, 2)]
    requests = [request(1, 20, 29), request(2, 0, 29), request(3, 5, 19, "sold-out", quantity=2)]
    equal(sold_out_findings(requests, orders, 2), 1)


@rule
def the_judge_counts_stock_that_was_added_before_and_forgives_what_was_removed_meanwhile():
    refused = [request(1, 0, 9), request(3, 20, 30, "sold-out")]
    equal(sold_out_findings(refused, [order(1, 1)], 1, [Adjust(10, 15, 1)]), 1)
    equal(sold_out_findings(refused, [order(1, 1)], 1, [Adjust(10, 25, 1)]), 0)
    equal(sold_out_findings(refused, [order(1, 1)], 1, [Adjust(10, 15, 1), Adjust(29, 40, -1)]), 0)


run()
