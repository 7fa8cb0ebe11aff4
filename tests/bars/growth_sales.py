# SPDX-License-Identifier: Apache-2.0
"""What sales that are over cost a server that has nothing to do."""
import time

from growth_kit import database, idle_share, serving, told

SIZES = (100, 1000, 16000)


def sales_fill(server, count):
    """Sales that were over long ago, behind the one that is there."""
    end_ms = int(time.time() * 1000) - 10**9
    with database(server) as connection:
        connection.row_factory = None
        connection.execute("DELETE FROM sales WHERE id > 1")
        columns = [row[1] for row in connection.execute("PRAGMA table_info(sales)")]
        row = list(connection.execute("SELECT * FROM sales WHERE id = 1").fetchone())

        def past(number):
            values = dict(zip(columns, row))
            values.update(id=number, start_ms=end_ms - number - 1, end_ms=end_ms - number)
            return [values[name] for name in columns]
        marks = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO sales VALUES({marks})", (past(number) for number in range(2, count + 1)))


def idle_worker(sizes=SIZES):
    """For growth_kit.told."""
    costs = []
    with serving(data__sales_max=16384) as server:
        server.start()
        sale = server.sale(start_in_ms=3600000, waiting_room=True)
        server.item(sale)
        server.publish(sale)
        for size in sizes:
            server.stop()
            sales_fill(server, size)
            server.start()
            time.sleep(1)
            costs.append(idle_share(server, "worker") * 1000)
    return sizes, costs, "ms of the worker a second", "past sales, nothing to do"


def parts(bars):
    bars.part("4 past sales", "exponent ≤ 0.2 with 100 to 16,000 of them", lambda: told(*idle_worker()))
