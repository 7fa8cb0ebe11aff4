# SPDX-License-Identifier: Apache-2.0
"""The list of sales in one request: what is not over, with its first items, page by page; what is over apart."""
import json

from kit.harness import Server, equal, eventually, problem, rule, run, true
from kit.old_sales import DEFAULT_LIMITS, old_sales_add

OLD = 600
server = Server(settings=DEFAULT_LIMITS).start()
old = old_sales_add(server, OLD)


def pages(query=""):
    """All pages of a list."""
    answers, after = [], ""
    while True:
        answers.append(server.get(f"/v1/sales?{query}{after}").json())
        if "next" not in answers[-1]:
            return answers
        after = f"&after={answers[-1]['next']}"


def listed(query=""):
    return [sale["id"] for page in pages(query) for sale in page["sales"]]


@rule
def one_request_has_what_the_front_page_shows_whatever_the_shop_has_behind_it():
    later = server.sale(start_in_ms=3600000, title="Later")
    server.item(later)
    server.publish(later)
    item = server.open_item(total=7, sale_fields={"title": "Now"})
    reply = server.get("/v1/sales")
    answer = reply.json()
    equal(reply.status, 200)
    equal([sale["title"] for sale in answer["sales"]], ["Now", "Later"], "in the order of the start")
    equal(answer["ended_count"], OLD)
    true("next" not in answer, "there is no second page")
    true(len(reply.body) < 8192, f"{len(reply.body)} bytes for two sales")
    now = answer["sales"][0]
    equal((now["item_count"], len(now["items"])), (1, 1))
    alone = server.get(f"/v1/items/{item}").json()
    del alone["product"]["description"], alone["details_required"], alone["human_check"]
    equal(now["items"][0], alone, "the item is the same as alone")


@rule
def sales_that_are_over_come_apart_the_latest_first_and_none_is_missing():
    seen = listed("ended=1")
    equal(seen, old[::-1])
    first = server.get("/v1/sales?ended=1").json()["sales"][0]
    equal((first["state"], len(first["items"])), ("ended", 2))


@rule
def a_page_is_never_longer_than_its_room_and_the_cursor_survives_what_changes_between():
    first = server.get("/v1/sales?ended=1")
    true(len(first.body) <= 48 * 1024, f"{len(first.body)} bytes")
    last = first.json()["sales"][-1]["id"]
    server.admin_ok("POST", f"/sales/{last}/archive")
    second = server.get(f"/v1/sales?ended=1&after={first.json()['next']}").json()
    equal(second["sales"][0]["id"], last - 1, "the sale that the cursor names is gone, the list goes on behind it")
    server.admin_ok("POST", f"/sales/{last}/unarchive")


@rule
def a_sale_with_many_items_shows_the_first_ones_and_says_how_many_there_are():
    sale = server.sale(title="Many")
    product = server.product()
    items = [server.item(sale, product) for _ in range(15)]
    server.publish(sale)
    found = next(one for one in server.get("/v1/sales").json()["sales"] if one["id"] == sale)
    equal(found["item_count"], 15)
    equal([item["id"] for item in found["items"]], items[:12])


@rule
def items_with_long_names_and_pictures_still_make_whole_pages():
    product = server.product(name="手" * 60, images=["/" + "i" * 600] * 3)
    sales = []
    for _ in range(6):
        sale = server.sale(title="字" * 60)
        for _ in range(13):
            server.item(sale, product)
        server.publish(sale)
        sales.append(sale)
    seen = listed()
    equal([sale for sale in seen if sale in sales], sales)
    equal(len(seen), len(set(seen)))
    for page in pages():
        for sale in page["sales"]:
            true(len(sale["items"]) > 0 or sale["item_count"] == 0, f"sale {sale['id']} without items")


@rule
def an_ended_sale_changes_lists_by_hand_and_by_the_clock():
    by_hand, by_clock = server.sale(title="Hand"), server.sale(start_in_ms=-1000, lasts_ms=2500, title="Clock")
    for sale in (by_hand, by_clock):
        server.item(sale)
        server.publish(sale)
    true({by_hand, by_clock} <= set(listed()))
    server.admin_ok("POST", f"/sales/{by_hand}/end")
    true(by_hand not in listed() and by_hand in listed("ended=1"))
    eventually(lambda: by_clock not in listed() and by_clock in listed("ended=1"), "it is over and still listed", every_s=0.2)


@rule
def what_is_wrong_in_the_query_is_said():
    for query in ("ended=2", "ended=yes", "ended=", "after=x", "after=5", "after=5.", "after=.5", "after=-1.5", "after=1.2.3",
                  "after=99999999999999999999.1"):
        problem(server.get(f"/v1/sales?{query}"), 400, "bad-query")
    equal(json.loads(server.get("/v1/sales?after=9999999999999.1").body)["sales"], [])


run()
