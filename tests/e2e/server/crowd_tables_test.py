# SPDX-License-Identifier: Apache-2.0
"""The tables that a crowd meets have their memory before it comes, and only where something will be sold."""
import time

from kit.harness import Server, equal, eventually, rule, run, true

TABLES = 32 << 20    # bytes, at least: those of the limit by user alone
SOME_ROUNDS_S = 0.5  # of 100 ms
SETTINGS = {"limits.user_entries": TABLES // 64}
selling, idle = Server(SETTINGS).start(), Server(SETTINGS).start()


def own_memory(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))


fresh = {server: own_memory(server) for server in (selling, idle)}


def grown(server):
    return own_memory(server) - fresh[server]


def tables_are_there():
    eventually(lambda: selling.metrics()["stampede_tables_ready"] == 1, "the tables are not in memory")
    true(grown(selling) >= TABLES, f"{grown(selling)} bytes")


@rule
def a_sale_that_is_prepared_brings_the_tables_into_memory():
    selling.sale()
    time.sleep(SOME_ROUNDS_S)
    true(grown(selling) < TABLES / 2, f"{grown(selling)} bytes with a draft, which sells nothing")
    equal(selling.metrics()["stampede_tables_ready"], 0)
    selling.open_item(total=10)
    tables_are_there()


@rule
def after_a_restart_beside_a_sale_they_are_there_again():
    selling.restart(kill=True)
    tables_are_there()


@rule
def a_server_whose_sales_are_over_takes_none():
    sale = idle.sale(lasts_ms=3000)
    idle.item(sale)
    idle.publish(sale)
    over_ms = idle.now_ms() + 3000
    eventually(lambda: idle.now_ms() > over_ms, "the time stands still", every_s=0.1)
    idle.restart()
    time.sleep(SOME_ROUNDS_S)
    true(grown(idle) < TABLES / 2, f"{grown(idle)} bytes after the sale")
    equal(idle.metrics()["stampede_tables_ready"], 0)


run()
