# SPDX-License-Identifier: Apache-2.0
"""Queries of the public API: what a route does not take is refused and named, what it takes is not."""
from kit.harness import Buyer, Server, equal, problem, rule, run, true

server = Server().start()
item = server.open_item()
sale = server.sale_of(item)
buyer = Buyer(server)
order = buyer.order(buyer.win(item)["ticket"])

TAKEN = {"/v1/time": "", "/v1/sales": "ended=1&after=0.0", f"/v1/sales/{sale}": "after=0", f"/v1/items/{item}": "", f"/v1/items/{item}/mine": "",
         "/v1/orders": "", f"/v1/orders/{order['order']}": "wait=0&version=99", f"/v1/tickets/{order['ticket']}": "version=99",
         "/v1/payments": "", f"/v1/items/{item}/waitlist": ""}


@rule
def what_a_route_takes_is_taken():
    for path, query in TAKEN.items():
        equal(buyer.get(f"{path}?{query}").status, buyer.get(path).status, path)


@rule
def what_it_does_not_take_is_refused_and_named():
    for path, query in TAKEN.items():
        for more, word in (("nonsense=1", "nonsense"), ("x", "x"), ("After=1", "After"), ("=1", "query parameter")):
            true(word in problem(buyer.get(f"{path}?{query}&{more}"), 400, "bad-query")["detail"], f"{path} {more}")


@rule
def a_member_without_value_or_twice_is_refused():
    for query in ("after", "after=", "after=1&after=2"):
        true("after" in problem(server.get(f"/v1/sales?{query}"), 400, "bad-query")["detail"], query)


@rule
def an_address_that_is_not_there_stays_not_found():
    problem(server.get("/v1/nonsense?x=1"), 404, "not-found")
    equal(server.get(f"/?item={item}").status, 200)


run()
