# SPDX-License-Identifier: Apache-2.0
"""Four gateways together let through what one would: limits of addresses, users and items, passes and challenges that are used
once, bans, switches and edits. Real processes on PostgreSQL and Redis."""
import os
import threading
import time

from kit import databases

databases.beside("postgres", "redis")

from kit.cluster import Cluster  # noqa: E402
from kit.harness import (Buyer, Connection, among, equal, eventually, jwt, problem, request_bytes, rule, run, temp_folder,  # noqa: E402
                         true)
from kit.solving import payload, solve  # noqa: E402

REQUESTS, WINDOW_MS = 6, 3000
RATE, BURST, SECONDS = 20, 40, 10  # of an address; and how long a limit is tried
STEP_S = 0.004  # between two requests of one client
SECRET = "s" * 32
keys_folder = temp_folder()
with open(os.path.join(keys_folder, "shop.secret"), "w", encoding="ascii") as key_file:
    key_file.write(SECRET)
shop = Cluster(gateways=4, workers=1, settings={
    "limits.user_requests": REQUESTS, "limits.user_window_ms": WINDOW_MS, "human.pow_hashes": 200,
    "limits.address_burst": BURST, "session.jwt_keys": keys_folder}).start()


def at_once(jobs):
    """Runs the functions at the same moment; their answers in order."""
    answers, gate = [None] * len(jobs), threading.Barrier(len(jobs))

    def work(index, job):
        gate.wait()
        answers[index] = job()
    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def sent_at_once(requests):
    """Each of the requests at the next gateway, all at once, on connections that are open already."""
    connections = [Connection(shop.ports[number % 4]) for number in range(len(requests))]

    def ask(connection, data):
        def job():
            connection.send(data)
            return connection.read_reply()
        return job
    answers = at_once([ask(*pair) for pair in zip(connections, requests)])
    for connection in connections:
        connection.close()
    return answers


def names(answers):
    """How often each answer came."""
    counted = {}
    for reply in answers:
        name = str(reply.status) if reply.status < 400 else reply.json()["type"].rpartition("/")[2]
        counted[name] = counted.get(name, 0) + 1
    return counted


def offered(total=100, **sale_fields):
    """An item that all gateways sell. Nobody is on the list of its sale: who is let through hears that, and wins hide nothing."""
    item = shop.worker.open_item(total=total, sale_fields={"eligible_only": True, **sale_fields})
    shop.everywhere(item)
    for gateway in shop.gateways:
        eventually(lambda: "not-eligible" in str(Buyer(gateway).buy(item)), "a gateway does not sell an item", every_s=0.2)
    return item


def bearer(session):
    return {"Authorization": f"Bearer {session}"}


# ---- used once -----------------------------------------------------------------------------------------------------------


@rule
def a_pass_that_is_valid_once_is_used_once_at_four_gateways():
    item, seen = offered(pass_once=True), {}
    for turn in range(10):
        buyer = Buyer(shop.gateways[turn % 4])
        counted = names(sent_at_once([buyer.purchase_request(item, give=buyer.get_pass(item))] * 4))
        equal(counted, {"not-eligible": 1, "pass-spent": 3})
        for name, count in counted.items():
            seen[name] = seen.get(name, 0) + count
    print(f"      ten passes, each at four gateways at once: {seen}")


@rule
def a_pass_gives_one_intent_at_four_gateways():
    item = shop.worker.open_item(total=10, sale_fields={"pass_once": True}, deduct_on_payment=True)
    shop.everywhere(item)

    def intent(server):
        buyer = Buyer(server)
        return request_bytes("POST", f"/v1/items/{item}/intent", None, {"Stampede-Pass": buyer.get_pass(item)})
    for gateway in shop.gateways:
        eventually(lambda: names(sent_at_once([intent(gateway)])) == {"201": 1}, "no intent", every_s=0.2)
    equal(names(sent_at_once([intent(shop.gateways[0])] * 4)), {"201": 1, "pass-spent": 3})


