# SPDX-License-Identifier: Apache-2.0
"""The visitors of `make demo`: shoppers who buy, pay, cancel or leave, people in a waiting room, and bots that are refused.

Each shopper has a loopback address of their own (127.1.x.y), as visitors of a shop have. Everything is bounded: how many come,
how often they ask, and for how long. Connects to 127.0.0.1 only.
"""
import asyncio
import collections
import json
import random
import secrets
import time

SHOPPERS_PER_S = 2  # who want something of the sale that is open
SHOPPERS_MAX = 3000
LINE_PER_S = 6  # who enter the waiting room
LINE_MAX = 400
LINE_STARTS_IN_S = 60
LINE_UNITS = 150
PHONES, HEADPHONES = 1, 2  # items of the demo; the one watch is left to the newcomer
RESTOCK_BELOW, RESTOCK_UNITS, RESTOCKS_MAX = 5, 40, 40
BOT_ROUND_S, BOT_REQUESTS = 0.5, 75  # of one address: more than limits.address_per_s allows
ASK_S = 40
REPORT_S = 15
LOOK_S = 1

PAYS, CANCELS = 0.75, 0.10  # the rest leaves the order unpaid
PAY_LOOKS = 20  # seconds until the payment can be paid


class Away(Exception):
    """No answer, or one that ends the visit."""


class Shop:
    def __init__(self, port, key):
        self.port, self.key = port, key
        self.seen = collections.Counter()

    async def ask(self, method, path, body=None, headers=None, source=None):
        """(status, document). One request on a connection of its own."""
        try:
            return await asyncio.wait_for(self._ask(method, path, body, headers or {}, source), ASK_S)
        except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError, ValueError) as why:
            raise Away(str(why)) from None

    async def _ask(self, method, path, body, headers, source):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, local_addr=source and (source, 0))
        try:
            writer.write(request_bytes(method, path, body, {**headers, "Connection": "close"}))
            return await reply_read(reader)
        finally:
            writer.close()

    async def admin(self, method, path, body=None):
        status, document = await self.ask(method, "/admin/v1" + path, body, {"Authorization": f"Bearer {self.key}"})
        if status >= 300:
            raise Away(f"{method} {path}: {status} {document}")
        return document


def request_bytes(method, path, body, headers):
    content = b"" if body is None else json.dumps(body).encode()
    fields = {"Host": "127.0.0.1", **headers}
    if body is not None:
        fields["Content-Type"] = "application/json"
    if method != "GET":
        fields["Content-Length"] = str(len(content))
    head = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + content


