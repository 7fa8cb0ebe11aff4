# SPDX-License-Identifier: Apache-2.0
"""Many people pay at once while the provider is slow: everybody gets an address, operators and callbacks get through.

PAYERS=600 over a relay that holds every call to the sandbox's bank back until it is told to go on, as a provider that stands still."""
import asyncio
import json
import os
import threading
import time

from kit.harness import Buyer, Server, equal, eventually, rule, run, spare_port, true
from kit.paying_signs import bank_secret, signed

PAYERS = int(os.environ.get("PAYERS", "600"))
CREATE_WAIT_S = 30  # so long a payer waits for an address
SOON_S = 15  # for operators and callbacks: before any payer gives up, so they did not wait for one
CALLBACK = "/v1/payments/sandbox/callback"


class SlowRelay:
    """Takes a connection for each call, waits while it is held, and passes it on to the server."""

    def __init__(self, port, target):
        self.port, self.target, self.held, self.waiting = port, target, False, 0
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        threading.Thread(target=self._run, args=(ready,), daemon=True).start()
        ready.wait()

    def _run(self, ready):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(asyncio.start_server(self._call, "127.0.0.1", self.port, backlog=1024))
        ready.set()
        self.loop.run_forever()

    async def _call(self, reader, writer):
        self.waiting += 1
        while self.held:
            await asyncio.sleep(0.05)
        self.waiting -= 1
        try:
            there_reader, there = await asyncio.open_connection("127.0.0.1", self.target)
            await asyncio.gather(self._pass_on(reader, there), self._pass_on(there_reader, writer))
        except OSError:
            writer.close()

    @staticmethod
    async def _pass_on(reader, writer):
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        writer.close()


relay_port = spare_port()
server = Server(settings={"payment.providers": "sandbox", "sandbox.base": f"http://127.0.0.1:{relay_port}",
                          "payment.query_ms": 600000, "payment.create_wait_ms": CREATE_WAIT_S * 1000, "orders.grace_ms": 0, "server.threads": 2})
server.settings["payment.public_url"] = f"http://127.0.0.1:{server.port}"
server.write_config()
server.start()
relay = SlowRelay(relay_port, server.port)


class Payer:
    """Has won; keeps one connection."""

    def __init__(self, item):
        self.buyer = Buyer(server)
        self.ticket = self.buyer.win(item)["ticket"]
        self.connection = server.connect(timeout_s=60)

    def order(self):
        self.order_id = self.buyer.order(self.ticket)["order"]
        return self.order_id

    def pay_send(self, connection=None):
        path = f"/v1/orders/{self.order_id}/pay"
        head = f"POST {path} HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer {self.buyer.session}\r\nContent-Length: 0\r\n\r\n"
        (connection or self.connection).send(head.encode())

    def callback(self):
        """The bytes and the headers of the callback that says: paid."""
        payment = server.admin_ok("GET", f"/orders/{self.order_id}/payments")["payments"][0]
        order = self.buyer.get(f"/v1/orders/{self.order_id}").json()
        body = json.dumps({"state": "captured", "id": payment["provider_id"], "reference": payment["reference"],
                           "currency": order["currency"], "amount": order["amount"]}).encode()
        return body, signed(bank_secret(server), "POST", CALLBACK, body)


def payers(item, count):
    made = [Payer(item) for _ in range(count)]
    for payer in made:
        payer.order()
    return made


def addresses(crowd):
    """Reads what each was told. Who heard 202 looks at the order until the address is there."""
    told = {}
    for payer in crowd:
        reply = payer.connection.read_reply()
        told[reply.status] = told.get(reply.status, 0) + 1
        if "url" not in reply.json().get("payment", {}):
            equal(reply.status, 202, str(reply))
            eventually(lambda payer=payer: "url" in payer.buyer.get(f"/v1/orders/{payer.order_id}").json().get("payment", {}))
    return told


def timed(act):
    start = time.monotonic()
    reply = act()
    return reply, time.monotonic() - start


@rule
def six_hundred_payers_get_an_address_while_operators_and_callbacks_get_through():
    item = server.open_item(total=PAYERS + 10)
    sale = server.sale_of(item)
    early = payers(item, 3)
    for payer in early:
        payer.pay_send()
        equal(payer.connection.read_reply().status, 200)
    callbacks = [payer.callback() for payer in early]
    crowd = payers(item, PAYERS)
    relay.held = True
    start = time.monotonic()
    for payer in crowd:
        payer.pay_send()
    eventually(lambda: relay.waiting >= min(PAYERS, 200), "not all places are taken")  # payment.calls_max
    for body, headers in callbacks:
        reply, took = timed(lambda body=body, headers=headers: server.request("POST", CALLBACK, body, headers))
        equal(reply.status, 204, str(reply))
        true(took < SOON_S, f"a callback took {took:.2f} s")
    for act in ("pause", "resume", "pause", "resume"):
        reply, took = timed(lambda act=act: server.admin("POST", f"/sales/{sale}/{act}", role="operator"))
        equal(reply.status, 200, str(reply))
        true(took < SOON_S, f"{act} took {took:.2f} s")
    reply, took = timed(lambda: early[0].buyer.get(f"/v1/orders/{early[0].order_id}"))
    equal(reply.status, 200, str(reply))
    equal(reply.json()["state"], "paid")
    relay.held = False
    told = addresses(crowd)
    print(f"  {PAYERS} addresses within {time.monotonic() - start:.1f} s; answers: {told}")


@rule
def one_user_with_many_connections_leaves_room_for_others():
    item = server.open_item(total=5)
    greedy, other = payers(item, 2)
    relay.held = True
    connections = [server.connect(timeout_s=60) for _ in range(1500)]
    for connection in connections:
        greedy.pay_send(connection)
    eventually(lambda: relay.waiting >= 1, "no call is made")
    other.pay_send()
    eventually(lambda: relay.waiting >= 2, "the other one's call is not made")
    reply, took = timed(lambda: server.admin("GET", f"/items/{item}/counts", role="viewer"))
    equal(reply.status, 200, str(reply))
    true(took < SOON_S, f"an operator's look took {took:.2f} s")
    relay.held = False
    addresses([other])
    answers = [connection.read_reply().status for connection in connections]
    true(200 in answers and not set(answers) - {200, 202, 429}, f"{sorted(set(answers))}")


@rule
def who_can_not_wait_longer_hears_where_to_look_and_finds_the_address_there():
    item = server.open_item(total=5)
    server.write_config(payment__create_wait_ms=300)
    server.restart()
    payer, = payers(item, 1)
    relay.held = True
    payer.pay_send()
    reply = payer.connection.read_reply()
    equal(reply.status, 202, str(reply))
    equal(reply.json()["payment"]["state"], "starting")
    relay.held = False
    eventually(lambda: "url" in payer.buyer.get(f"/v1/orders/{payer.order_id}").json().get("payment", {}))


run()