@rule
def a_used_pass_still_hears_of_its_win():
    item = shop.worker.open_item(total=100, sale_fields={"pass_once": True})
    shop.everywhere(item)
    buyer = Buyer(shop.gateways[0])
    give = buyer.get_pass(item)
    won = buyer.win(item, give=give, key="key")
    for gateway in shop.gateways:
        with gateway.connect() as connection:
            connection.send(buyer.purchase_request(item, give=give, key="key"))
            equal(connection.read_reply().json().get("ticket"), won["ticket"])


@rule
def a_challenge_is_good_once_at_four_gateways():
    item = shop.worker.open_item(total=10, sale_fields={"human_check": "pow"})
    shop.everywhere(item)
    buyer = Buyer(shop.gateways[0])
    given = shop.gateways[1].get(f"/v1/items/{item}/challenge", session=buyer.session).json()
    solved = request_bytes("POST", f"/v1/items/{item}/pass", payload(solve(given)), bearer(buyer.session))
    counted = names(sent_at_once([solved] * 4))
    print(f"      a challenge at four gateways at once: {counted}")
    equal(counted, {"201": 1, "human-check-spent": 3})
    counted = names(sent_at_once([solved] * 4))
    equal(counted, {"human-check-spent": 4})


@rule
def a_token_of_the_shop_with_a_jti_opens_one_session_at_four_gateways():
    token = jwt({"sub": "ann", "exp": int(time.time()) + 600, "jti": "a-1"}, SECRET, kid="shop")
    counted = names(sent_at_once([request_bytes("POST", "/v1/session", None, bearer(token))] * 4))
    equal(counted, {"201": 1, "token-invalid": 3})


# ---- as much as one gateway ----------------------------------------------------------------------------------------------


