# SPDX-License-Identifier: Apache-2.0
"""A backup of the database beside the present journal: docs/operations.md, "Restore", word for word, after a sale with money,
waiters, a waiting room and late changes. Then our books, the bank's, reconciliation and verify agree."""
import os
import re
import shlex
import sqlite3
import subprocess

from kit.harness import REPOSITORY, Buyer, equal, eventually, problem, rule, run, temp_folder, true
from kit.paying import at_bank, at_rest, becomes, bought, money, order_do, payment_id, server, view

HOUR_MS = 3600000


def blocks_of(heading):
    """The commands of a section of operations.md, a list for each block."""
    with open(os.path.join(REPOSITORY, "docs", "operations.md"), encoding="utf-8") as file:
        section = file.read().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [[re.sub(r"\s+#.*", "", line) for line in block.strip().splitlines()]
            for block in re.findall(r"^```\n(.*?)^```", section, re.M | re.S)]


def documented(lines, copy, stopped=lambda: server.stop()):
    """Does what the document says, on this server's folders."""
    output = ""
    for line in lines:
        line = line.replace("/var/lib/stampede", server.data).replace("/etc/stampede/stampede.ini", server.config)
        line = re.sub(r"\bcopy\b", copy, line)
        if line.startswith("systemctl"):
            stopped() if " stop " in line else server.start()
            continue
        line = re.sub(r"(^|; )stampede ", rf"\1{shlex.quote(server.binary)} ", line)
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["admin"],
                                   "STAMPEDE_URL": f"http://127.0.0.1:{server.port}"})
        output += done.stdout + done.stderr
        if " reconcile " in line:
            true(done.returncode in (0, 1), output)
        else:
            equal(done.returncode, 0, f"{line}: {output}")
    return output


def backup():
    copy = os.path.join(temp_folder(), "copy")
    documented(blocks_of("Data folder and backup")[0], copy)
    return copy


def restored(copy):
    return documented(blocks_of("Restore")[0], copy, stopped=lambda: server.alive() and server.kill())


def bank_agrees():
    books, ours = server.admin_ok("GET", "/sandbox"), at_rest()
    return (books["captured"], books["refunded"]) == (ours["captured"], ours["refunded"])


def reconciled():
    """Nothing is left for a person."""
    done = subprocess.run([server.binary, "reconcile", "--repair", "--json"], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["admin"],
                               "STAMPEDE_URL": f"http://127.0.0.1:{server.port}"})
    return done.returncode == 0


def in_database(sql, *values):
    with sqlite3.connect(f"file:{server.data}/stampede.db?mode=ro", uri=True) as database:
        return database.execute(sql, values).fetchall()


def orders_are_written():
    eventually(lambda: server.metrics()["stampede_order_lag"] == 0, "orders do not catch up")


def place_of(waiter, item):
    return waiter.get(f"/v1/items/{item}/waitlist").json()


@rule
def money_waiters_rooms_and_late_changes_come_through_a_restore():
    sale = server.sale()
    item = server.item(sale, total=8, flash_price=700)
    line = server.item(sale, total=2, flash_price=50)
    server.publish(sale)
    ann, bob, cleo = (bought(item) for _ in range(3))
    holders = [bought(line) for _ in range(2)]
    equal(at_bank(*cleo).status, 200)
    becomes(*cleo, "paid")
    copy = backup()

    # What only the lost database knows, and what the journal knows as well.
    equal(at_bank(*ann).status, 200)
    becomes(*ann, "paid")
    equal(order_do(*bob, "pay").status, 200)  # and goes for his card
    equal(order_do(*cleo, "refund").status, 200)
    dora, emil = bought(item), bought(item)
    for late in dora, emil:
        equal(at_bank(*late).status, 200)
        becomes(*late, "paid")
    equal(order_do(*emil, "refund").status, 200)
    waiters = [Buyer(server) for _ in range(2)]
    for waiter in waiters:
        equal(waiter.wait(line).status, 201)
    equal(order_do(*holders[0], "cancel").status, 200)
    offered = eventually(lambda: (lambda now: now["state"] == "offered" and now)(place_of(waiters[0], line)))
    end_ms = server.now_ms() + 5 * HOUR_MS
    equal(server.admin("PATCH", f"/sales/{sale}", {"end_ms": end_ms, "title": "Late"}).status, 200)
    new_sale = server.sale()
    new_product = server.product(currency="EUR")
    new_item = server.item(new_sale, product=new_product, total=3, flash_price=5000)
    server.publish(new_sale)
    fay = bought(new_item)
    equal(at_bank(*fay).status, 200)
    becomes(*fay, "paid")
    hidden = server.item(new_sale, total=1)  # never preheated: only the database has it
    room = server.sale(start_in_ms=300000, waiting_room=True)
    server.item(room)
    server.publish(room)
    guests = [Buyer(server) for _ in range(3)]
    enters = lambda guest: server.request("POST", f"/v1/sales/{room}/room", session=guest.session)  # noqa: E731
    for guest in guests:
        eventually(lambda guest=guest: enters(guest).status == 202, "the room does not open")
    orders_are_written()
    places = in_database("SELECT max(id) FROM waitlist")[0][0]
    at_rest()
    server.kill()

    # Somebody forgets the command, and is told.
    database = os.path.join(server.data, "stampede.db")
    lost = [os.path.join(server.data, f"stampede.db{end}") for end in ("", "-wal", "-shm")]
    kept = {path: open(path, "rb").read() for path in lost if os.path.exists(path)}
    for path in kept:
        os.unlink(path)
    with open(database, "wb") as file:
        file.write(open(os.path.join(copy, "stampede.db"), "rb").read())
    code, told = server.start_refused()
    equal(code, 1)
    true("the database is older than before" in told and "stampede restore" in told, told)
    for path, data in kept.items():
        with open(path, "wb") as file:
            file.write(data)

    told = restored(copy)
    true("payments" in told and "waitlist" in told, told)
    eventually(reconciled, "reconciliation finds something", patience_s=60, every_s=0.5)
    for buyer, order in (ann, dora, fay):
        equal(view(buyer, order)["state"], "paid")
    for buyer, order in (cleo, emil):
        becomes(buyer, order, "refunded")
        eventually(lambda: view(buyer, order).get("refund", {}).get("state") == "done", "its money does not go back")
    true(eventually(bank_agrees), "the bank's books are others")
    equal(at_bank(*bob).status, 200)  # a new attempt
    becomes(*bob, "paid")
    equal(server.admin("POST", f"/orders/{dora[1]['order']}/refund", {"to": "stock"}).status, 200)
    eventually(bank_agrees, f"the bank's books are others: {money()}")

    # Late changes that the journal knows; and nothing is called what something else was.
    equal(server.admin_ok("GET", f"/sales/{sale}")["end_ms"], end_ms)
    found = server.admin_ok("GET", f"/sales/{new_sale}")
    equal((found["title"], found["published"]), (f"Recovered sale {new_sale}", False))
    equal(in_database("SELECT currency, flash_price, items.total FROM items JOIN products ON products.id = product"
                      " WHERE items.id = ?", new_item), [("EUR", 5000, 3)])
    true(server.product() > new_product, "a product's number is given again")
    another = server.sale()
    true(another > room, "a sale's number is given again")
    true(server.item(another, total=1) > hidden, "an item's number is given again")

    # The line: an offer that was made stands, and units that come back go to who waits.
    equal(waiters[0].order(offered["ticket"])["state"], "pending")
    later = [Buyer(server) for _ in range(2)]
    for waiter in later:
        equal(waiter.wait(line).status, 201)
    true(in_database("SELECT min(id) FROM waitlist WHERE state = 1")[0][0] > places, "a place's number is given again")
    equal(order_do(*holders[1], "cancel").status, 200)
    equal(order_do(waiters[0], {"order": offered["order"]}, "cancel").status, 200)
    for waiter in later:
        eventually(lambda waiter=waiter: place_of(waiter, line)["state"] == "offered", "a waiter starves")

    # The room: whoever was in is in.
    server.admin_ok("POST", f"/sales/{room}/publish")
    for guest in guests:
        eventually(lambda guest=guest: server.get(f"/v1/sales/{room}/room", session=guest.session).status == 200,
                   "a guest has lost the place")
    eventually(reconciled, "reconciliation finds something", patience_s=60, every_s=0.5)
    server.stop()
    server.verify()
    server.start()


