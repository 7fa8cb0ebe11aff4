# SPDX-License-Identifier: Apache-2.0
"""Units shared out among channels, units that come back to web, and the safety stock: suggested, moved, used with a reason."""
import re

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

server = Server(settings={"channels.names": "web,tmall,jd"}).start()
FIGURES = {"tmall": {"units": 3000, "orders": 2100, "visits": 70000, "value": 2100 * 10000},
           "jd": {"units": 2000, "orders": 1600, "visits": 40000, "value": 1600 * 11000}}


def tell(channel, role="operator", **figures):
    return server.admin("POST", "/channels/figures", {"channel": channel, **figures}, role=role)


def preview(item):
    return server.admin_ok("GET", f"/items/{item}/allocation")


def shares_of(answer):
    return {row["channel"]: row["share"] for row in answer["channels"]}


def allocate(item, shares, headers=None, role="operator"):
    return server.admin("POST", f"/items/{item}/allocation", {"shares": shares}, role=role, headers=headers)


@rule
def without_figures_everything_is_proposed_to_web():
    item = server.open_item(total=10)
    answer = preview(item)
    equal([row["channel"] for row in answer["channels"]], ["web"])
    equal((answer["units"], answer["channels"][0]["proposed"], answer["channels"][0]["share"]), (10, 10, 1000000))


@rule
def figures_are_kept_for_each_channel_and_bad_ones_are_refused():
    for channel, figures in FIGURES.items():
        equal(tell(channel, **figures).status, 200)
    problem(tell("moon", **FIGURES["jd"]), 422, "bad-channel")
    problem(tell("jd", units=-1, orders=1, visits=1, value=1), 422, "bad-value")
    problem(tell("jd", role="viewer", **FIGURES["jd"]), 403, "admin-role")
    rows = {row["channel"]: row for row in server.admin_ok("GET", "/channels")["channels"]}
    equal((rows["tmall"]["units"], rows["jd"]["visits"], rows["web"]["time_ms"]), (3000, 40000, 0))


@rule
def a_preview_is_applied_and_applied_again_changes_nothing():
    item = server.open_item(total=10)
    answer = preview(item)
    equal(sum(shares_of(answer).values()), 1000000)
    equal(sum(row["proposed"] for row in answer["channels"]), 10)
    equal([row["units"] for row in answer["channels"]], [10, 0, 0])
    shares = {"web": 400000, "tmall": 320000, "jd": 280000}
    done = allocate(item, shares).json()
    equal((done["moved"], done["channels"]), (6, {"web": 4, "tmall": 3, "jd": 3}))
    done = allocate(item, shares).json()
    equal((done["moved"], done["channels"]), (0, {"web": 4, "tmall": 3, "jd": 3}))
    equal(server.counts(item)["channels"], {"web": 4, "tmall": 3, "jd": 3})
    equal(server.counts(item)["given"], 10)


@rule
def a_repeated_request_gets_its_first_answer():
    item = server.open_item(total=10)
    key = {"Idempotency-Key": f"allocate-{item}"}
    first = allocate(item, {"web": 1, "jd": 1}, headers=key)
    server.admin_ok("POST", f"/items/{item}/move", {"from": "jd", "to": "web", "quantity": 5})
    equal(allocate(item, {"web": 1, "jd": 1}, headers=key).body, first.body)
    equal(server.counts(item)["channels"]["web"], 10, "the second one moved nothing")
    problem(allocate(item, {"web": 1, "jd": 2}, headers=key), 422, "key-reused")


@rule
def before_preheat_the_units_of_the_row_are_shared_out():
    item = server.item(server.sale(start_in_ms=7200000), total=12, safety=2)
    done = allocate(item, {"web": 2, "tmall": 2, "jd": 1}).json()
    equal(done["channels"], {"web": 4, "tmall": 4, "jd": 2})
    equal(server.admin_ok("GET", f"/items/{item}")["channels"], {"web": 4, "tmall": 4, "jd": 2})
    server.admin_ok("POST", f"/items/{item}/preheat")
    equal(server.counts(item)["channels"], {"web": 4, "tmall": 4, "jd": 2})


@rule
def channels_that_are_not_named_keep_theirs():
    item = server.open_item(total=10, channels={"web": 4, "tmall": 4, "jd": 2})
    equal(allocate(item, {"web": 0, "tmall": 1}).json()["channels"], {"web": 0, "tmall": 8, "jd": 2})
    item = server.open_item(total=10, channels={"web": 1, "tmall": 4, "jd": 5})
    equal(allocate(item, {"tmall": 0, "jd": 1}).json()["channels"], {"web": 1, "tmall": 0, "jd": 9})


@rule
def bad_shares_change_nothing():
    item = server.open_item(total=10)
    for shares in ({}, {"web": 0}, {"moon": 1}, {"web": -1}, {"web": 1.5}, {"web": 1000001}, ["web"]):
        problem(allocate(item, shares), 422, "bad-value")
    problem(allocate(item, {"jd": 1}, role="viewer"), 403, "admin-role")
    problem(allocate(999999, {"jd": 1}), 404, "unknown-item")
    equal(server.counts(item)["channels"], {"web": 10, "tmall": 0, "jd": 0})


