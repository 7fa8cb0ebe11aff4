# SPDX-License-Identifier: Apache-2.0
"""Orders, dead letters and the audit trail for administrators, page by page."""
from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

server = Server().start()


def pages(path, name, key):
    seen, query = [], path
    for _ in range(100):
        page = server.admin_ok("GET", query, role="viewer")
        seen += page[name]
        if "next" not in page:
            return seen
        query = f"{path}{'&' if '?' in path else '?'}{key}={page['next']}"
    raise AssertionError("pages without end")


@rule
def orders_can_be_listed_by_item_and_by_user():
    first, second = server.open_item(total=20), server.open_item(total=20)
    buyers = [Buyer(server) for _ in range(7)]
    tickets = [buyer.win(first)["ticket"] for buyer in buyers]
    other = buyers[0].win(second)["ticket"]
    eventually(lambda: server.item_orders(first)[0] == 7 and server.item_orders(second)[0] == 1)
    rows = server.admin_ok("GET", f"/orders?item={first}")["orders"]
    equal([row["view"]["ticket"] for row in rows], tickets[::-1])
    equal([row["user"] for row in rows], [buyer.user for buyer in buyers[::-1]])
    rows = server.admin_ok("GET", f"/orders?user={buyers[0].user}")["orders"]
    equal([row["view"]["ticket"] for row in rows], [other, tickets[0]])
    equal(server.admin_ok("GET", f"/orders?user={buyers[0].user}&item={second}")["orders"], rows[:1])
    equal(rows[1]["view"], buyers[0].get(f"/v1/tickets/{tickets[0]}").json())
    equal(server.admin_ok("GET", "/orders?item=999")["orders"], [])


@rule
def orders_go_on_where_the_page_before_ended():
    item = server.open_item(total=250, limit_per_user=0)
    buyer = Buyer(server)
    give = buyer.get_pass(item)
    wins = 0
    with server.connect() as connection:
        for number in range(230):
            connection.send(buyer.purchase_request(item, key=str(number), give=give))
            wins += connection.read_reply().status == 202
    equal(wins, 230)
    eventually(lambda: server.item_orders(item)[0] == 230)
    for size in ("", "&limit=7"):
        seen = pages(f"/orders?item={item}{size}", "orders", "before")
        numbers = [row["number"] for row in seen]
        equal((len(numbers), len(set(numbers))), (230, 230))
        equal(numbers, sorted(numbers, reverse=True))
    equal(len(buyer.get("/v1/orders").json()["orders"]), 100, "a user sees the newest hundred")


@rule
def queries_that_make_no_sense_are_refused():
    for query in ("item=x", "item=-1", "item=4294967296", "user=1", "user=xyz", "limit=101", "limit=x", "before=x", "before=999999999", "limit="):
        problem(server.admin("GET", f"/orders?{query}"), 400, "bad-query")
    problem(server.admin("GET", "/audit?after=x"), 400, "bad-query")


@rule
def there_are_no_dead_letters_when_all_is_well():
    equal(server.admin_ok("GET", "/dead-letters", role="viewer"), {"dead_letters": []})


@rule
def the_audit_trail_goes_on_where_the_page_before_ended():
    for number in range(120):
        server.product(name=f"P{number}")
    entries = pages("/audit", "audit", "after")
    ids = [entry["id"] for entry in entries]
    equal(ids, sorted(set(ids)))
    made = [entry["detail"] for entry in entries if entry["action"] == "product.create"]
    true([detail.split()[-1] for detail in made[-120:]] == [f"P{number}" for number in range(120)])


run()
