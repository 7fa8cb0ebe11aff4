# SPDX-License-Identifier: Apache-2.0
"""Preheat, gates, units and invited users: what an administrator does while the sale runs."""
from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

server = Server(settings={"channels.names": "web,app"}).start()


def preheat(path, status=200):
    reply = server.admin("POST", path, role="operator")
    equal(reply.status, status, f"{path}: {reply.body!r}")
    return reply.json()


@rule
def preheating_gives_what_is_sellable_and_again_changes_nothing():
    sale = server.sale()
    items = [server.item(sale, total=10, locked=3), server.item(sale, total=5, safety=2)]
    answer = preheat(f"/sales/{sale}/preheat")
    equal(answer["items"], [{"item": items[0], "result": "preheated", "sellable": 7},
                            {"item": items[1], "result": "preheated", "sellable": 5}])
    counts = [server.counts(item) for item in items]
    equal([(count["given"], count["free"], count["safety"]) for count in counts], [(7, 7, 0), (5, 3, 2)])
    for _ in range(2):
        equal([row["result"] for row in preheat(f"/sales/{sale}/preheat")["items"]], ["unchanged"] * 2)
    equal(preheat(f"/items/{items[0]}/preheat")["result"], "unchanged")
    equal([server.counts(item) for item in items], counts)


@rule
def preheating_while_selling_changes_nothing():
    item, buyer = server.open_item(total=5), Buyer(server)
    won = buyer.win(item)
    buyer.order(won["ticket"])
    before = server.counts(item)
    equal(preheat(f"/items/{item}/preheat")["result"], "unchanged")
    equal([row["result"] for row in preheat(f"/sales/{server.sale_of(item)}/preheat")["items"]], ["unchanged"])
    equal(server.publish(server.sale_of(item))["items"][0]["result"], "unchanged")
    equal(server.counts(item), before)
    server.restart(kill=True)
    equal(preheat(f"/items/{item}/preheat")["result"], "unchanged")
    equal(server.counts(item), before)


@rule
def preheating_after_an_adjustment_changes_nothing():
    item = server.open_item(total=5)
    for delta in (3, -2):
        server.admin_ok("POST", f"/items/{item}/adjust", {"delta": delta})
    eventually(lambda: server.admin_ok("GET", f"/items/{item}/counts")["total"] == 6, "the database knows the new total")
    before = server.counts(item)
    equal(preheat(f"/items/{item}/preheat")["result"], "unchanged")
    equal(server.counts(item), before)


@rule
def preheating_with_another_total_is_refused_with_a_hint():
    import sqlite3
    item = server.open_item(total=5)
    before = server.counts(item)
    server.stop()
    with sqlite3.connect(f"{server.data}/stampede.db") as database:  # no API changes a total behind the inventory's back
        names = [row[1] for row in database.execute("pragma table_info(items)")]
        column = "total" if "total" in names else "stock"
        database.execute(f"update items set {column} = 50 where id = ?", (item,))
    database.close()
    server.start()
    answer = preheat(f"/items/{item}/preheat", status=409)
    equal(answer["result"], "refused")
    true("adjust" in answer["detail"], answer)
    equal(server.counts(item), before)


@rule
def publishing_preheats_and_says_so_honestly():
    sale = server.sale()
    item = server.item(sale)
    answer = server.admin_ok("POST", f"/sales/{sale}/publish")
    equal((answer["published"], answer["items"][0]["result"]), (True, "preheated"))
    equal(server.admin_ok("GET", f"/sales/{sale}")["published"], True)
    equal(server.counts(item)["free"], 10)
    over = server.sale(lasts_ms=4000)  # ends in 3 s; the item is there before, on a busy machine, too
    late = server.item(over)
    eventually(lambda: server.now_ms() >= server.admin_ok("GET", f"/sales/{over}")["end_ms"])
    reply = server.admin("POST", f"/sales/{over}/publish")
    equal(reply.status, 409)
    equal(reply.json()["published"], False, "a refused publication does not claim the contrary")
    equal(server.admin_ok("GET", f"/sales/{over}")["published"], False)
    equal(server.counts(late), None)


@rule
def open_now_by_hand_sells_before_the_start():
    sale = server.sale(start_in_ms=60000)
    item = server.item(sale)
    buyer = Buyer(server)
    for move in ("open", "pause", "end"):
        refusal = problem(server.admin("POST", f"/sales/{sale}/{move}"), 409, "conflict")
        true("not preheated" in refusal["detail"], refusal)
    server.publish(sale)
    problem(buyer.ask_pass(item), 403, "not-started")
    equal(server.admin_ok("POST", f"/sales/{sale}/open", role="operator"), {"sale": sale, "changed": True})
    equal(server.admin_ok("POST", f"/sales/{sale}/open", role="operator"), {"sale": sale, "changed": False})
    buyer.win(item)
    server.restart(kill=True)
    Buyer(server).win(item)


