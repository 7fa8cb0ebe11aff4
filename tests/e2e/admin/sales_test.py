# SPDX-License-Identifier: Apache-2.0
"""Products, sales and items as an administrator makes, reads and reschedules them."""
import time

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

server = Server(settings={"channels.names": "web,app", "page.image_origins": "https://b"}).start()

FUNNEL = ("human_check", "waiting_room", "pass_once", "drop_percent", "pace_per_s")


@rule
def what_was_created_is_shown_as_it_was_sent():
    product = {"name": "Phone \u624b\u673a", "description": "x" * 4000, "images": ["/a", "https://b/c"], "list_price": 10 ** 12,
               "currency": "JPY"}
    made = server.admin_ok("POST", "/products", product)
    equal({name: made[name] for name in product}, product)
    now = server.now_ms()
    sale = {"title": "S", "start_ms": now + 60000, "end_ms": now + 120000, "limit_per_user": 3, "eligible_only": True,
            "preheat_at_ms": now + 50000, "one_open_order": True, "details_required": True,
            "human_check": "image", "waiting_room": True, "pass_once": True, "drop_percent": 30, "pace_per_s": 500}
    shown = server.admin_ok("POST", "/sales", sale)
    equal({name: shown[name] for name in sale}, sale)
    equal((shown["published"], shown["gate"]), (False, "scheduled"))
    equal(server.admin_ok("GET", f"/sales/{shown['id']}"), shown)
    item = {"sale": shown["id"], "product": made["id"], "flash_price": 5, "limit_per_user": 2, "pay_window_ms": 1000, "total": 100,
            "locked": 10, "safety": 5, "deduct_on_payment": True, "channels": {"web": 80, "app": 5}}
    kept = server.admin_ok("POST", "/items", item)
    equal({name: kept[name] for name in item}, item)
    equal((kept["taken"], kept["preheated"]), (0, False))
    equal(server.admin_ok("GET", f"/items?sale={shown['id']}")["items"], [kept])


@rule
def what_is_not_said_has_a_standard():
    made = server.admin_ok("POST", "/products", {"name": "P", "list_price": 0})
    equal((made["currency"], made["images"], made["description"]), ("CNY", [], ""))
    item = server.admin_ok("POST", "/items", {"sale": server.sale(), "product": made["id"], "flash_price": 0, "total": 7})
    equal((item["limit_per_user"], item["pay_window_ms"], item["locked"], item["safety"]), (1, 900000, 0, 0))
    equal((item["channels"], item["deduct_on_payment"]), ({"web": 7, "app": 0}, False))
    sale = server.admin_ok("GET", f"/sales/{item['sale']}")
    equal((sale["one_open_order"], sale["details_required"]), (False, False))
    equal([sale[name] for name in FUNNEL], ["none", False, False, 0, 0])


@rule
def lists_go_on_where_the_page_before_ended():
    sale = server.sale()
    product = server.product()
    made = {"/products": [server.product(name=f"N{number}") for number in range(20)],
            "/sales": [server.sale() for _ in range(60)],
            f"/items?sale={sale}": [server.item(sale, product) for _ in range(60)]}
    for path, ids in made.items():
        name = path[1:].split("?")[0]
        seen, after, pages = [], 0, 0
        while True:
            page = server.admin_ok("GET", f"{path}{'&' if '?' in path else '?'}after={after}", role="viewer")
            seen += [row["id"] for row in page[name]]
            pages += 1
            if "next" not in page:
                break
            equal(page["next"], seen[-1])
            after = page["next"]
        equal(seen, sorted(set(seen)), path)
        true(set(ids) <= set(seen) and pages > 1, path)
        for wrong in ("x", "-1", "4294967296", ""):
            problem(server.admin("GET", f"{path.split('?')[0]}?after={wrong}"), 400, "bad-query")


@rule
def a_sale_must_end_after_it_starts_and_not_in_the_past():
    now = server.now_ms()
    for start, end in ((now + 2000, now + 1000), (now + 1000, now + 1000), (now - 2000, now - 1000)):
        problem(server.admin("POST", "/sales", {"title": "S", "start_ms": start, "end_ms": end}), 422, "bad-value")


