# SPDX-License-Identifier: Apache-2.0
"""How an edge answers: the headers of answers and problems, and who is told what about a session."""
from kit.harness import Buyer, Server, equal, problem, rule, run, true

ORIGIN = "https://shop.example"

server = Server(settings={"cors.origins": ORIGIN, "payment.providers": "sandbox"})
server.start()
item, sold_out = server.open_item(total=1000), server.open_item(total=1)
Buyer(server).win(sold_out)


@rule
def an_answer_names_the_origin_that_asked_if_it_is_allowed():
    for path in ("/v1/time", "/v1/sales", "/v1/orders", "/nowhere"):
        equal(server.get(path, headers={"Origin": ORIGIN}).headers.get("access-control-allow-origin"), ORIGIN, path)
        equal(server.get(path, headers={"Origin": "https://other.example"}).headers.get("access-control-allow-origin"), None, path)


def sent(data):
    with server.connect() as connection:
        connection.send(data)
        return connection.read_reply()


def answers():
    """(what, reply) of every kind of answer: pages, JSON, problems of edge, door, inventory and worker, health, callbacks, pictures."""
    buyer = Buyer(server)
    give = buyer.get_pass(item)
    order = buyer.order(buyer.win(item)["ticket"])["order"]
    yield "page", server.get("/")
    yield "page that is as it was", server.get("/", headers={"If-None-Match": server.get("/").headers["etag"]})
    yield "document", server.get("/openapi.json")
    yield "time", server.get("/v1/time")
    yield "sales", server.get("/v1/sales")
    yield "item", server.get(f"/v1/items/{item}")
    yield "session", server.request("POST", "/v1/session")
    yield "pass", buyer.ask_pass(item)
    yield "win", Buyer(server).buy(item)
    yield "bought already", buyer.buy(item, give=give)
    yield "sold out", Buyer(server).buy(sold_out)
    yield "no pass", server.request("POST", f"/v1/items/{item}/buy")
    yield "closing", server.request("POST", f"/v1/items/{item}/buy", headers={"Connection": "close"})
    yield "mine", buyer.get(f"/v1/items/{item}/mine")
    yield "orders", buyer.get("/v1/orders")
    yield "order", buyer.get(f"/v1/orders/{order}")
    yield "order of nobody", buyer.get("/v1/orders/0123456789abcdef")
    yield "pay", server.request("POST", f"/v1/orders/{order}/pay", session=buyer.session)
    yield "push without an upgrade", buyer.get("/v1/push")
    yield "admin", server.admin("GET", "/sales")
    yield "admin without a key", server.get("/admin/v1/sales")
    yield "nowhere", server.get("/nowhere")
    yield "another method", server.request("DELETE", "/v1/time")
    yield "malformed", sent(b"GET / HTTP/1.1\r\n\r\n")
    yield "too long", sent(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n")
    yield "options", server.request("OPTIONS", "/v1/time")
    yield "callback", server.request("POST", "/v1/payments/sandbox/callback", b"{}")
    yield "bank", server.get("/sandbox/v1/pay/sb_0")
    for path in ("/livez", "/readyz", "/metrics"):
        yield path, server.get(path)


@rule
def every_answer_says_that_its_type_is_not_to_be_guessed_and_problems_are_not_to_be_kept():
    for what, reply in answers():
        equal(reply.all.get("x-content-type-options"), ["nosniff"], what)
        kept = reply.all.get("cache-control", [])
        true(len(kept) <= 1, f"{what}: {kept}")
        if reply.headers.get("content-type") == "application/problem+json":
            equal(kept, ["no-store"], what)


@rule
def private_answers_are_not_to_be_kept_and_public_ones_are_shared_for_a_second():
    private = {"session", "pass", "win", "mine", "orders", "order", "pay", "admin", "time", "callback", "/livez", "/readyz", "/metrics"}
    for what, reply in answers():
        if what in private:
            equal(reply.all.get("cache-control"), ["no-store"], what)
        if what in ("sales", "item"):
            equal(reply.all.get("cache-control"), ["public, max-age=0, s-maxage=1"], what)
    one = server.get(f"/v1/items/{item}", session=Buyer(server).session)
    equal(one.all.get("cache-control"), ["no-cache"], "what one user sees is not shared")


@rule
def an_answer_that_may_be_kept_says_that_it_depends_on_the_origin():
    for path in ("/v1/sales", f"/v1/items/{item}"):
        for origin in ({}, {"Origin": ORIGIN}, {"Origin": "https://other.example"}):
            equal(server.get(path, headers=origin).all.get("vary"), ["Origin"], f"{path} {origin}")


@rule
def a_missing_session_and_a_bad_one_are_told_apart():
    problem(server.get("/v1/orders"), 401, "session-required")
    problem(server.get("/v1/orders", session="x" * 48), 401, "session-invalid")
    equal(Buyer(server).get("/v1/orders").status, 200)


run()
