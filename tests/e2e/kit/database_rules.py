# SPDX-License-Identifier: Apache-2.0
"""What must hold for the server on any database server; the test files name the kind."""
import os
import signal
import time

from kit import databases
from kit.harness import Buyer, Server, equal, eventually, halt, rule, run, true

VIEWS_S = 10  # for a hundred of them, on a busy machine
PAYMENTS = 20


def run_on(kind):
    databases.beside(kind)
    settings, name = databases.fresh(kind)
    server = Server(settings={**settings, "payment.providers": "sandbox", "orders.grace_ms": 0})

    def number(sql):
        return int(databases.ask(kind, name, sql))

    def pay(order):
        return server.admin("POST", f"/orders/{order['order']}/paid", {
            "reference": f"outside-{order['order']}", "amount": order["amount"], "currency": order["currency"]})

    @rule
    def without_tables_the_server_does_not_start_and_names_the_command():
        code, text = server.start_refused()
        true(code != 0 and "stampede store migrate" in text, text)

    @rule
    def the_command_makes_the_tables_once():
        first, second = databases.migrate(server), databases.migrate(server)
        equal((first.returncode, second.returncode), (0, 0))
        true("its tables are new" in first.stdout, first.stdout)
        true("already" in second.stdout, second.stdout)

    @rule
    def a_win_becomes_an_order_that_is_paid():
        server.start()
        item = server.open_item(total=5)
        buyer = Buyer(server)
        ticket = buyer.win(item)["ticket"]
        eventually(lambda: buyer.order(ticket)["state"] == "pending", "no order")
        order = server.admin_ok("GET", f"/orders?item={item}")["orders"][0]["view"]
        equal(pay(order).status, 200)
        equal(buyer.order(ticket)["state"], "paid")
        equal(number("SELECT count(*) FROM orders WHERE state = 2"), 1)
        equal(number("SELECT sold FROM items"), 1)

    @rule
    def while_somebody_holds_the_row_of_an_item_orders_are_shown():
        item = server.open_item(total=5)
        buyer = Buyer(server)
        ticket = buyer.win(item)["ticket"]
        eventually(lambda: buyer.order(ticket)["state"] == "pending", "no order")
        with databases.holding(kind, name, f"SELECT id FROM items WHERE id = {item} FOR UPDATE"):
            late = Buyer(server)
            late.win(item)  # its order can't be written now
            began = time.monotonic()
            for _ in range(50):
                equal(buyer.get(f"/v1/tickets/{ticket}").status, 200)
                equal(len(buyer.get("/v1/orders").json()["orders"]), 1)
            true(time.monotonic() - began < VIEWS_S, "views waited for the row")
        eventually(lambda: len(late.get("/v1/orders").json()["orders"]) == 1, "no order after the row was free")

    @rule
    def while_somebody_holds_the_row_of_an_item_orders_of_others_are_paid():
        held, other = server.open_item(total=5), server.open_item(total=PAYMENTS)
        buyers = [Buyer(server) for _ in range(PAYMENTS)]
        tickets = [buyer.win(other)["ticket"] for buyer in buyers]
        for buyer, ticket in zip(buyers, tickets):
            eventually(lambda: buyer.order(ticket)["state"] == "pending", "no order")
        orders = [buyer.order(ticket) for buyer, ticket in zip(buyers, tickets)]
        with databases.holding(kind, name, f"SELECT id FROM items WHERE id = {held} FOR UPDATE"):
            late = Buyer(server)
            ticket = late.win(held)["ticket"]
            time.sleep(0.5)  # the order writer waits for the row
            began = time.monotonic()
            for order in orders:
                equal(pay(order).status, 200)
            true(time.monotonic() - began < VIEWS_S, "payments waited for a row that they do not need")
            equal(late.get(f"/v1/tickets/{ticket}").json()["state"], "creating")
        eventually(lambda: late.order(ticket)["state"] == "pending", "no order after the row was free", patience_s=60)

    def a_database_that_says_nothing_makes_views_wait_for_seconds_only():
        item = server.open_item(total=5)
        buyer, late = Buyer(server), Buyer(server)
        ticket = buyer.win(item)["ticket"]
        eventually(lambda: buyer.order(ticket)["state"] == "pending", "no order")
        sessions = databases.ask(kind, name, "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
                                             " AND pid <> pg_backend_pid() AND backend_type = 'client backend'").split()
        for session in sessions:
            halt(int(session))
        try:
            began = time.monotonic()
            equal(buyer.get(f"/v1/tickets/{ticket}").status, 503)
            true(time.monotonic() - began < VIEWS_S, "a view waited for the database")
            equal(late.win(item)["outcome"], "won")  # its order can't be written
            eventually(lambda: server.get("/readyz").status == 503, "ready though the database says nothing")
            equal(server.get("/metrics").status, 200)
        finally:
            for session in sessions:
                os.kill(int(session), signal.SIGCONT)
        eventually(lambda: buyer.get(f"/v1/tickets/{ticket}").status == 200, "views do not come back")
        eventually(lambda: server.get("/readyz").status == 200, "it does not come back", patience_s=60)

    if kind == "postgres":  # MariaDB's sessions are threads of one process
        rule(a_database_that_says_nothing_makes_views_wait_for_seconds_only)

    @rule
    def after_a_kill_everything_that_was_told_is_there():
        item = server.open_item(total=40)
        buyers = [Buyer(server) for _ in range(20)]
        tickets = [buyer.win(item)["ticket"] for buyer in buyers]
        server.restart(kill=True)
        for buyer, ticket in zip(buyers, tickets):
            eventually(lambda: buyer.order(ticket)["state"] == "pending", f"order {ticket} is lost")
        equal(server.counts(item)["held"], 20)

    @rule
    def reconciliation_finds_nothing():
        equal(server.admin("POST", "/reconcile", {}).status, 202)
        eventually(lambda: server.admin_ok("GET", "/reconcile")["state"] != "running", "reconciliation does not end",
                   patience_s=60)
        report = server.admin_ok("GET", "/reconcile")
        equal((report["state"], report["found"], report["trouble"]), ("done", 0, ""))

    @rule
    def a_missing_password_file_is_refused_by_name():
        other = Server(settings={**settings, "store.password_file": os.path.join(server.folder, "nothing")})
        code, text = other.start_refused()
        true(code != 0 and "store.password_file" in text, text)

    @rule
    def a_password_in_the_address_is_refused_and_not_repeated():
        head, _, tail = settings["store.url"].partition("@")
        other = Server(settings={**settings, "store.url": head + ":sesame@" + tail})
        code, text = other.start_refused()
        true(code != 0 and "store.password_file" in text and "sesame" not in text, text)

    run()