@rule
def channels_must_add_up_and_be_known():
    sale, product = server.sale(), server.product()
    for more in ({"channels": {"web": 9}}, {"channels": {"web": 11}}, {"channels": {"shop": 10}}, {"channels": {"web": -1, "app": 11}},
                 {"channels": {"web": 10.0}}, {"channels": [10]}, {"channels": {"safety": 10}}, {"locked": 11}, {"safety": 11},
                 {"locked": 6, "safety": 6}, {"channels": {}}, {"channels": {"web": 10}, "safety": 1}):
        body = {"sale": sale, "product": product, "flash_price": 1, "total": 10, **more}
        problem(server.admin("POST", "/items", body), 422, "bad-value")
    problem(server.admin("POST", "/items", {"sale": sale, "product": 9999, "flash_price": 1, "total": 10}), 422, "bad-value")
    equal(server.admin_ok("GET", f"/items?sale={sale}")["items"], [])


@rule
def a_sale_can_be_rescheduled_until_it_starts():
    sale = server.sale(start_in_ms=60000)
    item = server.item(sale)
    server.publish(sale)
    now = server.now_ms()
    changed = server.admin_ok("PATCH", f"/sales/{sale}", {"start_ms": now + 90000, "title": "Later"})
    equal((changed["start_ms"], changed["title"]), (now + 90000, "Later"))
    view = server.get(f"/v1/items/{item}").json()
    equal((view["start_ms"], view["state"]), (now + 90000, "scheduled"))
    eventually(lambda: server.get(f"/v1/sales/{sale}").json()["title"] == "Later", "the new title")
    server.admin_ok("PATCH", f"/sales/{sale}", {"start_ms": server.now_ms() + 300})
    buyer = Buyer(server)
    give = buyer.get_pass(item)
    reply = buyer.buy(item, give=give)
    if reply.status == 403:
        problem(reply, 403, "not-started")
        time.sleep(0.4)
        reply = buyer.buy(item, give=give)
    equal(reply.status, 202, "it opens at its new time")


@rule
def once_started_only_the_end_can_move():
    sale = server.sale()
    item = server.item(sale)
    server.publish(sale)
    before = server.admin_ok("GET", f"/sales/{sale}")
    now = server.now_ms()
    document = problem(server.admin("PATCH", f"/sales/{sale}", {"start_ms": now + 1000}), 409, "conflict")
    true("start" in document["detail"], document)
    equal(server.admin_ok("GET", f"/sales/{sale}"), before, "nothing changed")
    equal(server.get(f"/v1/items/{item}").json()["start_ms"], before["start_ms"])
    server.admin_ok("PATCH", f"/sales/{sale}", {"end_ms": now + 7200000})
    equal(server.get(f"/v1/items/{item}").json()["end_ms"], now + 7200000)
    problem(server.admin("PATCH", f"/sales/{sale}", {"end_ms": before["start_ms"]}), 422, "bad-value")
    server.admin_ok("POST", f"/sales/{sale}/end")
    problem(server.admin("PATCH", f"/sales/{sale}", {"end_ms": now + 9000000}), 409, "conflict")


@rule
def a_sale_opened_by_hand_has_started():
    sale = server.sale(start_in_ms=60000)
    server.item(sale)
    server.publish(sale)
    server.admin_ok("POST", f"/sales/{sale}/open")
    problem(server.admin("PATCH", f"/sales/{sale}", {"start_ms": server.now_ms() + 90000}), 409, "conflict")


@rule
def the_limit_of_a_sale_that_counts_already_is_not_lowered():
    sale = server.sale(limit_per_user=5, start_in_ms=60000)
    server.item(sale, limit_per_user=5)
    server.publish(sale)
    for limit in (0, 4):
        problem(server.admin("PATCH", f"/sales/{sale}", {"limit_per_user": limit}), 409, "conflict")
    equal(server.admin_ok("PATCH", f"/sales/{sale}", {"limit_per_user": 6})["limit_per_user"], 6)


