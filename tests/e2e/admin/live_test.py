# SPDX-License-Identifier: Apache-2.0
"""GET /admin/v1/live: what the console's live screen shows, equal to /metrics and to the counts of the items."""
import os
import time

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

server = Server(settings={"payment.providers": "sandbox"})
server.start()
MOVING = ("stampede_edge_requests_total", "stampede_edge_connections_accepted_total", "stampede_edge_connections_closed_total")
CORE_SHARE_MAX = 0.01


def live():
    return server.admin_ok("GET", "/live")


def flat(metrics):
    """As /metrics names them; a label's name does not matter, its value does."""
    found = {}
    for name, value in metrics.items():
        for label, number in value.items() if isinstance(value, dict) else [("", value)]:
            found[name, label] = number
    return found


def shown():
    found = {}
    for name, value in server.metrics().items():
        name, _, label = name.partition("{")
        found[name, label.partition('"')[2].partition('"')[0]] = value
    return found


def sell():
    item = server.open_item(total=3, safety=1, channels={"web": 2})
    buyers = [Buyer(server) for _ in range(4)]
    answers = [buyer.buy(item).status for buyer in buyers]
    equal(sorted(answers), [202, 202, 409, 409])
    server.request("POST", f"/v1/items/{item}/buy", {"quantity": 1})
    return item


@rule
def its_counts_are_those_of_the_metrics():
    sell()
    eventually(lambda: server.metrics()["stampede_orders_written_total"] == 2, "orders are not written")

    def same():
        seen, wanted = flat(live()["metrics"]), shown()
        return all(wanted[key] == value for key, value in seen.items() if key[0] not in MOVING) and seen
    seen = eventually(same, "they differ")
    true(len(seen) > 60, f"only {len(seen)} counters")
    equal(seen["stampede_purchases_total", "won"], 2)
    true(seen["stampede_door_total", "pass-required"] + seen["stampede_door_total", "session-invalid"] >= 1)


@rule
def while_people_buy_each_counter_lies_between_the_metrics_before_and_after():
    item = server.open_item(total=40)
    for _ in range(20):
        Buyer(server).buy(item)
        before, seen, after = shown(), flat(live()["metrics"]), shown()
        for key, value in seen.items():
            if key[0].endswith("_total"):
                true(before[key] <= value <= after[key], f"{key}: {before[key]} {value} {after[key]}")


@rule
def stock_is_that_of_the_inventory_with_what_the_public_does_not_see():
    item = sell()
    rows = {row["id"]: (sale, row) for sale in live()["sales"] for row in sale["items"]}
    sale, row = rows[item]
    equal(sale["state"], "open")
    counts = server.admin_ok("GET", f"/items/{item}/counts")["counts"]
    for name in ("given", "free", "held", "sold", "safety", "written_off"):
        equal(row["counts"][name], counts[name], name)
    equal((row["counts"]["safety"], row["counts"]["held"], row["counts"]["free"]), (1, 2, 0))
    true(row["product"]["name"] and row["preheated"])


@rule
def orders_that_the_shop_reports_as_paid_are_counted():
    item = sell()
    before = server.metrics()["stampede_orders_reported_paid_total"]
    view = eventually(lambda: server.admin_ok("GET", f"/orders?item={item}&state=pending")["orders"], "no order")[0]["view"]
    body = {"amount": view["amount"], "currency": view["currency"], "reference": "bank-1"}
    for _ in range(2):  # the same again counts once
        server.admin_ok("POST", f"/orders/{view['order']}/paid", body)
    equal(live()["metrics"]["stampede_orders_reported_paid_total"], before + 1)


@rule
def sales_that_run_come_first_and_drafts_do_not_come():
    draft = server.sale(start_in_ms=60000, title="A draft")
    later = server.sale(start_in_ms=30 * 86400000, title="Next month")
    server.item(later, total=1)
    server.publish(later)
    soon = server.sale(start_in_ms=3600000, title="Soon")
    server.item(soon, total=1)
    server.publish(soon)

    def known():
        seen = live()["sales"]
        return seen if any(sale["id"] == soon for sale in seen) else None
    seen = eventually(known, "a published sale is not told")
    ids = [sale["id"] for sale in seen]
    true(draft not in ids and later not in ids, ids)
    states = [sale["state"] for sale in seen]
    equal(states, sorted(states, key=["open", "paused", "scheduled", "ended"].index))


@rule
def alarms_are_all_there():
    alarms = live()["alarms"]
    equal(alarms, server.admin_ok("GET", "/alarms")["alarms"])
    true({row["name"] for row in alarms if row["up"]} == {"test-mode"}, str(alarms))


@rule
def it_is_for_those_who_have_a_key():
    equal(server.admin("GET", "/live", role="viewer").status, 200)
    problem(server.get("/admin/v1/live"), 401, "admin-key-required")
    problem(server.admin("GET", "/live?sale=1"), 400, "bad-query")


def cpu_s():
    with open(f"/proc/{server.process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@rule
def a_console_that_asks_each_second_costs_less_than_a_hundredth_of_a_core():
    """Many answers at once, so that ticks of the processor's clock are fine enough."""
    count, head = 400, {"Authorization": f"Bearer {server.keys['viewer']}"}
    start, began = cpu_s(), time.monotonic()
    with server.connect() as connection:
        for _ in range(count):
            equal(connection.request("GET", "/admin/v1/live", None, head).status, 200)
    took, spent = time.monotonic() - began, cpu_s() - start
    print(f"    {1000 * spent / count:.2f} ms of a core for each answer ({took:.1f} s)")
    true(spent / count < CORE_SHARE_MAX, f"{spent / count:.4f} s of a core for each answer")


run()
