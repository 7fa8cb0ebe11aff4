# SPDX-License-Identifier: Apache-2.0
"""The sandbox's bank on the wire: signed, idempotent, and broken when told so. Over real HTTP and real signatures."""
import json
import os

from kit.harness import equal, problem, rule, run, true
from kit.paying import server, signed


def bank(method, path, fields=None, sign=True):
    body = b"" if fields is None else json.dumps(fields).encode()
    secret = open(os.path.join(server.data, "sandbox.secret"), "rb").read().strip()
    headers = signed(secret, method, path, body) if sign else {"Content-Type": "application/json"}
    return server.request(method, path, body or None, headers)


PAYMENTS = "/sandbox/v1/payments"
WISH = {"reference": "r-1", "currency": "CNY", "amount": 500, "title": "Kettle"}


@rule
def nothing_is_done_without_a_signature():
    problem(bank("POST", PAYMENTS, WISH, sign=False), 401, "signature-invalid")
    for path in (f"{PAYMENTS}/r-1", f"{PAYMENTS}/r-1/refund"):
        problem(bank("GET", path, sign=False), 401, "signature-invalid")
    for act in ("close", "refund"):
        problem(bank("POST", f"{PAYMENTS}/r-1/{act}", {}, sign=False), 401, "signature-invalid")
    equal(bank("GET", f"{PAYMENTS}/r-1").status, 404)


@rule
def a_payment_is_created_paid_and_given_back_once():
    first = bank("POST", PAYMENTS, WISH)
    equal((first.status, first.json()["state"]), (200, "open"))
    true("sandbox-signature" in first.headers, "the answer is not signed")
    equal(bank("POST", PAYMENTS, WISH).json()["id"], first.json()["id"])
    equal(bank("POST", PAYMENTS, {**WISH, "amount": 501}).status, 409)
    equal(bank("POST", f"{PAYMENTS}/r-1/refund", {"key": "k", "amount": 500}).status, 409, "not paid yet")
    equal(server.request("POST", f"/sandbox/v1/pay/{first.json()['id']}", {"how": "lost"}).status, 200)
    equal(bank("POST", f"{PAYMENTS}/r-1/close", {}).json()["state"], "captured", "paid: it can't be closed")
    for _ in range(2):
        equal(bank("POST", f"{PAYMENTS}/r-1/refund", {"key": "k", "amount": 500}).json()["state"], "refunded")
    equal(bank("POST", f"{PAYMENTS}/r-1/refund", {"key": "k-2", "amount": 500}).status, 409)
    equal(bank("GET", f"{PAYMENTS}/r-1/refund").json()["state"], "refunded")
    books = server.admin_ok("GET", "/sandbox")
    equal((books["captured"], books["refunded"]), (500, 500))


@rule
def the_pay_page_shows_and_does_what_its_buttons_say():
    payment = bank("POST", PAYMENTS, {**WISH, "reference": "r-2"}).json()["id"]
    page = server.get(f"/sandbox/v1/pay/{payment}").json()
    equal((page["state"], page["amount"], page["title"]), ("open", 500, "Kettle"))
    true("notify_url" not in page, "the page learns where callbacks go")
    problem(server.request("POST", f"/sandbox/v1/pay/{payment}", {"how": "gold"}), 422, "bad-value")
    problem(server.request("DELETE", f"/sandbox/v1/pay/{payment}"), 405, "method-not-allowed")
    problem(server.get("/sandbox/v1/pay/sb_" + "0" * 24), 404, "not-found")
    problem(server.get("/sandbox/v1/moon"), 404, "not-found")
    equal(server.request("POST", f"/sandbox/v1/pay/{payment}", {"how": "decline"}).json()["state"], "closed")
    problem(server.request("POST", f"/sandbox/v1/pay/{payment}", {"how": "pay"}), 409, "conflict")


@rule
def a_broken_network_is_played_on_request():
    server.admin_ok("PATCH", "/sandbox", {"unreached": 100})
    equal(bank("POST", PAYMENTS, {**WISH, "reference": "r-3"}).status, 503)
    server.admin_ok("PATCH", "/sandbox", {"unreached": 0})
    equal(bank("GET", f"{PAYMENTS}/r-3").status, 404, "not even looked at")
    server.admin_ok("PATCH", "/sandbox", {"unanswered": 100})
    equal(bank("POST", PAYMENTS, {**WISH, "reference": "r-3"}).status, 503)
    server.admin_ok("PATCH", "/sandbox", {"unanswered": 0})
    equal(bank("GET", f"{PAYMENTS}/r-3").status, 200, "done, but nobody heard of it")


@rule
def its_books_outlive_a_crash():
    before = server.admin_ok("GET", "/sandbox")
    server.restart(kill=True)
    equal(server.admin_ok("GET", "/sandbox"), before)
    equal(bank("GET", f"{PAYMENTS}/r-1").json()["state"], "captured")


@rule
def a_secret_that_a_power_cut_left_empty_is_made_anew():
    server.stop()
    open(os.path.join(server.data, "sandbox.secret"), "w").close()
    server.start()
    equal(bank("POST", PAYMENTS, {**WISH, "reference": "r-cut"}).status, 200)


run()