@rule
def a_draft_can_be_changed_freely():
    sale = server.sale(start_in_ms=60000, limit_per_user=5)
    now = server.now_ms()
    changed = server.admin_ok("PATCH", f"/sales/{sale}", {"limit_per_user": 0, "start_ms": now + 1, "end_ms": now + 50000,
                                                          "eligible_only": True})
    equal((changed["limit_per_user"], changed["start_ms"], changed["eligible_only"]), (0, now + 1, True))
    equal((changed["one_open_order"], changed["details_required"]), (False, False))
    changed = server.admin_ok("PATCH", f"/sales/{sale}", {"one_open_order": True})
    equal((changed["one_open_order"], changed["details_required"], changed["eligible_only"]), (True, False, True))
    changed = server.admin_ok("PATCH", f"/sales/{sale}", {"one_open_order": False, "details_required": True})
    equal((changed["one_open_order"], changed["details_required"]), (False, True))
    equal(server.admin_ok("GET", f"/sales/{sale}"), changed)


@rule
def what_visitors_must_do_can_change_while_a_sale_runs():
    item = server.open_item(total=3)
    sale = server.sale_of(item)
    changed = server.admin_ok("PATCH", f"/sales/{sale}", {"human_check": "pow", "drop_percent": 7, "pace_per_s": 9})
    equal([changed[name] for name in FUNNEL], ["pow", False, False, 7, 9])
    changed = server.admin_ok("PATCH", f"/sales/{sale}", {"waiting_room": True, "pass_once": True, "drop_percent": 0})
    equal([changed[name] for name in FUNNEL], ["pow", True, True, 0, 9])
    eventually(lambda: server.get(f"/v1/sales/{sale}").json()["waiting_room"])
    public = server.get(f"/v1/sales/{sale}").json()
    equal((public["human_check"], public["waiting_room"]), ("pow", True))
    true("drop_percent" not in public and "pace_per_s" not in public, "the public need not know")
    for wrong in ({"human_check": "sudoku"}, {"human_check": 1}, {"human_check": ""}, {"drop_percent": 101}, {"drop_percent": -1},
                  {"pace_per_s": 1000001}, {"waiting_room": 1}, {"pass_once": "yes"}):
        problem(server.admin("PATCH", f"/sales/{sale}", wrong), 422, "bad-value")
    equal(server.admin_ok("GET", f"/sales/{sale}"), changed)


@rule
def one_machine_decides_a_sale_with_one_shard():
    now = server.now_ms()
    body = {"title": "S", "start_ms": now + 60000, "end_ms": now + 120000}
    shown = server.admin_ok("POST", "/sales", {**body, "shards": 1})
    equal(shown["shards"], 1)
    for wrong in (0, -1, 2, 32, 33, "1", 1.5, None):
        document = problem(server.admin("POST", "/sales", {**body, "shards": wrong}), 422, "bad-value")
        equal(document, problem(server.admin("PATCH", f"/sales/{shown['id']}", {"title": "T", "shards": wrong}), 422, "bad-value"))
        equal("needs several machines: inventory.kind = redis" in document["detail"], wrong in (2, 32), document)
    equal(server.admin_ok("GET", f"/sales/{shown['id']}"), shown, "nothing changed")
    equal(server.admin_ok("GET", f"/sales?after={shown['id'] - 1}")["sales"][0], shown)
    equal(server.admin_ok("PATCH", f"/sales/{shown['id']}", {"shards": 1})["shards"], 1)


@rule
def everything_is_still_there_after_kill_9():
    sale = server.sale(title="Kept")
    item = server.item(sale)
    lists = [server.admin("GET", path).json() for path in ("/products", "/sales", "/items", "/audit?after=10")]
    server.restart(kill=True)
    equal([server.admin("GET", path).json() for path in ("/products", "/sales", "/items", "/audit?after=10")], lists)
    server.publish(sale)
    Buyer(server).win(item)


run()