@rule
def a_sale_without_items_is_not_published():
    sale = server.sale(start_in_ms=60000)
    true("no items" in problem(server.admin("POST", f"/sales/{sale}/publish"), 409, "conflict")["detail"])
    equal(server.admin_ok("GET", f"/sales/{sale}")["published"], False)
    problem(server.admin("POST", f"/sales/{sale}/open"), 409, "conflict")
    problem(server.admin("POST", "/sales/9999/open"), 404, "unknown-sale")


@rule
def gates_say_what_the_public_sees():
    def gate(sale):
        return server.admin_ok("GET", f"/sales/{sale}")["gate"]
    sale = server.sale(start_in_ms=1500, lasts_ms=2000)
    server.item(sale)
    equal(gate(sale), "scheduled")
    server.publish(sale)
    equal(gate(sale), "scheduled")
    eventually(lambda: gate(sale) == "open", "it does not open")
    equal(server.admin_ok("GET", f"/sales/{sale}/report")["gate"], "open")
    eventually(lambda: gate(sale) == "ended", "it does not end")
    other = server.sale_of(server.open_item())
    server.admin_ok("POST", f"/sales/{other}/pause")
    eventually(lambda: gate(other) == "paused")
    rows = {row["id"]: row["gate"] for row in server.admin_ok("GET", "/sales")["sales"]}
    equal((rows[sale], rows[other]), ("ended", "paused"))


@rule
def a_sale_that_was_ended_by_mistake_goes_on():
    item = server.open_item()
    sale = server.sale_of(item)
    buyer = Buyer(server)
    give = buyer.get_pass(item)
    equal(server.admin_ok("POST", f"/sales/{sale}/reopen")["changed"], False)
    server.admin_ok("POST", f"/sales/{sale}/end")
    problem(buyer.buy(item, give=give), 410, "ended")
    equal(server.admin_ok("POST", f"/sales/{sale}/reopen")["changed"], True)
    eventually(lambda: server.admin_ok("GET", f"/sales/{sale}")["gate"] == "open")
    eventually(lambda: buyer.buy(item, give=give).status == 202, "it does not sell")
    server.restart(kill=True)
    Buyer(server).win(item)
    problem(server.admin("POST", f"/sales/{sale}/reopen", role="operator"), 403, "admin-role")
    over = server.sale(start_in_ms=-1000, lasts_ms=2500)
    server.item(over)
    server.publish(over)
    server.admin_ok("POST", f"/sales/{over}/end")
    eventually(lambda: server.admin("POST", f"/sales/{over}/reopen").status == 409 or
               server.admin_ok("POST", f"/sales/{over}/end") is None, "it can be reopened after its time")


@rule
def a_pause_stops_and_a_resume_goes_on():
    item = server.open_item()
    sale = server.sale_of(item)
    buyer = Buyer(server)
    give = buyer.get_pass(item)
    server.admin_ok("POST", f"/sales/{sale}/pause")
    problem(buyer.buy(item, give=give), 403, "paused")
    problem(server.admin("POST", f"/sales/{sale}/open"), 409, "conflict")
    server.restart()
    problem(buyer.buy(item, give=give), 403, "paused")
    server.admin_ok("POST", f"/sales/{sale}/resume")
    equal(buyer.buy(item, give=give).status, 202)


@rule
def an_end_is_final():
    item = server.open_item()
    sale = server.sale_of(item)
    server.admin_ok("POST", f"/sales/{sale}/end")
    equal(server.admin_ok("POST", f"/sales/{sale}/end")["changed"], False)
    for move in ("open", "pause", "resume"):
        reply = server.admin("POST", f"/sales/{sale}/{move}")
        if move == "resume":
            true(reply.status in (200, 409), reply)
        else:
            problem(reply, 409, "conflict")
    problem(Buyer(server).buy(item, give="x"), 410, "ended")