@rule
def a_user_asks_as_often_as_at_one_gateway():
    item, buyer = offered(), Buyer(shop.gateways[0])
    give, through, told = buyer.get_pass(item), [], []
    for _ in range(3):
        replies = sent_at_once([buyer.purchase_request(item, give=give)] * (4 * REQUESTS))
        counted = names(replies)
        told += [int(reply.headers["retry-after"]) for reply in replies if reply.status == 429]
        equal(set(counted), {"not-eligible", "too-fast"}, f"{counted}")
        through.append(counted["not-eligible"])
        time.sleep(WINDOW_MS / 1000 + 0.1)
    print(f"      a user, let through in each window of {WINDOW_MS} ms: {through}; one gateway: {REQUESTS}")
    equal(through, [REQUESTS] * 3)
    true(told and all(1 <= wait <= WINDOW_MS // 1000 + 6 for wait in told), f"Retry-After {told}")


def switch(**values):
    """At the worker; then until every gateway has it."""
    equal(shop.worker.admin("PATCH", "/switches", values).status, 200)
    for gateway in shop.gateways:
        eventually(lambda: values.items() <= gateway.admin("GET", "/switches").json().items(), "a gateway does not follow")


def tried(asks, seconds=SECONDS):
    """Each of the functions again and again, all side by side, for so long; how often they answered True, and the seconds."""
    began, counts = time.monotonic(), []

    def work(ask):
        through = 0
        while time.monotonic() < began + seconds:
            through += ask()
            time.sleep(STEP_S)
        counts.append(through)
    at_once([lambda ask=ask: work(ask) for ask in asks])
    return sum(counts), time.monotonic() - began


def within(what, through, one):
    print(f"      {what}: four gateways {through}, one would {one:.0f} ({100 * through / one - 100:+.1f} %)")
    true(0.9 * one <= through <= 1.1 * one, f"{what}: {through}, not within 10 % of {one:.0f}")


@rule
def an_address_gets_as_much_as_at_one_gateway():
    switch(address_rate=RATE)
    data = request_bytes("GET", "/v1/time")
    connections = [Connection(port, source="127.0.7.1") for port in shop.ports]

    def asker(connection):
        def ask():
            connection.send(data)
            return connection.read_reply().status == 200
        return ask
    through, seconds = tried([asker(connection) for connection in connections])
    switch(address_rate=0)
    within("an address", through, BURST + RATE * seconds)


@rule
def an_address_that_asks_slowly_everywhere_gets_as_much_as_at_one_gateway():
    """At each gateway it stays within the rate, and has hardly used its burst; at all together it is four times too fast."""
    switch(address_rate=RATE)
    data = request_bytes("GET", "/v1/time")
    connections = [Connection(port, source="127.0.7.2") for port in shop.ports]

    def asker(connection):
        def ask():
            time.sleep(1 / RATE)
            connection.send(data)
            return connection.read_reply().status == 200
        return ask
    through, seconds = tried([asker(connection) for connection in connections])
    switch(address_rate=0)
    within("an address that asks slowly everywhere", through, BURST + RATE * seconds)


@rule
def an_item_has_one_pace_at_four_gateways():
    pace = 50
    item = offered(pace_per_s=pace)
    switch(bypass_user_limit=True)
    buyers = [Buyer(gateway) for gateway in shop.gateways]
    requests = [buyer.purchase_request(item) for buyer in buyers]
    connections = [Connection(port) for port in shop.ports]

    def asker(connection, data):
        def ask():
            connection.send(data)
            reply = connection.read_reply()
            among(reply.status, (403, 503), str(reply))
            return reply.status == 403
        return ask
    through, seconds = tried([asker(*pair) for pair in zip(connections, requests)])
    switch(bypass_user_limit=False)
    within(f"a pace of {pace} a second", through, pace * (seconds + 0.1))


# ---- what operators change -----------------------------------------------------------------------------------------------


def seen_within(what, check):
    """Until all gateways show it: not longer than a second."""
    began = time.monotonic()
    for gateway in shop.gateways:
        eventually(lambda: check(gateway), f"{what} is not seen", every_s=0.005)
    took_ms = (time.monotonic() - began) * 1000
    print(f"      {what}: seen by all gateways after {took_ms:.0f} ms")
    true(took_ms < 1000, f"{what}: {took_ms:.0f} ms")


@rule
def a_ban_is_seen_by_all_within_a_second():
    buyer = Buyer(shop.gateways[0])
    shop.gateways[1].admin_ok("POST", "/bans", {"user_id": buyer.user, "minutes": 5, "reason": "test"})
    item = 1  # any: a user who is banned hears that first
    seen_within("a ban", lambda gateway: "banned" in str(
        gateway.request("POST", f"/v1/items/{item}/pass", session=buyer.session)))


@rule
def a_switch_is_seen_by_all_within_a_second_and_kept():
    item = offered()
    shop.gateways[3].admin_ok("PATCH", "/switches", {"pow_boost": 3, "sold_out_items": [item]})
    seen_within("a switch", lambda gateway: (lambda now: now["pow_boost"] == 3 and now["sold_out_items"] == [item])(
        gateway.admin("GET", "/switches").json()))
    problem(Buyer(shop.gateways[0]).buy(item), 409, "sold-out")
    shop.restart(shop.gateways[0])
    now = shop.gateways[0].admin("GET", "/switches").json()
    equal((now["pow_boost"], now["sold_out_items"]), (3, [item]), "after a restart")
    shop.gateways[0].admin_ok("PATCH", "/switches", {"pow_boost": 0, "sold_out_items": []})
    seen_within("a switch that is turned back", lambda gateway: gateway.admin("GET", "/switches").json()["sold_out_items"] == [])


@rule
def an_edit_is_seen_by_all_within_a_second():
    item = offered()
    sale = shop.worker.sale_of(item)
    shop.gateways[2].admin_ok("PATCH", f"/sales/{sale}", {"title": "Another title"})
    seen_within("an edit", lambda gateway: gateway.get(f"/v1/sales/{sale}").json()["title"] == "Another title")


@rule
def all_processes_stop_cleanly():
    shop.stop()


run(stop=False)
