# SPDX-License-Identifier: Apache-2.0
"""A shop with a long past: many published sales that are over, put into its database while it is stopped, since nobody
can make a sale that has ended. Run as a program it is the shop of tests/e2e/storefront/front.test.mjs: it prints what
that needs, one NAME=value a line, and serves until its standard input ends."""
import os
import sqlite3
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))  # run as a program too

from kit.harness import Server, temp_folder  # noqa: E402

DAY_MS = 24 * 3600 * 1000
DEFAULT_LIMITS = {"limits.address_per_s": 100, "limits.user_requests": 10, "limits.connections_per_address": 1000}
SECRET = b"the storefront tests' own secret"


def copy_row(database, table, row, **changes):
    names = [column[1] for column in database.execute(f"PRAGMA table_info({table})")]
    kept = [name for name in names if name not in changes]
    chosen = ", ".join([*changes, *kept])
    values = ", ".join(["?"] * len(changes) + kept)
    database.execute(f"INSERT INTO {table}({chosen}) SELECT {values} FROM {table} WHERE id = ?",
                     (*changes.values(), row))


def old_sales_add(server, count, items=2):
    """Numbers of `count` sales that ended on the days before, the last one yesterday. The server is stopped for it."""
    model = server.sale(start_in_ms=DAY_MS, title="Model")
    item = server.item(model, total=5)
    now = server.now_ms()
    server.stop()
    database = sqlite3.connect(os.path.join(server.data, "stampede.db"))
    numbers = []
    for age in range(count, 0, -1):
        sale = database.execute("SELECT max(id) + 1 FROM sales").fetchone()[0]
        copy_row(database, "sales", model, id=sale, title=f"Day {count - age + 1}", published=1,
                 start_ms=now - age * DAY_MS, end_ms=now - age * DAY_MS + 3600 * 1000)
        for _ in range(items):
            number = database.execute("SELECT max(id) + 1 FROM items").fetchone()[0]
            copy_row(database, "items", item, id=number, sale=sale)
        numbers.append(sale)
    database.commit()
    database.close()
    server.start()
    return numbers


def main():
    keys = temp_folder()
    with open(os.path.join(keys, "shop.secret"), "wb") as file:
        file.write(SECRET)
    server = Server(settings={**DEFAULT_LIMITS, "session.jwt_keys": keys, "session.guests": "no",
                              "page.login_url": "https://shop.example/login", "page.image_origins": "https://img.example"}).start()
    old_sales_add(server, 600)
    item = server.open_item(total=10, sale_fields={"title": "Today"})
    print(f"FRONT_URL=http://127.0.0.1:{server.port}\nFRONT_KEY={server.keys['admin']}\nFRONT_ITEM={item}\n"
          f"FRONT_SECRET={SECRET.hex()}\nREADY=1", flush=True)
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    main()