@rule
def a_decrease_takes_what_is_free_and_says_how_much():
    item = server.open_item(total=10, limit_per_user=10)
    Buyer(server).win(item, quantity=4, key="a")
    answer = server.admin_ok("POST", f"/items/{item}/adjust", {"delta": -5}, role="operator")
    equal((answer["applied"], answer["counts"]["given"], answer["counts"]["free"], answer["counts"]["held"]), (-5, 5, 1, 4))
    answer = server.admin_ok("POST", f"/items/{item}/adjust", {"delta": -5}, role="operator")
    equal((answer["applied"], answer["counts"]["given"], answer["counts"]["free"], answer["counts"]["held"]), (-1, 4, 0, 4))
    answer = server.admin_ok("POST", f"/items/{item}/adjust", {"delta": -5}, role="operator")
    equal((answer["applied"], answer["counts"]["given"]), (0, 4))
    problem(Buyer(server).buy(item, key="a"), 409, "sold-out", free=0)
    equal(server.counts(item)["held"], 4)


@rule
def an_increase_sells_at_once():
    item = server.open_item(total=0, limit_per_user=10)
    problem(Buyer(server).buy(item, key="a"), 409, "sold-out", free=0)
    equal(server.admin_ok("POST", f"/items/{item}/adjust", {"delta": 2})["applied"], 2)
    Buyer(server).win(item, quantity=2, key="a")
    problem(Buyer(server).buy(item, key="a"), 409, "sold-out", free=0)
    for delta in (100000001, -100000001, 2147483648):
        problem(server.admin("POST", f"/items/{item}/adjust", {"delta": delta}), 422, "bad-value")
    reply = server.admin("POST", f"/items/{item}/adjust", {"delta": 100000000})
    problem(reply, 422, "bad-quantity")
    equal(server.counts(item)["given"], 2)


@rule
def units_move_between_channels_and_the_safety_stock():
    item = server.open_item(total=10, safety=2, channels={"web": 5, "app": 3}, limit_per_user=0)

    def move(source, target, quantity, applied):
        body = {"from": source, "to": target, "quantity": quantity}
        answer = server.admin_ok("POST", f"/items/{item}/move", body, role="operator")
        equal(answer["applied"], applied)
        equal(answer["counts"]["given"], 10)
        return answer["counts"]["channels"]["web"], answer["counts"]["channels"]["app"], answer["counts"]["safety"]

    equal(move("web", "app", 2, 2), (3, 5, 2))
    equal(move("safety", "web", 5, 2), (5, 5, 0))
    equal(move("app", "safety", 1, 1), (5, 4, 1))
    Buyer(server).win(item, quantity=5, key="a")
    equal(move("web", "app", 1, 0), (0, 4, 1))
    for body in ({"from": "web", "to": "web", "quantity": 1}, {"from": "web", "to": "shop", "quantity": 1},
                 {"from": "nowhere", "to": "web", "quantity": 1}):
        problem(server.admin("POST", f"/items/{item}/move", body), 422, "bad-channel")
    for quantity in (0, -1, 1.0, "1", None, 100000001):
        body = {"from": "app", "to": "web", "quantity": quantity}
        problem(server.admin("POST", f"/items/{item}/move", body), 422, "bad-value")
    equal(server.counts(item)["channels"], {"web": 0, "app": 4})


@rule
def an_adjustment_can_go_to_a_channel_or_to_safety():
    item = server.open_item(total=3)
    for place, wanted in (("app", (3, 4, 0)), ("safety", (3, 4, 4))):
        server.admin_ok("POST", f"/items/{item}/adjust", {"delta": 4, "channel": place})
        counts = server.counts(item)
        equal((counts["channels"]["web"], counts["channels"]["app"], counts["safety"]), wanted)
    problem(server.admin("POST", f"/items/{item}/adjust", {"delta": 1, "channel": "shop"}), 422, "bad-channel")


@rule
def stock_that_does_not_exist_can_not_be_adjusted():
    sale = server.sale()
    item = server.item(sale)
    equal(server.counts(item), None)
    for path, body in (("adjust", {"delta": 1}), ("move", {"from": "web", "to": "safety", "quantity": 1})):
        true("not preheated" in problem(server.admin("POST", f"/items/{item}/{path}", body), 409, "conflict")["detail"])
    problem(server.admin("POST", "/items/9999/adjust", {"delta": 1}), 404, "unknown-item")


@rule
def users_that_are_no_names_are_not_loaded():
    sale = server.sale(eligible_only=True)
    for users in ("ann", [1], [""], ["x" * 129], [None], [["a"]], {"a": 1}, None):
        problem(server.admin("POST", f"/sales/{sale}/users", {"users": users}), 422, "bad-value")
    problem(server.admin("POST", f"/sales/{sale}/users", {}), 422, "bad-value")
    equal(server.admin_ok("POST", f"/sales/{sale}/users", {"users": []})["loaded"], 0)


run()
