# SPDX-License-Identifier: Apache-2.0
"""Callbacks: what is forged, stale, foreign or wrong changes nothing. Over real HTTP and real signatures."""
import json
import os
import selectors
import socket
import threading
import time

from kit.databases import orders_locked
from kit.harness import equal, eventually, request_bytes, rule, run, true
from kit.paying import becomes, bought, order_do, payment_id, server, signed, view


@rule
def forged_stale_foreign_and_wrong_callbacks_change_nothing():
    secret = open(os.path.join(server.data, "sandbox.secret"), "rb").read().strip()
    path = "/v1/payments/sandbox/callback"
    item = server.open_item(total=2)
    buyer, order = bought(item)
    reply = order_do(buyer, order, "pay")
    equal(reply.status, 200)
    reference = server.admin("GET", f"/orders/{order['order']}/payments").json()["payments"][0]["reference"]
    message = {"state": "captured", "id": payment_id(reply), "reference": reference,
               "currency": order["currency"], "amount": order["amount"]}

    def post(change, headers=None, at=None):
        body = json.dumps({**message, **change}).encode()
        return server.request("POST", path, body, headers or signed(secret, "POST", path, body, at)).status

    now = int(time.time())
    equal(post({}, at=now - 301), 400, "stale")
    equal(post({}, at=now + 301), 400, "from the future")
    equal(post({"amount": order["amount"] - 1}), 400, "too little")
    equal(post({"amount": order["amount"] + 1}), 400, "too much")
    equal(post({"currency": "USD"}), 400, "another currency")
    equal(post({"reference": "0123456789abcdef-1"}), 400, "an order of nobody")
    equal(post({}, headers=signed(b"another secret of the same length", "POST", path, b"{}")), 400, "forged")
    good = json.dumps(message).encode()
    headers = signed(secret, "POST", path, good)
    for at in range(0, len(good), 3):
        bent = bytearray(good)
        bent[at] ^= 1
        equal(server.request("POST", path, bytes(bent), headers).status, 400, f"bit of byte {at}")
    for at in range(len(headers["Sandbox-Signature"])):
        bent = bytearray(headers["Sandbox-Signature"].encode())
        bent[at] ^= 1
        status = server.request("POST", path, good, {**headers, "Sandbox-Signature": bent.decode("latin-1")}).status
        equal(status, 400, f"signature byte {at}")
    equal(view(buyer, order)["state"], "pending")
    equal(server.request("POST", "/v1/payments/nobody/callback", good, headers).status, 404)
    equal(server.request("POST", path, good, headers).status, 204)
    equal(server.request("POST", path, good, headers).status, 204, "the same again")
    becomes(buyer, order, "paid")


@rule
def a_callback_is_acknowledged_only_when_it_is_stored():
    secret = open(os.path.join(server.data, "sandbox.secret"), "rb").read().strip()
    path = "/v1/payments/sandbox/callback"
    buyer, order = bought(server.open_item(total=1))
    reply = order_do(buyer, order, "pay")
    reference = server.admin("GET", f"/orders/{order['order']}/payments").json()["payments"][0]["reference"]
    body = json.dumps({"state": "captured", "id": payment_id(reply), "reference": reference,
                       "currency": order["currency"], "amount": order["amount"]}).encode()
    with orders_locked(server):
        away = server.request("POST", path, body, signed(secret, "POST", path, body))
    equal(away.status, 503, "the provider would not send it again")
    true(away.headers.get("retry-after"), away.headers)
    equal(view(buyer, order)["state"], "pending")
    equal(server.request("POST", path, body, signed(secret, "POST", path, body)).status, 204)
    becomes(buyer, order, "paid")


def flood(stop, answers):
    """Many connections that send callbacks as fast as they are answered; nothing holds them back."""
    data = request_bytes("POST", "/v1/payments/sandbox/callback", b"x" * 20000)
    with selectors.DefaultSelector() as waiting:
        for _ in range(300):
            client = socket.create_connection(("127.0.0.1", server.port))
            client.sendall(data)
            waiting.register(client, selectors.EVENT_READ)
        while not stop.is_set():
            for ready, _ in waiting.select(0.1):
                answers.append(ready.fileobj.recv(65536)[9:12])
                ready.fileobj.sendall(data)
        for key in list(waiting.get_map().values()):
            key.fileobj.close()


@rule
def a_flood_of_callbacks_leaves_places_for_buyers():
    buyer, order = bought(server.open_item())
    stop, answers = threading.Event(), []
    flooding = threading.Thread(target=flood, args=(stop, answers))
    flooding.start()
    try:
        eventually(lambda: b"503" in answers, "the flood is no flood")
        for _ in range(200):
            equal(buyer.get("/v1/orders").status, 200)
            equal(buyer.get(f"/v1/orders/{order['order']}").status, 200)
    finally:
        stop.set()
        flooding.join()


run()
