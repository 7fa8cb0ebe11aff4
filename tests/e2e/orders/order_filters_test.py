# SPDX-License-Identifier: Apache-2.0
"""Orders as an administrator looks for them: by sale, item, state, time and user; what is not understood is refused."""
import subprocess

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

server = Server().start()

first = server.open_item(total=300)
second = server.open_item(total=300, limit_per_user=200)
sales = {item: server.sale_of(item) for item in (first, second)}
buyers = [Buyer(server) for _ in range(3)]
orders = {}
for item in (first, second):
    for buyer in buyers:
        orders[item, buyer.user] = buyer.order(buyer.win(item, key=f"k{item}")["ticket"])
eventually(lambda: len(server.admin_ok("GET", "/orders")["orders"]) == 6)


def asked(query):
    return server.admin_ok("GET", f"/orders?{query}")["orders"]


def cli(*words):
    return subprocess.run([server.binary, "admin", "--url", f"http://127.0.0.1:{server.port}", *words], capture_output=True, text=True,
                          timeout=60, env={"STAMPEDE_ADMIN_KEY": server.keys["admin"], "TZ": "UTC"})


@rule
def orders_are_filtered_by_sale_item_and_user():
    equal({row["view"]["item"] for row in asked(f"sale={sales[first]}")}, {first})
    equal(len(asked(f"sale={sales[second]}&item={second}")), 3)
    equal(len(asked(f"sale={sales[second]}&item={first}")), 0)
    equal([row["view"]["order"] for row in asked(f"sale={sales[first]}&user={buyers[0].user}")],
          [orders[first, buyers[0].user]["order"]])


@rule
def orders_are_filtered_by_state():
    order = orders[first, buyers[0].user]
    body = {"amount": order["amount"], "currency": "CNY", "reference": "bank 1"}
    server.admin_ok("POST", f"/orders/{order['order']}/paid", body)
    equal([row["view"]["order"] for row in asked("state=paid")], [order["order"]])
    equal(len(asked("state=pending")), 5)
    equal(len(asked(f"state=pending&sale={sales[first]}")), 2)
    equal(asked("state=closed"), [])


@rule
def orders_are_filtered_by_time():
    times = sorted(order["created_ms"] for order in orders.values())
    equal(len(asked(f"from_ms={times[0]}")), 6)
    equal(len(asked(f"from_ms={times[-1] + 1}")), 0)
    equal(len(asked(f"to_ms={times[0]}")), 0)
    equal(len(asked(f"from_ms={times[0]}&to_ms={times[-1] + 1}")), 6)


@rule
def a_filter_that_is_not_understood_is_refused_and_named():
    for query, name in (("stat=paid", "stat"), ("itm=9", "itm"), ("state=won", "state"), ("state", "state"), ("state=", "state"),
                        ("item=0", "item"), ("sale=x", "sale"), ("item=1&item=2", "item"), ("from_ms=-1", "from_ms"),
                        ("user=0000000000000000", "user"), ("subject=%zz", "subject"), ("user=" + "1" * 16 + "&subject=a", "subject")):
        true(name in problem(server.admin("GET", f"/orders?{query}"), 400, "bad-query")["detail"], query)
    for path in ("/sales/1", "/alarms", "/audit?before=1"):
        problem(server.admin("GET", f"{path}{'&' if '?' in path else '?'}nonsense=1"), 400, "bad-query")
    problem(server.get(f"/v1/items/{first}?nonsense=1"), 400, "bad-query")
    problem(server.get("/v1/sales?page=2"), 400, "bad-query")
    equal(server.request("HEAD", f"/v1/items/{first}?nonsense=1").status, 400)


@rule
def one_order_is_shown_by_its_id():
    order = orders[first, buyers[1].user]
    row = server.admin_ok("GET", f"/orders/{order['order']}", role="viewer")
    equal((row["user"], row["view"]["order"], row["view"]["amount"]), (buyers[1].user, order["order"], order["amount"]))
    problem(server.admin("GET", "/orders/0123456789abcdef"), 404, "unknown-order")
    problem(server.admin("GET", "/orders/nonsense"), 404, "unknown-order")
    shown = cli("order", "show", order["order"])
    equal(shown.returncode, 0, shown.stderr)
    true(order["order"] in shown.stdout, shown.stdout)


@rule
def the_command_line_takes_the_filters_and_says_that_there_is_more():
    listed = cli("orders", "--sale", str(sales[second]), "--state", "pending", "--limit", "2")
    equal((listed.returncode, len(listed.stdout.splitlines())), (0, 3), listed.stdout + listed.stderr)
    true("more" in listed.stderr, f"it does not say that there is more: {listed.stderr!r}")
    rest = cli("orders", "--sale", str(sales[second]), "--state", "pending", "--before", listed.stderr.split("--before ")[1].split(",")[0])
    equal((len(rest.stdout.splitlines()), rest.stderr), (2, ""), rest.stdout)
    whole = cli("orders", "--sale", str(sales[second]), "--from", "1", "--to", "+1d")
    equal((len(whole.stdout.splitlines()), whole.stderr), (4, ""), whole.stdout)
    by_user = cli("--json", "orders", "--user", buyers[0].user)
    equal(by_user.stdout.count('"number"'), 2, by_user.stdout)
    wrong = cli("orders", "--state", "won")
    equal(wrong.returncode, 1)
    true("state must be" in wrong.stderr, wrong.stderr)


@rule
def a_list_longer_than_a_page_is_followed():
    buyer = Buyer(server)
    for number in range(101):
        buyer.win(second, key=f"k{number}")
    eventually(lambda: server.item_orders(second)[0] == 104)
    listed = cli("orders", "--user", buyer.user, "--limit", "200")
    equal((listed.returncode, len(listed.stdout.splitlines()), listed.stderr), (0, 102, ""))
    standard = cli("orders", "--user", buyer.user)
    equal(len(standard.stdout.splitlines()), 101)
    true("more" in standard.stderr, standard.stderr)


run()
