# SPDX-License-Identifier: Apache-2.0
"""What the public sees of sales and items: state, counts, no drafts, page by page."""
import time

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

server = Server(settings={"channels.names": "web,app", "page.image_origins": "https://x"}).start()


@rule
def drafts_are_invisible():
    sale = server.sale()
    item = server.item(sale)
    time.sleep(0.1)
    problem(server.get(f"/v1/sales/{sale}"), 404, "unknown-sale")
    problem(server.get(f"/v1/items/{item}"), 404, "unknown-item")
    true(sale not in [row["id"] for row in server.get("/v1/sales").json()["sales"]])
    problem(Buyer(server).ask_pass(item), 404, "unknown-item")
    server.publish(sale)
    true(sale in [row["id"] for row in server.get("/v1/sales").json()["sales"]])
    equal(server.get(f"/v1/items/{item}").status, 200)


@rule
def an_item_shows_product_prices_window_and_exact_counts():
    product = server.product(name='Ph"one \u624b\u673a <b>', description="line\nbreak \u2028 \U0001f600", images=["/a.svg", "https://x/y"],
                             list_price=500, currency="EUR")
    sale = server.sale(title="Now \u5feb", limit_per_user=4, details_required=True)
    item = server.item(sale, product, flash_price=100, limit_per_user=2, total=20, locked=3, safety=2,
                       channels={"web": 10, "app": 5})
    later = server.item(sale, product, deduct_on_payment=True)
    server.publish(sale)
    view = server.get(f"/v1/items/{item}").json()
    now = server.now_ms()
    equal((view["id"], view["sale"], view["currency"], view["list_price"], view["flash_price"], view["limit_per_user"]),
          (item, sale, "EUR", 500, 100, 2))
    equal((view["deduct"], server.get(f"/v1/items/{later}").json()["deduct"]), ("order", "payment"))
    equal(view["product"]["name"], 'Ph"one \u624b\u673a <b>')
    equal(view["product"]["images"], ["/a.svg", "https://x/y"])
    equal(view["product"]["description"], "line\nbreak \u2028 \U0001f600")
    equal(view["counts"], {"given": 10, "free": 10, "held": 0, "sold": 0})  # of the web: no app, no safety stock
    equal((view["state"], view["started"], view["accepting"], view["sold_out"]), ("open", True, True, False))
    true(view["start_ms"] < now < view["end_ms"])
    whole = server.get(f"/v1/sales/{sale}").json()
    equal((whole["id"], whole["title"], whole["state"], whole["limit_per_user"]), (sale, "Now \u5feb", "open", 4))
    equal((whole["details_required"], whole["items"][0]["deduct"]), (True, "order"))
    equal(whole["items"][0]["counts"], view["counts"])
    Buyer(server).win(item, key="a", quantity=2)
    equal(server.get(f"/v1/items/{item}").json()["counts"], {"given": 10, "free": 8, "held": 2, "sold": 0})
    equal(server.get(f"/v1/sales/{sale}").json()["items"][0]["counts"]["held"], 2)


def state(sale, item):
    whole = server.get(f"/v1/sales/{sale}").json()
    alone = server.get(f"/v1/items/{item}").json()
    equal(whole["state"], alone["state"])
    ended = int(alone["state"] == "ended")
    equal([row["state"] for row in server.get(f"/v1/sales?ended={ended}").json()["sales"] if row["id"] == sale],
          [alone["state"]])
    return alone["state"], alone["started"], alone["accepting"]


@rule
def the_state_follows_clock_and_gate():
    sale = server.sale(start_in_ms=60000)
    item = server.item(sale)
    server.publish(sale)
    equal(state(sale, item), ("scheduled", False, False))
    for move, wanted in (("open", ("open", True, True)), ("pause", ("paused", True, False)),
                         ("resume", ("open", True, True)), ("end", ("ended", True, False))):
        server.admin_ok("POST", f"/sales/{sale}/{move}")
        equal(state(sale, item), wanted, move)
    server.restart()
    equal(state(sale, item), ("ended", True, False), "after a restart")


@rule
def sold_out_is_shown_and_clears_when_units_come():
    item = server.open_item(total=1)
    Buyer(server).win(item)
    view = server.get(f"/v1/items/{item}").json()
    equal((view["sold_out"], view["accepting"], view["state"]), (True, False, "open"))
    server.admin_ok("POST", f"/items/{item}/adjust", {"delta": 1})
    view = server.get(f"/v1/items/{item}").json()
    equal((view["sold_out"], view["accepting"]), (False, True))
    Buyer(server).win(item)


@rule
def when_an_item_sold_out_for_the_first_time_is_told_while_it_is_sold_out():
    item, before = server.open_item(total=1), server.now_ms()
    true("sold_out_ms" not in server.get(f"/v1/items/{item}").json(), "told before")
    Buyer(server).win(item)
    first = server.get(f"/v1/items/{item}").json()["sold_out_ms"]
    true(before <= first <= server.now_ms(), (before, first))
    server.admin_ok("POST", f"/items/{item}/adjust", {"delta": 1})
    true("sold_out_ms" not in server.get(f"/v1/items/{item}").json(), "told while a unit is free")
    Buyer(server).win(item)
    equal(server.get(f"/v1/items/{item}").json()["sold_out_ms"], first)  # the first time counts
    server.restart()
    view = server.get(f"/v1/items/{item}").json()
    equal((view["sold_out"], "sold_out_ms" in view), (True, False))  # not known any more


@rule
def long_lists_come_page_by_page_and_nothing_is_missing():
    sale = server.sale()
    product = server.product(name="\u624b" * 60, images=["/" + "i" * 600] * 3)
    items = [server.item(sale, product) for _ in range(40)]
    server.publish(sale)
    seen, after = [], 0
    for _ in range(50):
        page = eventually(lambda: server.get(f"/v1/sales/{sale}?after={after}")).json()
        seen += [row["id"] for row in page["items"]]
        if "next" not in page:
            break
        equal(page["next"], seen[-1])
        after = page["next"]
    equal(seen, items)
    for query in ("after=x", "after=-1", "after=99999999999"):
        problem(server.get(f"/v1/sales/{sale}?{query}"), 400, "bad-query")


run()