async def reply_read(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    status = int(head.split(" ")[1])
    size = next((int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length:")), 0)
    return status, json.loads(await reader.readexactly(size) or b"null")


class Shopper:
    def __init__(self, shop, number):
        self.shop = shop
        self.source = f"127.1.{number // 250 % 250}.{number % 250 + 1}"
        self.session = None

    async def ask(self, method, path, body=None, **headers):
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.session:
            fields["Authorization"] = f"Bearer {self.session}"
        return await self.shop.ask(method, path, body, fields, self.source)

    async def need(self, wanted, method, path, body=None, **headers):
        status, document = await self.ask(method, path, body, **headers)
        if status not in wanted:
            raise Away(f"{path}: {status}")
        return document

    async def sign_in(self):
        self.session = (await self.need((201,), "POST", "/v1/session"))["session"]

    async def buy(self, item):
        """The order, or None: sold out, or too many wanted it."""
        given = await self.need((201,), "POST", f"/v1/items/{item}/pass")
        status, answer = await self.ask("POST", f"/v1/items/{item}/buy", {"quantity": 1, "channel": "web"},
                                        Stampede_Pass=given["pass"], Idempotency_Key=secrets.token_hex(8))
        if status != 202:
            self.shop.seen["lost"] += 1
            if random.random() < 0.2:
                await self.ask("POST", f"/v1/items/{item}/waitlist", {"quantity": 1}, Stampede_Pass=given["pass"])
            return None
        self.shop.seen["won"] += 1
        return await self.need((200,), "GET", f"/v1/tickets/{answer['ticket']}?wait=20")

    async def settle(self, order):
        await asyncio.sleep(random.uniform(2, 12))  # looks for the purse
        mood, path = random.random(), f"/v1/orders/{order['order']}"
        if mood < PAYS:
            paying = await self.need((200, 202), "POST", path + "/pay", {"provider": "sandbox"})
            for _ in range(PAY_LOOKS):  # 202: the bank has not answered yet
                if "url" in paying["payment"]:
                    break
                await asyncio.sleep(1)
                paying = await self.need((200,), "GET", path)
            bank = "/sandbox/v1/pay/" + paying["payment"]["url"].split("id=")[1]
            await self.need((200,), "POST", bank, {"how": "pay"})
            self.shop.seen["paid"] += 1
        elif mood < PAYS + CANCELS:
            await self.need((200,), "POST", path + "/cancel")
            self.shop.seen["cancelled"] += 1

    async def wait_for_turn(self, sale):
        standing = await self.need((202,), "POST", f"/v1/sales/{sale}/room")
        self.shop.seen["in line"] += 1
        try:
            while standing["state"] == "waiting":
                await asyncio.sleep(min(max(standing.get("poll_after_ms", 0), 1500), 15000) / 1000)
                standing = await self.need((200,), "GET", f"/v1/sales/{sale}/room")
        finally:
            self.shop.seen["in line"] -= 1
        if standing["state"] != "admitted":
            raise Away(standing["state"])


async def visit_once(what):
    """A visitor who meets a refusal goes home."""
    try:
        await what
    except (Away, KeyError, TypeError):
        pass


async def shop_and_pay(shopper, item):
    await shopper.sign_in()
    order = await shopper.buy(item)
    if order is not None:
        await shopper.settle(order)


async def line_and_pay(shopper, sale, item):
    await shopper.sign_in()
    await shopper.wait_for_turn(sale)
    await asyncio.sleep(random.uniform(0.5, 6))
    if random.random() < 0.85:  # others change their mind
        order = await shopper.buy(item)
        if order is not None:
            await shopper.settle(order)


async def arrive(per_s, most, visitor, until):
    """Lets visitors come at random, `per_s` of them on average; waits for those who are there."""
    there = set()
    try:
        for number in range(most):
            if time.monotonic() > until:
                break
            task = asyncio.create_task(visit_once(visitor(number)))
            there.add(task)
            task.add_done_callback(there.discard)
            await asyncio.sleep(random.expovariate(per_s))
        await asyncio.gather(*there)
    finally:
        for task in there:
            task.cancel()


async def sale_open(shop, sale, until):
    while time.monotonic() < until:
        status, document = await shop.ask("GET", f"/v1/sales/{sale}")
        if status == 200 and document["state"] == "open":
            return
        await asyncio.sleep(LOOK_S)


async def shoppers(shop, until):
    await sale_open(shop, 1, until)

    def visitor(number):
        item = PHONES if random.random() < 0.85 else HEADPHONES
        return shop_and_pay(Shopper(shop, number), item)
    await arrive(SHOPPERS_PER_S, SHOPPERS_MAX, visitor, until)


async def line(shop, until):
    """A second sale, with a waiting room that fills before it starts."""
    now = (await shop.ask("GET", "/v1/time"))[1]["now_ms"]
    start = now + LINE_STARTS_IN_S * 1000
    sale = (await shop.admin("POST", "/sales", {
        "title": "排队专场", "texts": {"en": {"title": "With a waiting room"}}, "start_ms": start, "end_ms": start + 3600000, "waiting_room": True}))["id"]
    item = (await shop.admin("POST", "/items", {
        "sale": sale, "product": 2, "flash_price": 14900, "limit_per_user": 1, "total": LINE_UNITS}))["id"]
    await shop.admin("POST", f"/sales/{sale}/publish")
    await asyncio.sleep(LOOK_S)
    await arrive(LINE_PER_S, LINE_MAX, lambda number: line_and_pay(Shopper(shop, 10000 + number), sale, item), until)


async def merchant(shop, until):
    """Puts more phones on sale when few are left, so that a newcomer can still buy."""
    restocks = 0
    while restocks < RESTOCKS_MAX and time.monotonic() < until:
        await asyncio.sleep(10)
        status, item = await shop.ask("GET", f"/v1/items/{PHONES}")
        if status == 200 and item["counts"]["free"] < RESTOCK_BELOW:
            await shop.admin("POST", f"/items/{PHONES}/adjust", {"delta": RESTOCK_UNITS, "channel": "web"})
            restocks += 1


async def bot(shop, number, until):
    """Sends purchases without a pass, or with an invented one, faster than anybody may."""
    source = f"127.66.6.{number + 1}"
    forged = {"Stampede-Pass": secrets.token_urlsafe(32)} if number % 2 else {}
    wish = request_bytes("POST", f"/v1/items/{PHONES}/buy", {"quantity": 1, "channel": "web"}, forged)
    while time.monotonic() < until:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", shop.port, local_addr=(source, 0))
            try:
                writer.write(wish * BOT_REQUESTS)
                for _ in range(BOT_REQUESTS):
                    status, _ = await asyncio.wait_for(reply_read(reader), ASK_S)
                    shop.seen["bots won" if status == 202 else "bots refused"] += 1
            finally:
                writer.close()
        except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError, ValueError):
            shop.seen["bots refused"] += 1  # closed
        await asyncio.sleep(BOT_ROUND_S)


async def report(shop):
    names = ("won", "paid", "cancelled", "lost", "in line", "bots refused", "bots won")
    while True:
        await asyncio.sleep(REPORT_S)
        print("  visitors:", ", ".join(f"{shop.seen[name]} {name}" for name in names), flush=True)


async def visit(port, key, seconds):
    """All of them, for so many seconds."""
    shop, until = Shop(port, key), time.monotonic() + seconds
    print("  Simulated visitors come: shoppers, a line for the second sale, bots. Buy between them.\n", flush=True)
    reporter = asyncio.create_task(report(shop))
    groups = [asyncio.create_task(group) for group in (
        shoppers(shop, until), line(shop, until), merchant(shop, until), bot(shop, 0, until), bot(shop, 1, until))]
    try:
        for done in await asyncio.gather(*groups, return_exceptions=True):
            if isinstance(done, Exception):
                print(f"  visitors: some stayed away: {done}", flush=True)
        print("  The simulated visitors went home. The shop stays open; Ctrl-C ends it.", flush=True)
    finally:
        for task in (reporter, *groups):
            task.cancel()