@rule
def a_callback_of_a_payment_that_was_lost_books_it():
    item = server.open_item(total=2, flash_price=900)
    buyer, order = bought(item)
    orders_are_written()
    copy = backup()
    reply = order_do(buyer, order, "pay")
    equal(reply.status, 200)
    server.kill()
    server.write_config(payment__providers="")
    restored(copy)  # as if nobody were to be asked
    server.write_config(payment__providers="sandbox")
    server.restart()
    equal(server.request("POST", f"/sandbox/v1/pay/{payment_id(reply)}", {"how": "pay"}).status, 200)
    becomes(buyer, order, "paid")
    eventually(bank_agrees, f"the bank's books are others: {money()}")


@rule
def an_order_without_a_known_payment_is_not_refunded():
    item = server.open_item(total=2, flash_price=900)
    buyer, order = bought(item)
    orders_are_written()
    copy = backup()
    paid = {"amount": 900, "currency": "CNY", "reference": f"till-{order['order']}"}
    equal(server.admin("POST", f"/orders/{order['order']}/paid", paid).status, 200)
    orders_are_written()
    eventually(lambda: server.counts(item)["sold"] == 1)
    orders_are_written()
    restored(copy)
    becomes(buyer, order, "paid")
    problem(server.admin("POST", f"/orders/{order['order']}/refund", {"to": "stock"}), 409, "conflict")
    true(not reconciled(), "reconciliation does not see it")
    equal(server.admin("POST", f"/orders/{order['order']}/paid", paid).status, 200)  # the shop tells it again
    eventually(reconciled, "reconciliation finds something", patience_s=60, every_s=0.5)
    equal(server.admin("POST", f"/orders/{order['order']}/refund", {"to": "stock"}).status, 200)
    becomes(buyer, order, "refunded")


@rule
def a_restore_that_was_interrupted_can_be_run_again():
    item = server.open_item(total=3)
    bought(item)
    orders_are_written()
    copy = backup()
    bought(item)
    orders_are_written()
    server.stop()
    os.replace(os.path.join(copy, "stampede.db"), os.path.join(server.data, "stampede.db"))
    command = [server.binary, "restore", "--config", server.config]
    with open(os.path.join(server.folder, "restore.log"), "wb") as log:
        begun = subprocess.Popen(command, stdout=log, stderr=log)
        mark = os.path.join(server.data, "high-water")
        eventually(lambda: b"restoring 1" in open(mark, "rb").read() or begun.poll() is not None, every_s=0.001)
        begun.kill()
        begun.wait()
    if b"restoring 1" in open(mark, "rb").read():
        code, told = server.start_refused()
        equal(code, 1)
        true("stampede restore" in told, told)
    equal(subprocess.run(command, capture_output=True, timeout=60).returncode, 0)
    server.start()
    equal(server.item_orders(item), (2, 2))
    entries = in_database("SELECT actor, detail FROM audit WHERE action = 'restore' ORDER BY id DESC LIMIT 1")
    true(entries and entries[0][0] == "restore" and "the backup " in entries[0][1], f"no audit entry: {entries}")


run()