@rule
def units_that_channels_did_not_sell_go_back_to_web():
    item = server.open_item(total=10, channels={"web": 2, "tmall": 5, "jd": 3}, channel_return_ms=1)
    eventually(lambda: server.counts(item)["channels"] == {"web": 10, "tmall": 0, "jd": 0}, "they went back")
    equal(server.counts(item)["given"], 10)
    problem(allocate(item, {"jd": 1}), 409, "conflict")
    server.admin_ok("PATCH", f"/items/{item}", {"channel_return_ms": 0})
    equal(allocate(item, {"jd": 1, "web": 0}).json()["channels"], {"web": 0, "tmall": 0, "jd": 10})


@rule
def without_a_time_they_stay():
    item = server.open_item(total=4, channels={"web": 1, "tmall": 3})
    other = server.open_item(total=4, channels={"web": 1, "tmall": 3}, channel_return_ms=1)
    eventually(lambda: server.counts(other)["channels"]["web"] == 4, "the schedule has looked")
    equal(server.counts(item)["channels"]["tmall"], 3)


@rule
def a_suggestion_follows_from_finished_sales():
    product = server.product()
    empty = server.admin_ok("GET", f"/items/{server.open_item(total=200, product=product)}/safety")
    equal((empty["suggested"], empty["base"], empty["rate"]), (20, 100, 100))
    item = server.open_item(total=200, product=product, limit_per_user=200)
    buyer = Buyer(server)
    orders = [buyer.order(buyer.win(item, key=f"k{count}", quantity=count)["ticket"]) for count in (90, 10)]
    for number, order in enumerate(orders):
        server.admin_ok("POST", f"/orders/{order['order']}/paid",
                        {"amount": order["amount"], "currency": "CNY", "reference": f"r{item}-{number}"})
    server.admin_ok("POST", f"/orders/{orders[1]['order']}/refund", {"to": "stock"})
    server.admin_ok("POST", f"/items/{item}/move", {"from": "web", "to": "safety", "quantity": 5})
    server.admin_ok("POST", f"/items/{item}/safety", {"quantity": 2, "reason": "exchange"})
    server.admin_ok("POST", f"/sales/{server.sale_of(item)}/end")

    def suggestion():
        return server.admin_ok("GET", f"/items/{server.open_item(total=200, product=product)}/safety")
    eventually(lambda: suggestion()["history"]["of"] == "product", "the sale is over in the database")
    told = suggestion()
    equal((told["history"]["sold"], told["history"]["returned"], told["history"]["exchanged"]), (100, 10, 2))
    equal((told["base"], told["rate"], told["suggested"], told["least"], told["most"]), (120, 120, 24, 50, 150))


@rule
def units_leave_the_safety_stock_with_a_reason_that_is_recorded():
    item = server.open_item(total=10, safety=4)
    body = {"quantity": 3, "reason": "damage", "note": "box 7 was wet"}
    headers = {"Idempotency-Key": f"use-{item}"}
    first = server.admin("POST", f"/items/{item}/safety", body, role="operator", headers=headers)
    equal(first.json(), {"item": item, "used": 3, "reason": "damage", "safety": 1})
    equal(server.admin("POST", f"/items/{item}/safety", body, role="operator", headers=headers).body, first.body)
    counts = server.counts(item)
    equal((counts["safety"], counts["given"], counts["free"]), (1, 7, 6))
    for more in (None, {"Idempotency-Key": f"more-{item}"}):
        problem(server.admin("POST", f"/items/{item}/safety", {"quantity": 2, "reason": "loss"}, headers=more), 409, "conflict")
    problem(server.admin("POST", f"/items/{item}/safety", {"quantity": 1, "reason": "gift"}), 422, "bad-value")
    problem(server.admin("POST", f"/items/{item}/safety", {"quantity": 0, "reason": "loss"}), 422, "bad-value")
    problem(server.admin("POST", f"/items/{item}/safety", {"quantity": 1, "reason": "loss"}, role="viewer"), 403, "admin-role")
    equal(server.counts(item)["safety"], 1)

    def rows():
        found, after = [], 0
        while True:
            page = server.admin_ok("GET", f"/audit?after={after}")
            found += page["audit"]
            if not page.get("next"):
                return [row for row in found if row["action"] == "safety.use" and f"item {item}:" in row["detail"]]
            after = page["next"]
    equal([row["detail"] for row in rows()], [f"item {item}: 3 units, damage: box 7 was wet"])


@rule
def nothing_public_tells_of_the_safety_stock():
    item = server.open_item(total=1000, safety=777, channels={"web": 223})
    sale, guest = server.sale_of(item), Buyer(server)
    server.admin_ok("POST", f"/items/{item}/move", {"from": "web", "to": "safety", "quantity": 1})
    paths = ["/v1/sales", f"/v1/sales/{sale}", f"/v1/items/{item}", f"/items/{item}", f"/v1/items/{item}/mine", "/"]
    for path in paths:
        body = guest.get(path).body
        true(b"safety" not in body, f"{path} tells that there is one")
        for secret in (777, 778, 1000):  # as a number of its own: times have any digits
            true(re.search(rb"(?<![0-9.])%d(?![0-9.])" % secret, body) is None, f"{path} tells {secret}")


run()
