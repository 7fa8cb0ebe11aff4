# SPDX-License-Identifier: Apache-2.0
"""The human check before a pass (routes_human, human_desk), and passes that are good once."""
import base64
import hmac
import json
import threading

from kit.harness import PICTURES, Buyer, Server, equal, eventually, problem, rule, run, true
from kit.solving import key_of, moved, places_of, payload, solve

HASHES = 300
server = Server(settings={**PICTURES, "human.pow_hashes": HASHES, "human.challenge_s": 60})
server.start()


def item_with(check, **sale):
    return server.open_item(total=50, sale_fields={"human_check": check, **sale})


def challenge(buyer, item, kind=None):
    return server.get(f"/v1/items/{item}/challenge" + (f"?kind={kind}" if kind else ""), session=buyer.session)


def ask(buyer, item, body=None):
    exact = body.encode() if isinstance(body, str) else body
    return server.request("POST", f"/v1/items/{item}/pass", body=exact, session=buyer.session)


def pow_pass(buyer, item):
    return ask(buyer, item, payload(solve(challenge(buyer, item, "pow").json())))


# ---- rules

@rule
def a_sale_without_a_check_behaves_as_before():
    buyer, item = Buyer(server), server.open_item(total=5)
    equal(ask(buyer, item).status, 201)
    equal(ask(buyer, item, "{}").status, 201)
    problem(challenge(buyer, item), 409, "conflict")


@rule
def without_a_solution_the_answer_says_what_is_wanted():
    buyer = Buyer(server)
    for check, kinds in (("pow", ["pow"]), ("image", ["image", "pow"]), ("slider", ["slider", "pow"])):
        item = item_with(check)
        for body in (None, "{}"):
            reply = ask(buyer, item, body)
            problem(reply, 403, "human-check-required", kinds=kinds, challenge=f"/v1/items/{item}/challenge")
    problem(server.get(f"/v1/items/{item}/challenge"), 401, "session-required")
    problem(challenge(buyer, item, "image"), 400, "bad-query")
    problem(challenge(buyer, item, "nonsense"), 400, "bad-query")
    problem(challenge(buyer, 999999), 404, "unknown-item")
    problem(server.request("POST", f"/v1/items/{item}/challenge", session=buyer.session), 405, "method-not-allowed")


@rule
def work_buys_one_pass_and_the_pass_buys():
    buyer, item = Buyer(server), item_with("pow")
    given = challenge(buyer, item)
    true("no-store" in given.headers["cache-control"])
    solved = payload(solve(given.json()))
    reply = ask(buyer, item, solved)
    equal(reply.status, 201)
    equal(buyer.buy(item, give=reply.json()["pass"]).status, 202)
    problem(ask(buyer, item, solved), 409, "human-check-spent", kinds=["pow"])


@rule
def the_signature_is_what_altcha_says():
    buyer, item = Buyer(server), item_with("pow")
    given = challenge(buyer, item).json()
    equal(sorted(given), ["parameters", "signature"])
    text = json.dumps(given["parameters"], sort_keys=True, separators=(",", ":"))
    equal(hmac.new(key_of(server, b"human check").hex().encode(), text.encode(), "sha256").hexdigest(), given["signature"])
    start = challenge(Buyer(server), item).json()["parameters"]["data"]["start"]
    equal(given["parameters"]["data"], {"item": item, "start": start, "user": buyer.user})


@rule
def anothers_anothers_items_or_a_changed_challenge_fails():
    ann, bob = Buyer(server), Buyer(server)
    item, other = item_with("pow"), item_with("pow")
    solved = solve(challenge(ann, item).json())
    problem(ask(bob, item, payload(solved)), 403, "human-check-failed")
    problem(ask(ann, other, payload(solved)), 403, "human-check-failed")
    easier = json.loads(json.dumps(solved))
    easier["challenge"]["parameters"]["expiresAt"] += 3600
    problem(ask(ann, item, payload(easier)), 403, "human-check-failed")
    wrong = json.loads(json.dumps(solved))
    wrong["solution"]["counter"] += 1
    problem(ask(ann, item, payload(wrong)), 403, "human-check-failed")
    equal(ask(ann, item, payload(solved)).status, 201)


@rule
def nonsense_is_a_bad_body():
    buyer, item = Buyer(server), item_with("image")
    for body in ("x", "[]", '{"solution":1}', '{"solution":"*"}', '{"solution":{"token":"x","answer":"y"}}',
                 '{"solution":{}}', '{"solution":"' + "A" * 5000 + '"}'):
        problem(ask(buyer, item, body), 400, "bad-body")


