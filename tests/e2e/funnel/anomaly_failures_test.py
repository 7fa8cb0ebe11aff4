# SPDX-License-Identifier: Apache-2.0
"""Every kind of failed check feeds the rule `failures`, by the address that it came from; what is no failed check does not."""
import time

from kit.bans import SECRET, findings, from_, shop, token
from kit.harness import PICTURES, Buyer, equal, eventually, jwt, problem, rule, run, true
from kit.push_client import upgrade
from kit.solving import moved, places_of, payload, solve

LEAST = 10
server = shop(**{**PICTURES, "watch.failures": "report", "watch.failures_per_minute": LEAST, "human.pow_hashes": 50,
                 "payment.providers": "sandbox", "pass.life_s": 3})
plain = server.open_item(total=100)
eve = Buyer(server, token("eve"))
count = 0


def bent(text):
    """The same, with another last-but-one character: well-formed and not signed by the server."""
    return text[:-2] + ("A" if text[-2] != "A" else "B") + text[-1]


def post(path, address, body=None, session=None, **fields):
    return server.request("POST", "/v1" + path, body, {**fields, **from_(address)}, session=session)


def ask(item, address, body, who=None):
    return post(f"/items/{item}/pass", address, body, (who or eve).session)


def somebody():
    """Who fails the human check often is refused: many do it once."""
    somebody.count += 1
    return Buyer(server, token(f"somebody {somebody.count}"))


somebody.count = 0


def challenge(item, kind, who=None):
    """The pool of pictures is filled in its own time; until then there is work instead."""
    def get():
        given = server.get(f"/v1/items/{item}/challenge?kind={kind}", session=(who or eve).session).json()
        return given if kind == "pow" or "token" in given else None
    return eventually(get, "no picture")


def checked_item(check):
    return server.open_item(total=100, sale_fields={"human_check": check})


def fails(attempt, status, name, check=problem):
    """So many of them are a finding, of this address, with the number."""
    global count
    count += 1
    address = f"203.0.113.{count}"
    for _ in range(LEAST):
        check(attempt(address), status, name)
    found = eventually(lambda: [row for row in findings(server) if row.get("address") == address],
                       f"{name}: {LEAST} times, and not found")[0]
    equal((found["rule"], found["outcome"]), ("failures", "reported"))
    equal(found["reason"], f"{LEAST} failed checks within 60 s; threshold allows for 1 user")


# ---- sessions and the shop's tokens


@rule
def forged_sessions_wherever_they_are_shown():
    forged = bent(eve.session)
    shown = [lambda address: post(f"/items/{plain}/buy", address, session=forged, **{"Stampede-Pass": "x" * 48}),
             lambda address: post(f"/items/{plain}/pass", address, session=forged),
             lambda address: server.get("/v1/orders", session=forged, headers=from_(address))]
    turns = iter(range(LEAST * 2))
    fails(lambda address: shown[next(turns) % len(shown)](address), 401, "session-invalid")


@rule
def forged_sessions_of_push():
    fails(lambda address: upgrade(server, bent(eve.session), headers=from_(address)), 401, "session-invalid")


@rule
def tokens_that_the_shop_did_not_sign():
    forged = jwt({"sub": "eve", "exp": int(time.time()) + 600}, SECRET + "?")
    fails(lambda address: post("/session", address, session=forged), 401, "token-invalid")


@rule
def keys_of_administrators_that_are_guessed():
    def refused(reply, status, name):
        """After some wrong keys the address has to wait: the attempt counts all the same."""
        problem(reply, *((429, "too-fast") if reply.status == 429 else (status, name)))
    fails(lambda address: server.request("GET", "/admin/v1/watch",
                                         headers={"Authorization": "Bearer sk_guess", **from_(address)}),
          401, "admin-key-required", refused)


# ---- passes and intents


def buy(address, give, item=None, session=None):
    return post(f"/items/{item or plain}/buy", address, session=session, **{"Stampede-Pass": give})


@rule
def forged_passes():
    give = bent(eve.get_pass(plain))
    fails(lambda address: buy(address, give), 403, "pass-invalid")


@rule
def passes_of_others():
    fails(lambda address: buy(address, eve.get_pass(plain), session=Buyer(server, token("mallory")).session), 403, "pass-foreign")


@rule
def passes_that_are_over():
    give = eve.get_pass(plain)
    time.sleep(4)
    fails(lambda address: buy(address, give), 403, "pass-expired")


