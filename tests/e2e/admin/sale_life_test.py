# SPDX-License-Identifier: Apache-2.0
"""Hiding a sale, putting it away and making a new one after it: admin API and command line."""
import os
import subprocess

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

HOUR_MS = 3600 * 1000
server = Server(settings={"channels.names": "web,app", "room.open_ms": HOUR_MS}).start()


def listed(query=""):
    return [sale["id"] for sale in server.admin_ok("GET", f"/sales{query}", role="viewer")["sales"]]


def public():
    return [sale["id"] for sale in server.get("/v1/sales").json()["sales"]]


def audit(action, sale):
    """Details of the entries of this action that name the sale."""
    entries, after = [], 0
    while True:
        page = server.admin_ok("GET", f"/audit?after={after}", role="viewer")
        entries += [entry["detail"] for entry in page["audit"]
                    if entry["action"] == action and entry["detail"].startswith(f"sale {sale}")]
        if "next" not in page:
            return entries
        after = page["next"]


def published(start_in_ms=HOUR_MS, **fields):
    sale = server.sale(start_in_ms=start_in_ms, **fields)
    item = server.item(sale)
    server.publish(sale)
    return sale, item


def cli(*words):
    environment = {**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["admin"], "STAMPEDE_URL": f"http://127.0.0.1:{server.port}"}
    return subprocess.run([server.binary, "admin", *words], capture_output=True, text=True, env=environment, timeout=60)


@rule
def an_unpublished_sale_is_invisible_and_sells_nothing_until_it_is_published_again():
    sale, item = published()
    answer = server.admin_ok("POST", f"/sales/{sale}/unpublish")
    equal((answer["id"], answer["published"]), (sale, False))
    problem(server.get(f"/v1/sales/{sale}"), 404, "unknown-sale")
    problem(server.get(f"/v1/items/{item}"), 404, "unknown-item")
    problem(Buyer(server).ask_pass(item), 404, "unknown-item")
    true(sale not in public() and sale in listed())
    equal(server.admin_ok("POST", f"/sales/{sale}/unpublish")["published"], False, "again")
    equal(audit("sale.unpublish", sale), [f"sale {sale}"], "once, however often it was asked for")
    server.publish(sale)
    true(sale in public())


@rule
def a_sale_that_sells_is_paused_before_it_is_hidden_so_that_no_pass_still_wins():
    sale, item = published(start_in_ms=-1000)
    buyer = Buyer(server)
    given = buyer.get_pass(item)
    problem(server.admin("POST", f"/sales/{sale}/unpublish"), 409, "conflict")
    problem(server.admin("POST", f"/sales/{sale}/unpublish", {"force": True}), 409, "conflict")
    true(sale in public())
    server.admin_ok("POST", f"/sales/{sale}/pause")
    server.admin_ok("POST", f"/sales/{sale}/unpublish")
    problem(buyer.buy(item, give=given), 403, "paused")
    equal(server.counts(item)["free"], 10)


@rule
def nobodys_units_vanish_from_view_without_a_word():
    sale, item = published(start_in_ms=-1000)
    ticket = Buyer(server).win(item)["ticket"]
    server.admin_ok("POST", f"/sales/{sale}/pause")
    said = problem(server.admin("POST", f"/sales/{sale}/unpublish"), 409, "conflict")["detail"]
    true("1 units are held" in said and "force" in said, said)
    true(sale in public() and ticket)
    server.admin_ok("POST", f"/sales/{sale}/unpublish", {"force": True})
    true(sale not in public())
    equal(audit("sale.unpublish.force", sale), [f"sale {sale}"])
    problem(server.admin("POST", f"/sales/{sale}/unpublish", {"forced": True}), 422, "bad-value")


