#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Dead letters and alarms: a record that the database refuses waits for a person, who retries, returns or dismisses it.

The refusal is real: the database of the stopped server gets fewer units than the inventory has (dead_letters.c)."""
import os
import subprocess

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

server = Server(settings={"orders.grace_ms": 0, "reconcile.interval_ms": 0}).start()
item = server.open_item(total=10)
first = Buyer(server)
first.order(first.win(item)["ticket"])


def total_set(units):
    server.stop()
    server.sql(("UPDATE items SET total = ?, version = version + 1 WHERE id = ?", (units, item)))
    server.start()


def letters(state="open", role="viewer"):
    return server.admin_ok("GET", f"/dead-letters?state={state}", role=role)["dead_letters"]


def alarm(name):
    row = next(row for row in server.admin_ok("GET", "/alarms", role="viewer")["alarms"] if row["name"] == name)
    equal(server.metrics()[f'stampede_alarm{{name="{name}"}}'], int(row["up"]))
    return row


def bury():
    """A buyer wins, and the win becomes a dead letter."""
    known = {letter["id"] for letter in letters("any")}
    buyer = Buyer(server)
    won = buyer.win(item)
    fresh = eventually(lambda: [row for row in letters() if row["id"] not in known], "no dead letter")
    equal(len(fresh), 1)
    return buyer, won, fresh[0]


def decide(letter, action, body=None, role="operator"):
    return server.admin("POST", f"/dead-letters/{letter['id']}/{action}", body, role)


def cli(*words):
    done = subprocess.run([server.binary, "admin", "--url", f"http://127.0.0.1:{server.port}", *words],
                          capture_output=True, text=True, timeout=30,
                          env={**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["operator"]})
    return done.returncode, done.stdout + done.stderr


@rule
def a_record_that_the_database_refuses_becomes_a_letter_and_an_alarm():
    equal((letters(), alarm("dead-letters")["up"]), ([], False))
    total_set(1)  # the inventory has nine more
    buyer, won, letter = bury()
    equal((letter["state"], letter["type"]), ("open", "reserve"))
    true("0 units left, 1 wanted" in letter["reason"], letter)
    whole = server.admin_ok("GET", f"/dead-letters/{letter['id']}", role="viewer")
    equal((whole["ticket"], whole["order"], whole["record"]["item"], whole["record"]["quantity"],
           whole["record"]["channel"], whole["record"]["unit_price"]),
          (won["ticket"], won["order"], item, 1, "web", 99900))
    equal(whole["record"]["user"], whole["record"]["user"].lower())
    row = eventually(lambda: alarm("dead-letters")["up"] and alarm("dead-letters"), "no alarm")
    true("1 records" in row["detail"] and row["since_ms"] > 0, row)
    equal(server.metrics()["stampede_dead_letters_open"], 1)
    equal(server.log().count("raised name=dead-letters"), 1)
    equal(buyer.get(f"/v1/orders/{won['order']}").json()["state"], "creating")


@rule
def who_may_decide_and_what_is_refused():
    letter = letters()[0]
    for action, body in (("retry", None), ("return", None), ("dismiss", {"note": "x"})):
        problem(decide(letter, action, body, role="viewer"), 403, "admin-role")
        problem(decide({"id": 999}, action, body), 404, "not-found")
    for body in ({}, {"note": ""}, {"note": "x" * 201}, {"note": 1}, {"why": "x"}):
        problem(decide(letter, "dismiss", body), 422, "bad-value")
    problem(server.admin("GET", "/dead-letters?state=lost"), 400, "bad-query")
    problem(server.admin("GET", "/dead-letters/999"), 404, "not-found")
    equal(letters()[0]["state"], "open")


@rule
def a_retry_fails_while_the_cause_is_there_and_makes_the_order_when_it_is_gone():
    letter = letters()[0]
    problem(decide(letter, "retry"), 409, "conflict")
    equal([row["state"] for row in letters()], ["open"])
    total_set(10)
    reply = decide(letter, "retry")
    equal((reply.status, reply.json()["state"], reply.json()["resolver"]), (200, "retried", "operator"))
    problem(decide(letter, "retry"), 409, "conflict")
    problem(decide(letter, "return"), 409, "conflict")
    order = server.admin_ok("GET", "/orders?limit=1")["orders"][0]
    equal((order["number"], order["view"]["state"]), (letter["number"], "pending"))
    eventually(lambda: not alarm("dead-letters")["up"], "the alarm stays")
    equal(server.metrics()["stampede_dead_letters_open"], 0)
    equal(server.log().count("cleared name=dead-letters"), 1)


@rule
def a_returned_letter_is_a_rejected_order_and_its_unit_is_sold_again():
    total_set(2)
    buyer, won, letter = bury()
    held = server.counts(item)["held"]
    equal(decide(letter, "return").json()["state"], "returned")
    view = buyer.get(f"/v1/orders/{won['order']}").json()
    equal((view["state"], view["reason"]), ("closed", "rejected"))
    eventually(lambda: server.counts(item)["held"] == held - 1, "the unit does not return")
    total_set(10)
    equal(buyer.buy(item).status, 202, "the buyer may try again")


@rule
def a_dismissed_letter_stays_as_it_is_with_its_note():
    total_set(3)
    _, won, letter = bury()
    equal(cli("dead-letter", "dismiss", str(letter["id"]))[0], 2)
    code, text = cli("dead-letter", "dismiss", str(letter["id"]), "--note", "sold by telephone")
    equal(code, 0, text)
    whole = server.admin_ok("GET", f"/dead-letters/{letter['id']}")
    equal((whole["state"], whole["note"]), ("dismissed", "sold by telephone"))
    total_set(10)
    equal(letters(), [])


@rule
def the_command_line_lists_shows_and_decides():
    total_set(3)
    _, _, letter = bury()
    code, text = cli("dead-letter", "list", "--state", "open")
    true(code == 0 and "units left" in text and "reserve" in text, text)
    code, text = cli("dead-letter", "show", str(letter["id"]))
    true(code == 0 and "record.unit_price: 99900" in text, text)
    code, text = cli("alarms")
    true(code == 0 and "dead-letters" in text, text)
    equal(cli("dead-letter", "retry", str(letter["id"]))[0], 1)
    equal(cli("dead-letter", "return", str(letter["id"]))[0], 0)
    total_set(10)
    actions = [entry["action"] for entry in server.admin_ok("GET", "/audit")["audit"]]
    for action in ("dead-letter.retry", "dead-letter.return", "dead-letter.dismiss"):
        true(action in actions, f"{action} is not in the audit chain: {actions}")


@rule
def after_all_that_nothing_is_wrong():
    eventually(lambda: server.metrics()["stampede_stock_events_open"] == 0, "events stay open")
    done = subprocess.run([server.binary, "reconcile", "--url", f"http://127.0.0.1:{server.port}"], capture_output=True,
                          text=True, timeout=60, env={**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["operator"]})
    equal(done.returncode, 0, done.stdout)


run()
