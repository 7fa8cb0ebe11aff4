# SPDX-License-Identifier: Apache-2.0
"""Channels: whose units a buyer sees and gets follows from the session, which the shop's token opens; nobody chooses. Safety stock
is nobody's business."""
import os
import time

from kit.harness import Buyer, Server, equal, eventually, jwt, problem, rule, run, temp_folder, true
from kit.push_client import Push

SECRET = "s" * 32
keys = temp_folder()
with open(os.path.join(keys, "shop.secret"), "w") as file:
    file.write(SECRET)
server = Server(settings={"channels.names": "web,app", "session.jwt_keys": keys}).start()


def token(subject, **claims):
    return jwt({"sub": subject, "exp": int(time.time()) + 600, **claims}, SECRET, kid="shop")


def shopper(subject, channel="app"):
    return Buyer(server, token(subject, channel=channel))


def item_of(buyer, item):
    return (buyer.get if buyer else server.get)(f"/v1/items/{item}").json()


@rule
def a_page_shows_the_units_of_its_own_channel():
    item = server.open_item(total=9, channels={"web": 0, "app": 5}, safety=4, limit_per_user=3)
    web, app = item_of(None, item), item_of(shopper("one"), item)
    equal((web["accepting"], web["sold_out"], web["counts"]["free"]), (False, True, 0))
    equal((app["accepting"], app["sold_out"], app["counts"]["free"]), (True, False, 5))
    for path in (f"/v1/sales/{web['sale']}", "/v1/sales"):
        rows = server.get(path).json()
        rows = rows["items"] if "items" in rows else [row for sale in rows["sales"] for row in sale["items"]]
        equal([row["counts"]["free"] for row in rows if row["id"] == item], [0], path)
    equal(item_of(Buyer(server), item)["counts"]["free"], 0, "a guest is on the web")


@rule
def a_buyer_gets_the_units_of_the_session_and_of_no_other_channel():
    item = server.open_item(total=3, channels={"web": 1, "app": 2}, limit_per_user=3)
    guest, app = Buyer(server), shopper("two")
    problem(guest.buy(item, key="a", channel="app"), 422, "bad-channel")
    guest.win(item, key="b")
    problem(guest.buy(item, key="c"), 409, "sold-out")
    equal(server.counts(item)["channels"], {"web": 0, "app": 2})
    app.win(item, key="a", quantity=2)
    equal(server.counts(item)["channels"], {"web": 0, "app": 0})


@rule
def push_tells_the_state_of_the_sessions_channel():
    item = server.open_item(total=2, channels={"web": 0, "app": 2}, limit_per_user=2)
    states = []
    for buyer in (Buyer(server), shopper("three")):
        with Push(server, buyer.session, f"/v1/push?watch={item}") as push:
            states.append(push.message()["items"][0]["state"])
    equal(states, ["sold-out", "available"])


@rule
def a_token_with_a_channel_that_there_is_not_opens_no_session():
    for channel in ("phone", "safety", "", 1, None, "a" * 100):
        problem(server.request("POST", "/v1/session", session=token("x", channel=channel)), 401, "token-invalid")
    reply = server.request("POST", "/v1/session", session=token("x", channel="app"))
    equal((reply.status, reply.json()["channel"]), (201, "app"))
    equal(server.request("POST", "/v1/session").json()["channel"], "web")


@rule
def safety_stock_and_written_off_units_do_not_show():
    item = server.open_item(total=10, channels={"web": 6, "app": 0}, safety=4)
    for path in (f"/v1/items/{item}", f"/v1/sales/{server.sale_of(item)}", "/v1/sales"):
        true("safety" not in server.get(path).body.decode(), f"{path} tells of safety stock")
    counts = item_of(None, item)["counts"]
    equal(counts, {"given": 6, "free": 6, "held": 0, "sold": 0})
    server.admin_ok("POST", f"/items/{item}/move", {"from": "safety", "to": "web", "quantity": 1})
    eventually(lambda: item_of(None, item)["counts"] == {"given": 7, "free": 7, "held": 0, "sold": 0}, "a released unit shows")
    equal(server.counts(item)["safety"], 3, "the shop sees it")


run()
