# SPDX-License-Identifier: Apache-2.0
"""What a change or a look costs the database thread in a data folder that a shop has used for years. The folder is made
by copying rows of a sale in the database, so that a hundred thousand items take seconds."""
import http.client
import json
import sqlite3
import time

from growth_kit import thread_seconds

from stampede import ADMIN_KEY

SALES_MAX = 16000
EDITS = 40
IDLE_SECONDS = 3


def rows_copy(database, table, model, rows):
    """Inserts the row with id `model` once for each of `rows`, which say what differs."""
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    [values] = database.execute(f"SELECT {', '.join(columns)} FROM {table} WHERE id = ?", (model,))
    model_row = dict(zip(columns, values))
    database.executemany(f"INSERT INTO {table}({', '.join(columns)}) VALUES({', '.join('?' * len(columns))})",
                         (tuple({**model_row, **row}.values()) for row in rows))


def folder_fill(server, items):
    """Stops the server and starts it again with that many items, each with a product of its own. All sales
    but the first are over. The id of the first, and of an item of it."""
    model = server.open_item(1)
    server.stop()
    database = sqlite3.connect(server.database())
    with database:
        [(sale, product)] = database.execute("SELECT sale, product FROM items WHERE id = ?", (model,))
        sales = min(SALES_MAX, max(1, items // 10))
        rows_copy(database, "sales", sale, ({"id": sale + number, "start_ms": 1000 * number, "end_ms": 1000 * number + 500}
                                            for number in range(1, sales)))
        rows_copy(database, "products", product, ({"id": product + number} for number in range(1, items)))
        rows_copy(database, "items", model, ({"id": model + number, "sale": sale + number % sales, "product": product + number,
                                              "preheated": 0} for number in range(1, items)))
    database.close()
    server.start()
    return sale, model


class Admin:
    """One connection to the admin API."""
    def __init__(self, server):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)

    def patch(self, path, body):
        self.connection.request("PATCH", f"/admin/v1{path}", json.dumps(body),
                                {"Authorization": f"Bearer {ADMIN_KEY}", "Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise ValueError(f"PATCH {path}: {answer.status} {text[:200]}")


def edit_ms(server, sale):
    """What an edit adds to what the thread does anyway."""
    admin = Admin(server)
    began, began_cpu_s = time.monotonic(), thread_seconds(server, "worker")
    for number in range(EDITS):
        admin.patch(f"/sales/{sale}", {"title": f"Edited {number}"})
    ended, ended_cpu_s = time.monotonic(), thread_seconds(server, "worker")
    time.sleep(IDLE_SECONDS)
    idle_share = (thread_seconds(server, "worker") - ended_cpu_s) / (time.monotonic() - ended)
    return (ended_cpu_s - began_cpu_s - idle_share * (ended - began)) * 1000 / EDITS


def edits(shop, sizes=(1000, 10000, 100000)):
    """An edit of a title, with that many items in the catalog: for growth_kit.told."""
    costs = []
    for items in sizes:
        with shop(10000, ["data.items_max=262144", "data.sales_max=16384"]) as (_, server):
            sale, _ = folder_fill(server, items)
            costs.append(edit_ms(server, sale))
    return sizes, costs, "ms of the worker", "an edit with so many items"