@rule
def passes_that_were_used():
    item = server.open_item(total=5, sale_fields={"pass_once": True, "eligible_only": True})

    def again(address):
        give = eve.get_pass(item)
        problem(buy("203.0.113.200", give, item), 403, "not-eligible")
        return buy(address, give, item)
    fails(again, 403, "pass-spent")


@rule
def forged_intents():
    item = server.open_item(total=5, deduct_on_payment=True)
    given = server.request("POST", f"/v1/items/{item}/intent", None, {"Stampede-Pass": eve.get_pass(item)}, session=eve.session)
    equal(given.status, 201, given.body)
    body = {"intent": bent(given.json()["intent"])}
    fails(lambda address: post("/intents/pay", address, body, eve.session), 403, "intent-invalid")


# ---- the human check


@rule
def wrong_work():
    item = checked_item("pow")

    def wrong(address):
        who = somebody()
        solved = solve(challenge(item, "pow", who))
        solved["solution"]["counter"] += 1
        return ask(item, address, payload(solved), who)
    fails(wrong, 403, "human-check-failed")


@rule
def forged_work():
    item = checked_item("pow")
    forged = solve(challenge(item, "pow"))
    forged["challenge"]["signature"] = "0" * 64
    fails(lambda address: ask(item, address, payload(forged), somebody()), 403, "human-check-failed")


@rule
def work_that_was_used():
    item = checked_item("pow")
    solved = payload(solve(challenge(item, "pow")))
    equal(ask(item, "203.0.113.201", solved).status, 201)
    fails(lambda address: ask(item, address, solved), 409, "human-check-spent")


@rule
def wrong_codes():
    item = checked_item("image")

    def guess(address):
        who = somebody()
        return ask(item, address, {"solution": {"token": challenge(item, "image", who)["token"], "answer": "00000"}}, who)
    fails(guess, 403, "human-check-failed")


@rule
def forged_pictures():
    item = checked_item("image")
    forged = bent(challenge(item, "image")["token"])
    fails(lambda address: ask(item, address, {"solution": {"token": forged, "answer": "AAAAA"}}, somebody()),
          403, "human-check-failed")


@rule
def tries_that_are_used_up():
    item = checked_item("image")
    given = challenge(item, "image")
    guess = {"solution": {"token": given["token"], "answer": "00000"}}
    for _ in range(given["tries"]):
        problem(ask(item, "203.0.113.202", guess), 403, "human-check-failed")
    fails(lambda address: ask(item, address, guess), 409, "human-check-spent")


@rule
def pieces_in_the_wrong_place():
    item = checked_item("slider")

    def miss(address):
        who = somebody()
        given = challenge(item, "slider", who)["token"]
        return ask(item, address, moved(given, [(x + 60) % 250 for x in places_of(server, given)]), who)
    fails(miss, 403, "human-check-failed")


@rule
def pieces_that_were_used():
    item = checked_item("slider")

    def again(address):
        given = challenge(item, "slider")["token"]
        solved = moved(given, places_of(server, given))
        equal(ask(item, "203.0.113.203", solved).status, 201)
        return ask(item, address, solved)
    fails(again, 409, "human-check-spent")


# ---- what is none


@rule
def mistakes_and_refusals_are_no_failed_checks():
    address, before = "203.0.113.204", len(findings(server))
    item, gone = checked_item("pow"), server.open_item(total=1)
    Buyer(server, token("quick")).win(gone)
    for _ in range(2 * LEAST):
        problem(buy(address, eve.get_pass(gone), gone), 409, "sold-out")
        problem(post(f"/items/{plain}/buy", address), 403, "pass-required")
        problem(post(f"/items/{plain}/pass", address), 401, "session-required")
        problem(ask(item, address, None), 403, "human-check-required")
        problem(ask(item, address, {"solution": "*"}), 400, "bad-body")
        problem(server.get("/admin/v1/watch", headers=from_(address)), 401, "admin-key-required")
        problem(upgrade(server, headers=from_(address)), 401, "session-required")
    for _ in range(LEAST - 1):  # a hand that slips
        problem(buy(address, "x" * 48), 403, "pass-invalid")
    time.sleep(2.2)  # the rules have looked
    equal(len(findings(server)), before, findings(server)[:1])


@rule
def nobody_was_banned_and_each_kind_was_found_once():
    true(count >= 17, count)
    equal(server.admin("GET", "/bans?all=1").json()["bans"], [])
    equal(server.admin("GET", "/watch").json()["rules"]["failures"], {"mode": "report", "found": count, "banned": 0})


run()
