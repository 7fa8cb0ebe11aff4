# SPDX-License-Identifier: Apache-2.0
"""A channel sells the units of its own pool with a key of its own, and can do nothing else."""
import itertools

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

server = Server(settings={"channels.names": "web,tmall,jd", "channels.requests_per_s": 2000}).start()
numbers = itertools.count(1)


def key_of(channel):
    return server.admin_ok("POST", "/keys", {"name": f"{channel}-{next(numbers)}", "role": f"channel={channel}"})["key"]


KEYS = {"tmall": key_of("tmall"), "jd": key_of("jd")}


def ask(channel, method, path, body=None, key=None, at=None):
    headers = {"Authorization": f"Bearer {KEYS[channel]}"}
    if key is not None:
        headers["Idempotency-Key"] = key
    return (at or server).request(method, "/channel/v1" + path, body, headers)


def reserve(item, channel="tmall", buyer="b1", quantity=1, key=None):
    return ask(channel, "POST", f"/items/{item}/reserve", {"buyer": buyer, "quantity": quantity},
               key=key or f"r{next(numbers)}")


def report(item, reference, quantity, channel="tmall", key=None):
    return ask(channel, "POST", f"/items/{item}/reports", {"reference": reference, "quantity": quantity}, key=key)


def act(order, what, channel="tmall", buyer="b1", **more):
    reply = None

    def written():
        nonlocal reply
        reply = ask(channel, "POST", f"/orders/{order}/{what}", {"buyer": buyer, **more})
        return not (reply.status == 409 and b"in-progress" in reply.body)
    eventually(written, "the order is written")
    return reply


def shop(**fields):
    return server.open_item(**{"total": 10, "channels": {"web": 2, "tmall": 5, "jd": 3}, "limit_per_user": 10, **fields})


def channels(item):
    return server.counts(item)["channels"]


@rule
def a_limit_over_a_period_is_told_before_a_unit_is_taken():
    product = server.product()
    first, second = (shop(product=product, limit_per_user=0, period_limit=2, period_days=30) for _ in range(2))
    won = reserve(first, quantity=2, key="one")
    equal(won.status, 201, won.body)
    equal(act(won.json()["order"], "confirm").status, 200)
    problem(reserve(second), 409, "limit-reached", limit="period")
    equal(channels(second), {"web": 2, "tmall": 5, "jd": 3})
    equal(reserve(first, quantity=2, key="one").json()["order"], won.json()["order"], "the key hears another answer")
    equal(reserve(second, buyer="b2").status, 201)


@rule
def a_channel_reserves_and_confirms_units_of_its_own_pool():
    item = shop()
    won = reserve(item, quantity=2)
    equal(won.status, 201, won.body)
    equal(channels(item), {"web": 2, "tmall": 3, "jd": 3})
    done = act(won.json()["order"], "confirm")
    equal((done.status, done.json()["state"]), (200, "paid"), done.body)
    equal(act(won.json()["order"], "confirm").json(), done.json(), "again changes nothing")
    eventually(lambda: server.counts(item)["sold"] == 2, "it is sold")
    equal(ask("tmall", "GET", f"/orders/{won.json()['order']}?buyer=b1").json()["state"], "paid")
    equal(ask("tmall", "GET", f"/items/{item}").json()["free"], 3)


@rule
def a_repeated_reservation_is_one_and_a_key_is_required():
    item = shop()
    first, again = (reserve(item, key="same", quantity=2) for _ in range(2))
    equal((first.status, again.status), (201, 200))
    equal(first.json()["order"], again.json()["order"])
    problem(reserve(item, key="same", quantity=3), 422, "key-reused")
    problem(ask("tmall", "POST", f"/items/{item}/reserve", {"buyer": "b1"}), 400, "key-required")
    equal(channels(item)["tmall"], 3)


