# SPDX-License-Identifier: Apache-2.0
"""Refusals in the reader's language: the same problem, status and numbers; the detail as a sentence in Chinese or English."""
import os
import re

from kit.harness import REPOSITORY, Buyer, Server, equal, problem, rule, run, true

server = Server(settings={"cors.origins": "https://shop.example"}).start()
CHINESE = re.compile("[\u4e00-\u9fff]")
READERS = (("zh", True), ("zh-CN,zh;q=0.9,en;q=0.8", True), ("ZH-tw", True), ("zh;q=0.5", True), ("en-US,en;q=0.9,zh-CN;q=0.8", False),
           ("zha", False), ("z", False), ("", False), ("*", False), ("de,zh", False), (None, False))


def with_language(language):
    return {} if language is None else {"Accept-Language": language}


def told(reply, status, name, chinese):
    body = problem(reply, status, name)
    equal(CHINESE.search(body["detail"]) is not None, chinese, body["detail"])
    return body


@rule
def the_first_language_decides():
    for language, chinese in READERS:
        told(server.request("GET", "/v1/items/60000", headers=with_language(language)), 404, "unknown-item", chinese)


@rule
def the_door_and_the_inventory_speak_it_too():
    item = server.open_item(total=1)
    winner = Buyer(server)
    ticket = winner.win(item)["ticket"]
    loser = Buyer(server)
    for language, chinese in READERS:
        fields = with_language(language)
        equal(told(loser.buy(item, headers=fields), 409, "sold-out", chinese)["free"], 0)
        equal(told(winner.buy(item, headers=fields), 409, "already-bought", chinese)["ticket"], ticket)
        crossed = loser.buy(item, headers={**fields, "Origin": "https://shop.example"})
        told(crossed, 409, "sold-out", chinese)
        equal(crossed.headers["access-control-allow-origin"], "https://shop.example")
        again = winner.buy(item, headers={**fields, "Origin": "https://shop.example"})
        equal(told(again, 409, "already-bought", chinese)["ticket"], ticket)
        equal(again.headers["access-control-allow-origin"], "https://shop.example")


@rule
def numbers_stay_what_they_are():
    soon = server.sale(start_in_ms=3600000)
    item = server.item(soon)
    server.publish(soon)
    buyer = Buyer(server)
    for language, chinese in READERS:
        reply = server.request("POST", f"/v1/items/{item}/pass", session=buyer.session, headers=with_language(language))
        true(told(reply, 403, "not-started", chinese)["start_ms"] > server.now_ms())
    many = server.open_item(total=3, limit_per_user=10)
    for language, chinese in READERS:
        body = told(buyer.buy(many, quantity=4, key="k", headers=with_language(language)), 409, "sold-out", chinese)
        equal(body["free"], 3)


@rule
def a_win_is_the_same_in_every_language():
    item = server.open_item(total=2)
    for language in ("zh-CN", "en"):
        equal(Buyer(server).buy(item, headers=with_language(language)).json()["outcome"], "won")


@rule
def too_popular_is_said_in_both():
    item = server.open_item()
    buyer = Buyer(server)
    server.admin_ok("PATCH", "/switches", {"refuse_new": True})
    reply = server.request("POST", f"/v1/items/{item}/pass", session=buyer.session, headers={"Accept-Language": "zh-CN"})
    equal(problem(reply, 503, "too-popular")["detail"], "太火爆了，请稍后再试。")
    true(int(reply.headers["retry-after"]) >= 1)
    told(server.request("POST", f"/v1/items/{item}/pass", session=buyer.session), 503, "too-popular", False)
    server.admin_ok("PATCH", "/switches", {"refuse_new": False})


@rule
def too_fast_is_said_in_both():
    slow = Server(settings={"limits.address_per_s": 1, "limits.address_burst": 1}).start()
    slow.get("/v1/time")
    for language, chinese in READERS:
        told(slow.request("GET", "/v1/time", headers=with_language(language)), 429, "too-fast", chinese)
    slow.stop()


@rule
def what_the_inventory_is_asked_first_is_said_in_both():
    buyer = Buyer(server)
    for language, chinese in READERS:
        for path, name in (("/v1/items/60000/mine", "unknown-item"), (f"/v1/orders/{7:016x}", "unknown-order")):
            told(buyer.get(path, headers=with_language(language)), 404, name, chinese)


@rule
def what_the_room_and_the_human_check_say_is_said_in_both():
    roomy = server.sale(waiting_room=True)
    guarded = server.sale(human_check="pow")
    items = [server.item(sale) for sale in (roomy, guarded)]
    for sale in (roomy, guarded):
        server.publish(sale)
    buyer = Buyer(server)
    for language, chinese in READERS:
        for item, name, status in zip(items, ("not-in-room", "human-check-required"), (404, 403)):
            reply = server.request("POST", f"/v1/items/{item}/pass", session=buyer.session, headers=with_language(language))
            told(reply, status, name, chinese)


@rule
def every_refusal_has_its_sentence():
    with open(os.path.join(REPOSITORY, "src", "api", "problems.h"), encoding="utf-8") as file:
        types = set(re.findall(r'X\(\w+, "([a-z-]+)"', file.read()))
    with open(os.path.join(REPOSITORY, "src", "api", "problems_chinese.c"), encoding="utf-8") as file:
        rows = re.findall(r'\{ "([a-z-]+)",\s*"([^"]+)" \}', file.read())
    equal(len(rows), len({name for name, _ in rows}), "a type twice")
    equal(sorted(types), sorted(name for name, _ in rows))
    true(all(CHINESE.search(detail) for _, detail in rows))


run()
