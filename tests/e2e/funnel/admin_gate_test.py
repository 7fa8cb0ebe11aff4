# SPDX-License-Identifier: Apache-2.0
"""The gate of the admin API: an address that guesses keys must wait, weak keys are refused, and bans cover the admin API too."""
import hashlib
import time

from kit.bans import ban, from_, lift, shop, token
from kit.harness import Buyer, equal, eventually, problem, rule, run, true
from kit.push_client import upgrade

FREE = 5  # wrong keys that cost nothing
server = shop(**{"limits.address_per_s": 50, "limits.address_burst": 100, "server.threads": 3})
WRONG = "sk_" + "x" * 43


def ask(address, key=WRONG, path="/sales"):
    headers = {**from_(address), **({"Authorization": f"Bearer {key}"} if key else {})}
    return server.request("GET", f"/admin/v1{path}", headers=headers)


def refused(reason):
    return server.metrics()[f'stampede_admin_keys_refused_total{{reason="{reason}"}}']


@rule
def wrong_keys_make_their_address_wait_and_no_other():
    before = refused("wrong"), refused("waits")
    for _ in range(FREE):
        problem(ask("203.0.113.1"), 401, "admin-key-required")
    for _ in range(8):  # the waits grow: on a slow machine the first may be over too soon to be seen
        wrong, right = ask("203.0.113.1"), ask("203.0.113.1", server.keys["viewer"])
        if right.status == 429:
            break
        true(wrong.status in (401, 429), str(wrong))
    problem(right, 429, "too-fast")  # no key is looked at while it waits
    true(int(right.headers["retry-after"]) >= 1)
    equal(ask("203.0.113.2", server.keys["viewer"]).status, 200)
    true(refused("wrong") - before[0] > FREE and refused("waits") > before[1], "not counted")
    eventually(lambda: ask("203.0.113.1", server.keys["viewer"]).status == 200, "locked out for good", patience_s=70)


@rule
def an_address_of_an_operator_is_not_locked_out_by_a_stranger_beside_him():
    equal(ask("203.0.113.3", server.keys["viewer"]).status, 200)
    for _ in range(3 * FREE):
        problem(ask("203.0.113.3"), 401, "admin-key-required")
    equal(ask("203.0.113.3", server.keys["viewer"]).status, 200)


@rule
def this_machine_waits_a_second_at_most():
    for _ in range(3 * FREE):
        server.request("GET", "/admin/v1/sales", headers={"Authorization": f"Bearer {WRONG}"})
    start = time.monotonic()
    eventually(lambda: server.admin("GET", "/sales").status == 200)
    true(time.monotonic() - start < 5)


@rule
def requests_without_a_key_count_against_the_rate_of_their_address_and_lock_nobody_out():
    answers = [ask("203.0.113.4", None).status for _ in range(200)]
    equal(set(answers), {401, 429})
    equal(ask("203.0.113.4", server.keys["viewer"]).status, 200)  # a right key has no rate


@rule
def a_key_that_was_made_by_hand_is_no_key_and_the_log_says_so():
    weak = ("letmein", "sk_short", "sk_" + "x" * 42, "sk_" + "x" * 44, "sk_" + "x" * 42 + "!", "Sk_" + "x" * 43)
    with open(server.settings["admin.keys"], "a") as file:
        for number, key in enumerate(weak):
            file.write(f"weak{number}:admin:{hashlib.sha256(key.encode()).hexdigest()}\n")
    server.reload()
    for number, key in enumerate(weak):
        problem(ask(f"203.0.113.{100 + number}", key), 401, "admin-key-required")
        eventually(lambda number=number: f"the key of weak{number} is refused" in server.log(), f"nobody is told of {key}")
    server.write_keys()
    server.reload()


@rule
def a_banned_address_gets_nothing_under_v1_and_no_look_at_wrong_keys():
    item = server.open_item(total=5)
    eve = Buyer(server, token("eve"))
    number = ban(server, address="198.51.100.7")["id"]
    there = from_("198.51.100.7")
    for method, path, session in (("POST", "/v1/session", token("eve")), ("GET", "/v1/orders", eve.session), ("GET", "/v1/sales", None),
                                  ("POST", f"/v1/items/{item}/pass", eve.session), ("GET", f"/v1/items/{item}/mine", eve.session),
                                  ("GET", "/v1/orders/0123456789abcdef", eve.session), ("POST", "/v1/sales/1/room", eve.session),
                                  ("GET", "/v1/push", eve.session)):
        problem(server.request(method, path, headers=there, session=session), 403, "banned")
    problem(upgrade(server, eve.session, headers=there), 403, "banned")
    problem(ask("198.51.100.7"), 403, "banned")
    problem(ask("198.51.100.7", None), 403, "banned")
    equal(ask("198.51.100.7", server.keys["operator"]).status, 200)  # who may lift the ban
    equal(server.get("/", headers=there).status, 200)  # the page says what is wrong
    lift(server, number)
    eventually(lambda: server.request("GET", "/v1/orders", headers=there, session=eve.session).status == 200)


@rule
def a_banned_user_gets_no_session_push_or_room_but_sees_orders():
    mallory = Buyer(server, token("mallory"))
    number = ban(server, user="mallory")["id"]
    problem(server.request("POST", "/v1/session", session=token("mallory")), 403, "banned")
    problem(server.request("POST", "/v1/sales/1/room", session=mallory.session), 403, "banned")
    problem(upgrade(server, mallory.session), 403, "banned")
    equal(mallory.get("/v1/orders").status, 200)
    lift(server, number)


@rule
def pages_metrics_and_the_api_document_count_against_the_rate():
    def until_refused(path, address, most):
        for count in range(most):
            reply = server.get(path, headers=from_(address))
            if reply.status == 429:
                problem(reply, 429, "too-fast")
                return count
        return most
    long = until_refused("/metrics", "192.0.2.1", 1000)
    true(100 <= long < 1000, f"{long} metrics")
    true(until_refused("/openapi.json", "192.0.2.2", 1000) < 1000)
    pages = until_refused("/", "192.0.2.3", 6000)
    true(800 <= pages, f"a page costs too much: {pages}")
    equal(server.get("/livez", headers=from_("192.0.2.1")).status, 200)
    equal(server.get("/readyz", headers=from_("192.0.2.1")).status, 200)


run()