@rule
def people_in_a_waiting_room_are_not_left_standing_without_a_word():
    sale, _ = published(start_in_ms=HOUR_MS // 2, waiting_room=True)
    guest = Buyer(server)
    eventually(lambda: server.request("POST", f"/v1/sales/{sale}/room", session=guest.session).status in (200, 201, 202),
               "the room does not open")
    said = eventually(lambda: server.admin("POST", f"/sales/{sale}/unpublish"))
    true("1 people are in the waiting room" in problem(said, 409, "conflict")["detail"])
    server.admin_ok("POST", f"/sales/{sale}/unpublish", {"force": True})


@rule
def a_sale_is_archived_when_it_is_over_and_its_books_stay():
    sale, item = published(start_in_ms=-1000)
    buyer = Buyer(server)
    ticket = buyer.win(item)["ticket"]
    order = buyer.order(ticket)
    problem(server.admin("POST", f"/sales/{sale}/archive"), 409, "conflict")
    server.admin_ok("POST", f"/sales/{sale}/end")
    equal(server.admin_ok("POST", f"/sales/{sale}/archive")["archived"], True)
    equal(server.admin_ok("POST", f"/sales/{sale}/archive")["archived"], True, "again")
    equal(audit("sale.archive", sale), [f"sale {sale}"])
    true(sale not in listed() and sale in listed("?archived=1"))
    true(sale not in public())
    true(sale not in [one["id"] for one in server.get("/v1/sales?ended=1").json()["sales"]])
    equal(server.get(f"/v1/items/{item}").status, 200, "who bought still sees what it was")
    equal(buyer.order(ticket)["order"], order["order"])
    equal(server.admin_ok("GET", f"/sales/{sale}/report", role="viewer")["sale"], sale)
    for act, body in (("publish", None), ("open", None), ("end", None)):
        said = problem(server.admin("POST", f"/sales/{sale}/{act}", body), 409, "conflict")["detail"]
        true("archived" in said, f"{act}: {said}")
    problem(server.admin("PATCH", f"/sales/{sale}", {"title": "Back"}), 409, "conflict")
    server.restart()
    true(sale not in listed() and sale in listed("?archived=1"), "after a restart")
    server.admin_ok("POST", f"/sales/{sale}/unarchive")
    true(sale in listed())
    equal(audit("sale.unarchive", sale), [f"sale {sale}"])


@rule
def a_draft_that_was_missed_can_be_archived_too():
    sale = server.sale(start_in_ms=-1000, lasts_ms=3000)
    eventually(lambda: server.admin("POST", f"/sales/{sale}/archive").status == 200, "it is over and can't be archived")


@rule
def a_clone_is_a_draft_with_the_same_rules_and_units_as_before_anything_was_sold():
    sale = server.sale(title="Friday", limit_per_user=3, human_check="pow", pace_per_s=50, drop_percent=5, pass_once=True,
                       details_required=True, one_open_order=True)
    product = server.product()
    items = [server.item(sale, product, total=10, locked=1, safety=2, channels={"web": 4, "app": 3}, flash_price=500,
                         limit_per_user=2, pay_window_ms=60000),
             server.item(sale, product, total=8, deduct_on_payment=True)]
    server.publish(sale)
    server.admin_ok("POST", f"/items/{items[1]}/adjust", {"delta": 5})
    eventually(lambda: server.admin_ok("GET", f"/items?sale={sale}")["items"][1]["total"] == 13, "not adjusted")
    start = server.now_ms() + 24 * HOUR_MS
    reply = server.admin("POST", f"/sales/{sale}/clone", {"start_ms": start, "end_ms": start + HOUR_MS, "title": "Saturday",
                                                          "totals": {str(items[0]): 20}})
    equal(reply.status, 201, reply.body)
    clone = reply.json()
    model = server.admin_ok("GET", f"/sales/{sale}")
    for name in ("limit_per_user", "human_check", "pace_per_s", "drop_percent", "pass_once", "details_required", "one_open_order",
                 "eligible_only", "waiting_room", "shards"):
        equal(clone[name], model[name], name)
    equal((clone["title"], clone["start_ms"], clone["end_ms"]), ("Saturday", start, start + HOUR_MS))
    equal((clone["published"], clone["archived"], clone["gate"], clone["preheat_at_ms"]), (False, False, "scheduled", 0))
    true(clone["id"] not in public())
    first, second = server.admin_ok("GET", f"/items?sale={clone['id']}")["items"]
    equal((first["total"], first["locked"], first["safety"], first["channels"]), (20, 1, 2, {"web": 14, "app": 3}))
    equal((first["flash_price"], first["limit_per_user"], first["pay_window_ms"], first["product"]), (500, 2, 60000, product))
    equal((second["total"], second["channels"]["web"], second["deduct_on_payment"], second["taken"]), (13, 13, True, 0))
    equal((first["preheated"], second["preheated"]), (False, False))
    equal(audit("sale.clone", clone["id"]), [f"sale {clone['id']} of sale {sale}, 2 items, Saturday"])
    server.publish(clone["id"])
    equal(server.counts(first["id"])["free"], 17)


@rule
def a_clone_that_can_not_be_made_leaves_nothing_behind():
    sale, item = published()
    before = listed()
    items = len(server.admin_ok("GET", f"/items?sale={sale}")["items"])
    now = server.now_ms()
    times = {"start_ms": now + HOUR_MS, "end_ms": now + 2 * HOUR_MS}
    for wrong in ({}, {"start_ms": now}, {**times, "end_ms": now}, {"start_ms": now - 20000, "end_ms": now - 10000},
                  {**times, "totals": [1]}, {**times, "totals": {"x": 1}}, {**times, "totals": {str(item + 1000): 1}},
                  {**times, "totals": {str(item): 0}}, {**times, "totals": {str(item): "5"}}, {**times, "title": ""},
                  {**times, "published": True}):
        problem(server.admin("POST", f"/sales/{sale}/clone", wrong), 422, "bad-value")
    problem(server.admin("POST", "/sales/99999/clone", times), 404, "unknown-sale")
    problem(server.admin("POST", f"/sales/{sale}/clone", times, role="operator"), 403, "admin-role")
    equal(listed(), before)
    equal(len(server.admin_ok("GET", f"/items?sale={sale}")["items"]), items)


@rule
def the_command_line_does_all_of_it():
    sale, item = published()
    done = cli("sale", "clone", str(sale), "--start", "2030-01-01T00:00:00Z", "--end", "2030-01-02T00:00:00Z", "--title", "Next",
               "--total", f"{item}=77", "--json")
    equal(done.returncode, 0, done.stderr)
    clone = next(number for number in listed() if number not in (sale,) and number > sale)
    equal(server.admin_ok("GET", f"/items?sale={clone}")["items"][0]["total"], 77)
    equal(cli("sale", "unpublish", str(sale)).returncode, 0)
    true(sale not in public())
    refused = cli("sale", "archive", str(sale))
    true(refused.returncode != 0 and "not ended" in refused.stderr, refused.stderr)
    equal(cli("sale", "end", str(sale)).returncode, 0)
    equal(cli("sale", "archive", str(sale)).returncode, 0)
    true(f'"id":{sale},' in cli("sale", "list", "--archived", "--json").stdout)
    true(f'"id":{sale},' not in cli("sale", "list", "--json").stdout)
    equal(cli("sale", "unarchive", str(sale)).returncode, 0)


@rule
def a_long_list_of_sales_has_them_all_though_some_are_archived():
    made = [server.sale(start_in_ms=-1000, lasts_ms=4000) for _ in range(70)]
    eventually(lambda: server.now_ms() > server.admin_ok("GET", f"/sales/{made[-1]}")["end_ms"], "not ended")
    for sale in made[::2]:
        server.admin_ok("POST", f"/sales/{sale}/archive")
    seen, after = [], 0
    while True:
        page = server.admin_ok("GET", f"/sales?after={after}", role="viewer")
        seen += [sale["id"] for sale in page["sales"]]
        if "next" not in page:
            break
        after = page["next"]
    equal([sale for sale in seen if sale in made], made[1::2])


run()
