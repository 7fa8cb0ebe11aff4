# SPDX-License-Identifier: Apache-2.0
"""How many payments, cancels, refunds and joins of the waitlist a second the server takes, one kind after the other."""
import os
import time

from bars import Ended
from stampede import ADMIN_KEY

ORDERS = 60000
IN_FLIGHT = 240  # below the places that one edge has at the worker for each kind (gateway/job_shares.h)
SECONDS = 6
CORES = "0-1"    # the server's: its threads and the client share the machine
PRICE = 99900


def request(method, path, headers, body=""):
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {value}" for name, value in headers.items())]
    if body:
        lines.append("Content-Type: application/json")
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", body])


class Moves:
    """A shop with ORDERS orders of users 0 …, and what is asked about them."""

    def __init__(self, lab, server):
        self.lab, self.server = lab, server
        item = server.open_item(ORDERS)
        outcomes = lab.path("outcomes")
        result = lab.load.run(server.port, [*server.requests_of(item, 0, ORDERS), "--once"], 64, 8, 60, 0,
                              ["--count", str(ORDERS), "--outcomes", outcomes])
        if result["status"] != {"202": ORDERS}:
            raise Ended(f"{ORDERS} wins asked: {result['status']}")
        server.orders_drain(ORDERS)
        self.orders = [""] * ORDERS  # by user
        with open(outcomes, encoding="ascii") as lines:
            for line in lines:
                index, _, _, order = line.split()
                self.orders[int(index)] = order
        self.sessions = server.sessions(0, ORDERS)
        self.used = 0

    def orders_take(self, count):
        """Users whose orders nobody has touched yet."""
        self.used += count
        if self.used > ORDERS:
            raise Ended("more orders asked for than there are")
        return range(self.used - count, self.used)

    def run(self, requests, status):
        """(requests/s, how many were done)"""
        path = self.lab.path("requests")
        with open(path, "w", encoding="ascii", newline="") as file:
            file.writelines(f"{len(text)}\n{text}" for text in requests)
        result = self.lab.load.run(self.server.port, ["--requests", path, "--once"], IN_FLIGHT, 1, SECONDS, 0)
        os.unlink(path)
        done = result["status"].get(str(status), 0)
        if result["status"] != {str(status): done} or result["errors"]:
            raise Ended(f"expected only {status}: {result['status']}, {result['errors']} errors")
        return result["rate"], done

    def as_shop(self, users, verb, body):
        headers = {"Authorization": f"Bearer {ADMIN_KEY}"}
        return (request("POST", f"/admin/v1/orders/{self.orders[user]}/{verb}", headers, body(user)) for user in users)

    def pay(self):
        users = self.orders_take(ORDERS // 2)
        body = f'{{"amount":{PRICE},"currency":"CNY","reference":"bench-%d"}}'
        rate, done = self.run(self.as_shop(users, "paid", lambda user: body % user), 200)
        return rate, users[:done // 2]  # in flight they may overtake each other: the first half is surely paid

    def refund(self, paid):
        return self.run(self.as_shop(paid, "refund", lambda user: '{"to":"stock"}'), 200)[0]

    def cancel(self):
        users = self.orders_take(ORDERS // 2)
        return self.run((request("POST", f"/v1/orders/{self.orders[user]}/cancel",
                                 {"Authorization": f"Bearer {self.sessions[user]}"}) for user in users), 200)[0]

    def join(self):
        item = self.server.open_item(1)
        self.server.must_win(item, [ORDERS])
        passes = self.server.mint(item, 0, ORDERS)
        return self.run((request("POST", f"/v1/items/{item}/waitlist",
                                 {"Authorization": f"Bearer {self.sessions[user]}", "Stampede-Pass": passes[user]})
                         for user in range(ORDERS)), 201)[0]


def measure(lab, server):
    """{kind: a second}"""
    moves = Moves(lab, server)
    rates = {}
    rates["payments"], paid = moves.pay()
    rates["refunds"] = moves.refund(paid)
    rates["cancels"] = moves.cancel()
    rates["joins"] = moves.join()
    return rates