@rule
def the_pool_of_another_channel_is_never_touched():
    item = shop()
    problem(reserve(item, quantity=6), 409, "sold-out")
    equal(reserve(item, quantity=5).status, 201)
    problem(reserve(item), 409, "sold-out")
    equal(report(item, "over", 4).json()["taken"], 0)
    equal(channels(item), {"web": 2, "tmall": 0, "jd": 3})
    problem(ask("tmall", "POST", f"/items/{item}/reserve", {"buyer": "x", "channel": "jd"}, key="k"), 422, "bad-value")
    equal(reserve(item, channel="jd").status, 201)


@rule
def returned_units_go_back_to_the_channel():
    item = shop()
    held, sold = reserve(item, quantity=2).json()["order"], reserve(item, buyer="b2").json()["order"]
    equal(act(held, "return").json()["state"], "closed")
    equal(act(held, "return").json()["state"], "closed")
    act(sold, "confirm", buyer="b2")
    equal(act(sold, "return", buyer="b2", to="safety").json()["state"], "refunded")
    eventually(lambda: channels(item)["tmall"] == 4 and server.counts(item)["safety"] == 1, "they are back")
    problem(act(held, "confirm"), 409, "order-closed")
    problem(act(sold, "return", buyer="b2", to="moon"), 422, "bad-value")


@rule
def orders_of_others_are_unknown():
    item = shop()
    mine = reserve(item).json()["order"]
    act(mine, "confirm")
    for channel, buyer in (("tmall", "b2"), ("jd", "b1")):
        for what in ("confirm", "return"):
            problem(act(mine, what, channel=channel, buyer=buyer), 404, "unknown-order")
        problem(ask(channel, "GET", f"/orders/{mine}?buyer={buyer}"), 404, "unknown-order")
    buyer = Buyer(server)
    order = buyer.order(buyer.win(item, key="w")["ticket"])["order"]
    for what in ("confirm", "return"):
        problem(act(order, what), 404, "unknown-order")
    problem(act("0123456789abcdef", "confirm"), 404, "unknown-order")


@rule
def a_report_takes_what_there_is_and_records_the_rest():
    item = shop()
    first = report(item, "day-1", 3)
    equal(first.status, 201, first.body)
    equal([first.json()[name] for name in ("reported", "taken", "missing")], [3, 3, 0])
    over = report(item, "day-2", 4, key="k1").json()
    equal([over[name] for name in ("reported", "taken", "missing")], [4, 2, 2])
    for key in (None, "k2"):
        again = report(item, "day-2", 4, key=key)
        equal((again.status, again.json()), (200, over))
    problem(report(item, "day-2", 5), 409, "reference-used")
    equal(channels(item), {"web": 2, "tmall": 0, "jd": 3})
    equal(server.counts(item)["given"], 5)
    rows = server.admin_ok("GET", f"/channels/reports?item={item}&missing=1")["reports"]
    equal([(row["channel"], row["reference"], row["missing"]) for row in rows], [("tmall", "day-2", 2)])
    cases = [case for case in server.admin_ok("GET", "/cases")["cases"] if case["item"] == item]
    equal([(case["channel"], case["reference"], case["missing"], case["state"]) for case in cases], [("tmall", "day-2", 2, "open")])
    equal(len(server.admin_ok("GET", f"/channels/reports?item={item}")["reports"]), 2)
    told = ask("tmall", "GET", f"/items/{item}").json()
    equal((told["free"], told["reported"], told["missing"]), (0, 7, 2))
    equal(ask("jd", "GET", f"/items/{item}").json()["reported"], 0)
    problem(report(item, "bad reference", 1), 422, "bad-value")


@rule
def units_that_left_the_shop_do_not_go_back_to_the_product():
    product = server.product(stock=10)
    item = shop(product=product, channels={"web": 2, "tmall": 3, "jd": 3}, safety=2)
    equal(report(item, "elsewhere", 3).json()["taken"], 3)
    server.admin_ok("POST", f"/items/{item}/safety", {"quantity": 1, "reason": "damage"})
    server.admin_ok("POST", f"/items/{item}/adjust", {"delta": -2, "channel": "jd"})

    def stock():
        return server.admin_ok("GET", f"/products/{product}")["stock"]
    eventually(lambda: stock() > 0, "what the shop itself takes away goes back")
    equal((stock(), server.counts(item)["given"]), (2, 4), "and nothing else does: records are applied in order")


