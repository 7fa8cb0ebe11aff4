# SPDX-License-Identifier: Apache-2.0
"""Orders as a file for spreadsheets: the filters of the list, in pages, and no cell is a formula."""
import csv
import io
import os
import subprocess

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

server = Server().start()
COLUMNS = ("order,state,reason,item,quantity,unit_price,amount,currency,refunded,created,pay_by,user,customer,shipment,carrier,tracking,"
           "shipped,delivered,name,phone,email,address,note,limit").split(",")


def rows_of(reply):
    equal((reply.status, reply.headers["content-type"]), (200, "text/csv; charset=utf-8"))
    return list(csv.reader(io.StringIO(reply.body.decode(), newline="")))


def export(query=""):
    """All pages, as a client reads them."""
    reply = server.admin("GET", f"/orders/export?{query}", role="operator")
    rows = rows_of(reply)
    pages = 1
    while next_ := reply.headers.get("stampede-next"):
        reply = server.admin("GET", f"/orders/export?{query}&before={next_}", role="operator")
        rows += rows_of(reply)
        pages += 1
    return rows, pages


@rule
def every_order_is_there_once_with_what_a_warehouse_needs():
    item = server.open_item(total=230, flash_price=12345)
    orders = {Buyer(server).win(item)["order"] for _ in range(230)}
    eventually(lambda: len(export(f"item={item}")[0]) == 231, "not written")
    rows, pages = export(f"item={item}")
    equal(rows[0], COLUMNS)
    equal((len(rows) - 1, {row[0] for row in rows[1:]} == orders, pages), (230, True, 3))
    first = dict(zip(COLUMNS, rows[1]))
    equal((first["state"], first["unit_price"], first["amount"], first["currency"], first["shipment"]), ("pending", "123.45", "123.45", "CNY", "none"))
    equal(len(export(f"item={item}&state=paid")[0]), 1)


@rule
def no_cell_is_a_formula_and_quotes_and_line_ends_survive():
    item = server.open_item(total=1, sale_fields={"details_required": True})
    buyer = Buyer(server)
    order = buyer.win(item)["order"]
    eventually(lambda: server.admin("GET", f"/orders/{order}").status == 200, "no order")
    details = {"name": "=HYPERLINK(\"http://evil\")", "phone": "+49 30 1234", "address": "Street 1,\n\"Berlin\"", "note": "@SUM(1)", "email": "a@example.org"}
    equal(server.request("PUT", f"/v1/orders/{order}/details", details, session=buyer.session).status, 200)
    row = dict(zip(COLUMNS, export(f"item={item}")[0][1]))
    equal((row["name"], row["phone"], row["note"]), ("'" + details["name"], "'" + details["phone"], "'" + details["note"]))
    equal((row["address"], row["email"]), (details["address"], details["email"]))
    for cell in row.values():
        true(cell[:1] not in ("=", "+", "-", "@", "\t", "\r"), cell)


@rule
def who_may_not_see_addresses_gets_no_file():
    problem(server.admin("GET", "/orders/export", role="viewer"), 403, "admin-role")
    problem(server.admin("GET", "/orders/export?state=lost", role="operator"), 400, "bad-query")
    problem(server.admin("GET", "/orders/export?before=4611686018427387904", role="operator"), 400, "bad-query")


@rule
def the_command_line_writes_all_pages():
    done = subprocess.run([server.binary, "admin", "order", "export", "--state", "pending"], capture_output=True, timeout=60,
                          env={**os.environ, "STAMPEDE_URL": f"http://127.0.0.1:{server.port}", "STAMPEDE_ADMIN_KEY": server.keys["admin"]})
    equal((done.returncode, done.stderr), (0, b""))
    rows = list(csv.reader(io.StringIO(done.stdout.decode(), newline="")))
    equal((rows[0], len(rows)), (COLUMNS, 232))


run()
