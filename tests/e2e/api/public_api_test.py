# SPDX-License-Identifier: Apache-2.0
"""Every route of the table in public_routes.h, from its wrong side: methods, unknown paths, sessions, orders of other users, bad
bodies. A refusal changes nothing."""
import os
import re

from kit.harness import REPOSITORY, Buyer, Server, among, equal, problem, rule, run, true

server = Server(settings={"payment.providers": "sandbox"})
server.start()

ORDER = "0123456789abcdef"
with open(os.path.join(REPOSITORY, "src", "api", "public_routes.h"), encoding="utf-8") as file:
    ROUTES = re.findall(r'X\(\w+, \w+, HTTP_(\w+), "([^"]+)"', file.read())
true(len(ROUTES) >= 8, "the table was not found")


def path_of(pattern, order=ORDER):
    return "/v1" + pattern.replace("@", order).replace("#", "1")


def order_of(buyer):
    return buyer.order(buyer.win(server.open_item(total=1))["ticket"])


def view(buyer, order):
    return server.get(f"/v1/orders/{order['order']}", session=buyer.session).json()


@rule
def every_route_wants_a_session():
    for method, pattern in ROUTES:
        problem(server.request(method, path_of(pattern)), 401, "session-required")
        problem(server.request(method, path_of(pattern), session="x" * 40), 401, "session-invalid")


@rule
def other_methods_are_refused_and_other_paths_unknown():
    buyer = Buyer(server)
    for _, pattern in ROUTES:
        taken = {method for method, same in ROUTES if same == pattern}
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - taken:
            problem(server.request(method, path_of(pattern), session=buyer.session), 405, "method-not-allowed")
        for wrong in (path_of(pattern) + "/", path_of(pattern) + "x", path_of(pattern) + "/more"):
            reply = server.get(wrong, session=buyer.session)
            equal((wrong, reply.status), (wrong, 404))


@rule
def head_works_where_get_does():
    buyer = Buyer(server)
    for method, pattern in ROUTES:
        if method == "GET" and "@" not in pattern and "#" not in pattern:
            with server.connect() as connection:
                fields = {"Authorization": f"Bearer {buyer.session}"}
                reply = connection.request("HEAD", path_of(pattern), None, fields)
                equal((pattern, reply.status, reply.body), (pattern, 200, b""))


@rule
def what_is_no_order_or_of_somebody_else_is_unknown():
    owner, stranger = Buyer(server), Buyer(server)
    order = order_of(owner)
    before = view(owner, order)
    details = {"name": "Ada", "phone": "12345", "address": "1 Example Street"}
    for method, pattern in ROUTES:
        if "@" not in pattern:
            continue
        body = details if method == "PUT" else None
        for name in (order["order"], ORDER, "0" * 16):
            problem(server.request(method, path_of(pattern, name), body, session=stranger.session), 404, "unknown-order")
        for name in ("1", "x" * 16, order["order"].upper() + "0", order["order"][:15]):
            equal(server.request(method, path_of(pattern, name), body, session=stranger.session).status, 404)
    equal(view(owner, order), before)


BODIES = {("POST", "/orders/@/pay"): {"provider": "sandbox"},
          ("PUT", "/orders/@/details"): {"name": "Ada", "phone": "12345", "address": "1 Example Street"},
          ("POST", "/intents/pay"): {"intent": "A" * 59}}


@rule
def bad_bodies_are_refused_and_change_nothing():
    buyer = Buyer(server)
    order = order_of(buyer)
    before = view(buyer, order)
    for (method, pattern), good in BODIES.items():
        path = path_of(pattern, order["order"])

        def send(body, kind="application/json"):
            return server.request(method, path, body, {"Content-Type": kind}, buyer.session)

        for wrong in (b"[]", b"null", b"{", b"7", b'{"a":1}}', b"\xff{}", b'{"provider":"a","provider":"b"}'):
            reply = send(wrong)
            true(reply.status in (400, 422), f"{path} {wrong!r}: {reply}")
        problem(server.request(method, path, b"a=b", {"Content-Type": "text/plain"}, buyer.session), 415, "media-type")
        # The right to an intent is looked at before anything else of the body.
        kinds = {"/problems/bad-value"} | ({"/problems/intent-invalid"} if "intent" in good else set())
        for wrong in ({"planet": "earth"}, *({name: value} for name in good for value in (7, "x" * 600))):
            reply = server.request(method, path, {**good, **wrong}, session=buyer.session)
            among(reply.json()["type"], kinds, f"{path} {wrong}")
    equal(view(buyer, order), before)


@rule
def every_route_with_a_wanted_body_was_tried():
    wanted = {(method, pattern) for method, pattern in ROUTES
              if method == "PUT" or pattern.endswith("/pay")}
    equal(wanted, set(BODIES))


@rule
def a_shop_without_providers_says_so():
    bare = Server()
    bare.start()
    buyer = Buyer(bare)
    equal(bare.get("/v1/payments", session=buyer.session).json(), {"providers": [], "refund_ms": 0})
    order = buyer.order(buyer.win(bare.open_item(total=1))["ticket"])
    problem(bare.request("POST", f"/v1/orders/{order['order']}/pay", session=buyer.session), 409, "no-provider")
    problem(bare.request("POST", f"/v1/orders/{order['order']}/refund", session=buyer.session), 409, "not-paid")
    equal(bare.request("POST", "/v1/payments/sandbox/callback", b"{}").status, 404)
    equal(bare.get("/sandbox/v1/payments/x").status, 404)
    problem(bare.admin("GET", "/sandbox"), 404, "not-found")
    bare.stop()


run()