@rule
def a_report_is_done_once_though_the_server_is_killed():
    item = shop()
    report(item, "before", 2)
    server.restart(kill=True)
    equal(report(item, "before", 2).status, 200)
    equal(channels(item)["tmall"], 3)


@rule
def a_key_of_a_channel_opens_nothing_else():
    item = shop()
    headers = {"Authorization": f"Bearer {KEYS['tmall']}"}
    for method, path in (("GET", "/admin/v1/sales"), ("POST", f"/admin/v1/items/{item}/adjust"), ("GET", "/admin/v1/settings")):
        problem(server.request(method, path, {} if method == "POST" else None, headers), 403, "admin-role")
    equal(server.request("POST", "/console/session", None, {**headers, "Stampede-Console": "1"}).status, 403)
    for role in ("viewer", "operator", "admin"):
        problem(server.request("GET", f"/channel/v1/items/{item}", None, {"Authorization": f"Bearer {server.keys[role]}"}),
                403, "admin-role")
    problem(server.request("GET", f"/channel/v1/items/{item}"), 401, "admin-key-required")
    problem(server.admin("POST", "/keys", {"name": "moon", "role": "channel=moon"}), 422, "bad-value")
    problem(server.admin("POST", "/keys", {"name": "own", "role": "channel=web"}), 422, "bad-value")
    problem(ask("tmall", "GET", "/sales"), 404, "not-found")
    equal(ask("tmall", "DELETE", f"/items/{item}").status, 405)


@rule
def a_channel_tells_its_own_figures():
    equal(ask("jd", "POST", "/figures", {"units": 5, "orders": 4, "visits": 100, "value": 999}).json()["channel"], "jd")
    rows = {row["channel"]: row for row in server.admin_ok("GET", "/channels")["channels"]}
    equal((rows["jd"]["units"], rows["tmall"]["units"]), (5, 0))
    problem(ask("jd", "POST", "/figures", {"channel": "tmall", "units": 5, "orders": 4, "value": 9}), 422, "bad-value")


@rule
def a_revoked_key_is_refused():
    made = server.admin_ok("POST", "/keys", {"name": "gone", "role": "channel=jd"})
    equal((made["role"], made["channel"]), ("channel", "jd"))
    headers = {"Authorization": f"Bearer {made['key']}"}
    item = shop()
    equal(server.request("GET", f"/channel/v1/items/{item}", None, headers).status, 200)
    server.admin_ok("POST", "/keys/revoke", {"name": "gone"})
    problem(server.request("GET", f"/channel/v1/items/{item}", None, headers), 401, "admin-key-required")


@rule
def a_channel_that_asks_too_much_slows_down_nobody_else():
    slow = Server(settings={"channels.names": "web,tmall,jd", "channels.requests_per_s": 5}).start()
    keys = {name: slow.admin_ok("POST", "/keys", {"name": name, "role": f"channel={name}"})["key"] for name in ("tmall", "jd")}
    item = slow.open_item(total=4, channels={"web": 1, "tmall": 1, "jd": 2})

    def get(channel):
        return slow.request("GET", f"/channel/v1/items/{item}", None, {"Authorization": f"Bearer {keys[channel]}"})
    answers = [get("tmall") for _ in range(40)]
    limited = [answer for answer in answers if answer.status == 429]
    true(len(limited) >= 20, f"{len(limited)} of 40 were refused")
    true(all("retry-after" in answer.headers for answer in limited), "they say when to come again")
    equal(get("jd").status, 200)
    equal(slow.counts(item)["channels"], {"web": 1, "tmall": 1, "jd": 2})
    Buyer(slow).win(item)


run()
