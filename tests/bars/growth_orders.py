# SPDX-License-Identifier: Apache-2.0
"""What it costs to find the orders of one user: in a folder with the items of many past sales, and of an item with many orders."""
import contextlib
import json
import os
import subprocess
import tempfile
import time

from bars import BUILD_ROOT, several
from growth_kit import database, idle_share, serving, spent, told
from kit.harness import Buyer
from kit.push_client import Push

SIZES = (100, 1000, 10000, 100000)
ORDERS = (10000, 100000, 1000000, 4000000)
VIEWS = "views"  # the thread that reads for buyers
SALES = 10       # items of each past sale: as many, divided
STRANGERS = 2    # orders of others of each past item
OWN = 3          # past orders of the user
LISTS = 400
CONNECTS = 200
LIST_SECONDS_MAX = 600


def copies(connection, table, key, rows):
    """Inserts the first row of a table again, once for each of `rows`, which say what differs."""
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    model = dict(zip(columns, connection.execute(f"SELECT * FROM {table} ORDER BY {key} LIMIT 1").fetchone()))
    connection.executemany(f"INSERT INTO {table} VALUES({', '.join('?' * len(columns))})",
                           (tuple({**model, **row}.values()) for row in rows))


def past_fill(server, count):
    """Items of sales that were over long ago, with their orders."""
    end_ms = int(time.time() * 1000) - 10**9
    with database(server) as connection:
        sales = count // SALES
        copies(connection, "sales", "id", ({"id": 1 + number, "start_ms": end_ms - 1, "end_ms": end_ms}
                                           for number in range(1, sales + 1)))
        copies(connection, "items", "id", ({"id": 1 + number, "sale": 2 + (number - 1) // SALES, "sold": 0, "preheated": 0}
                                           for number in range(1, count)))
        items = range(2, count + 1)
        copies(connection, "orders", "ticket", ({"ticket": STRANGERS * item + number, "item": item, "user_id": item * 7919 + number}
                                                for item in items for number in range(STRANGERS)))
        copies(connection, "orders", "ticket", ({"ticket": STRANGERS * (count + 2) + number, "item": count - number * (count // 4)}
                                                for number in range(OWN)))


def lists_wait(server):
    """Until the server has nothing left to list."""
    deadline = time.monotonic() + LIST_SECONDS_MAX
    while True:
        with database(server) as connection:
            [(left,)] = connection.execute("SELECT count(*) FROM items JOIN sales ON sales.id = items.sale"
                                           " WHERE buyers_listed = 0 AND items.sale > 1")
        if left == 0:
            return
        if time.monotonic() > deadline:
            raise ValueError(f"{left} items are not listed")
        time.sleep(0.5)


def lists(server, buyer):
    with server.connect() as connection:
        for _ in range(LISTS):
            reply = connection.request("GET", "/v1/orders", headers={"Authorization": f"Bearer {buyer.session}"})
            if reply.status != 200 or len(reply.json()["orders"]) != 1 + OWN:
                raise ValueError(f"{reply.status}: {reply.body[:200]!r}")


def connects(server, buyer):
    for _ in range(CONNECTS):
        with Push(server, buyer.session) as push:
            if len(push.message()["orders"]) != 1 + OWN:
                raise ValueError("other orders than expected")


def cost_us(server, work, times):
    """Of the thread that reads for buyers, for each, without what it does anyway."""
    began = time.monotonic()
    used = spent(server, VIEWS, work)
    seconds = time.monotonic() - began
    return (used - idle_share(server, VIEWS) * seconds) / times * 1e6


@contextlib.contextmanager
def used_for_years(size, **settings):
    """(server, a buyer with OWN past orders and one of today) in a folder with so many past items."""
    with serving(data__items_max=262144, data__sales_max=16384, **settings) as server:
        server.start()
        buyer = Buyer(server)
        buyer.order(buyer.win(server.open_item())["ticket"])
        server.stop()
        past_fill(server, size)
        server.start()
        lists_wait(server)
        yield server, buyer


def own_orders_costs(sizes=SIZES):
    """Two for growth_kit.told: they ask the same question."""
    listing, connecting = [], []
    for size in sizes:
        with used_for_years(size) as (server, buyer):
            listing.append(cost_us(server, lambda: lists(server, buyer), LISTS))
            connecting.append(cost_us(server, lambda: connects(server, buyer), CONNECTS))
    return ((sizes, listing, "µs of the reader", "own orders with so many past items"),
            (sizes, connecting, "µs of the reader", "push connect with so many past items"))


def one_item_cost(sizes=ORDERS):
    """For growth_kit.told: the store alone."""
    costs = []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="growth-") as folder:
            command = [os.path.join(BUILD_ROOT, "release", "bench", "order_growth"), "--to", os.path.join(folder, "stampede.db"),
                       "--orders", str(size), "--step", str(size)]
            costs.append(json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["own_us"])
    return sizes, costs, "µs of the reader", "own orders in an item with so many orders"


def own_orders():
    return several([told(*costs) for costs in (*own_orders_costs(), one_item_cost())])


def parts(bars):
    bars.part("4 own orders", "exponents ≤ 0.2 with 100 to 100,000 past items, and with 10,000 to 4,000,000 orders of an item", own_orders)