@rule
def of_many_at_once_with_one_solution_one_gets_a_pass():
    buyer, item = Buyer(server), item_with("pow")
    solved, statuses = payload(solve(challenge(buyer, item).json())), []
    threads = [threading.Thread(target=lambda: statuses.append(ask(buyer, item, solved).status)) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal((statuses.count(201), statuses.count(409)), (1, 11))


def picture(buyer, item, kind):
    """The pool is filled in its own time; until then there is work instead."""
    return eventually(lambda: (lambda given: given if "token" in given else None)(challenge(buyer, item, kind).json()))


@rule
def a_picture_comes_with_its_alternative_and_allows_a_few_tries():
    buyer, item = Buyer(server), item_with("image")
    given = picture(buyer, item, "image")
    true(base64.b64decode(given["image"].partition(",")[2]).startswith(b"\x89PNG"))
    equal((given["kind"], given["length"], given["tries"]), ("image", 5, 2))
    equal(given["alternative"], f"/v1/items/{item}/challenge?kind=pow")
    wrong = {"solution": {"token": given["token"], "answer": "00000"}}
    for _ in range(given["tries"]):
        problem(ask(buyer, item, wrong), 403, "human-check-failed")
    problem(ask(buyer, item, wrong), 409, "human-check-spent")
    equal(pow_pass(buyer, item).status, 201)


@rule
def a_piece_in_its_place_gets_a_pass_once():
    buyer, item = Buyer(server), item_with("slider")
    given = picture(buyer, item, "slider")
    equal((given["tries"], len(given["pieces"])), (1, 2))
    true("piece_y" not in given and "piece" not in given)
    one, two = places_of(server, given["token"])
    equal(ask(buyer, item, moved(given["token"], [one + 3, two - 7])).status, 201)
    problem(ask(buyer, item, moved(given["token"], [one, two])), 409, "human-check-spent")


@rule
def one_wrong_piece_fails_and_there_is_no_second_try_at_a_slider():
    item = item_with("slider")
    for off in ([0, 12], [12, 0]):
        buyer = Buyer(server)
        given = picture(buyer, item, "slider")
        right = places_of(server, given["token"])
        wrong = [x - d if x > 150 else x + d for x, d in zip(right, off)]
        problem(ask(buyer, item, moved(given["token"], wrong)), 403, "human-check-failed")
        problem(ask(buyer, item, moved(given["token"], right)), 409, "human-check-spent")


@rule
def a_used_pass_is_refused_and_tells_its_buyer_of_the_win():
    ann, bob, item = Buyer(server), Buyer(server), server.open_item(total=1, sale_fields={"pass_once": True})
    used, late = ann.get_pass(item), bob.get_pass(item)
    won = ann.buy(item, give=used, key="k")
    equal(won.status, 202)
    again = ann.buy(item, give=used, key="k")
    equal((again.status, again.json()["ticket"]), (202, won.json()["ticket"]))
    problem(bob.buy(item, give=late), 409, "sold-out")
    problem(bob.buy(item, give=late), 409, "sold-out")  # the refusal did not use it up


@rule
def a_pass_that_lost_in_the_inventory_is_used():
    buyer = Buyer(server)
    item = server.open_item(total=5, sale_fields={"pass_once": True, "eligible_only": True})
    used = buyer.get_pass(item)
    problem(buyer.buy(item, give=used), 403, "not-eligible")
    problem(buyer.buy(item, give=used), 403, "pass-spent")
    problem(buyer.buy(item, give=buyer.get_pass(item)), 403, "not-eligible")


def wrong_code(buyer, item):
    given = picture(buyer, item, "image")
    return ask(buyer, item, {"solution": {"token": given["token"], "answer": "00000"}})


@rule
def who_fails_twice_gets_through_and_who_goes_on_gets_work_and_then_nothing():
    buyer, item = Buyer(server), item_with("image")
    picture(buyer, item, "image")
    for _ in range(2):
        problem(wrong_code(buyer, item), 403, "human-check-failed")
    true("token" in picture(buyer, item, "image"))
    problem(wrong_code(buyer, item), 403, "human-check-failed")
    given = challenge(buyer, item, "image").json()
    true("parameters" in given, "a fourth picture")
    wrong = solve(given)
    wrong["solution"]["counter"] += 1
    for _ in range(5):
        problem(ask(buyer, item, payload(wrong)), 403, "human-check-failed")
    refused = ask(buyer, item, payload(wrong))
    problem(refused, 429, "human-check-refused")
    equal(refused.headers["retry-after"], "60")
    problem(challenge(buyer, item), 429, "human-check-refused")
    equal(pow_pass(Buyer(server), item).status, 201)  # others at this address go on


@rule
def checks_are_counted():
    metrics = server.metrics()
    for answer in ("passed", "absent", "malformed", "failed", "spent", "refused"):
        true(metrics[f'stampede_human_total{{answer="{answer}"}}'] > 0, answer)


run()
