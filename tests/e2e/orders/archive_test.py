# SPDX-License-Identifier: Apache-2.0
"""A sale that is over leaves the data folder for a bundle: docs/archive.md. The bundle verifies alone and elsewhere, what is left
verifies, too, a kill at any moment loses nothing, and other sales do not notice."""
import gzip
import os
import shutil
import sqlite3
import subprocess
import time

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, temp_folder, true

server = Server(settings={"archive.after_days": 0, "payment.providers": "sandbox", "data.segment_bytes": 1024 * 1024 + 4096})
server.start()
going_on = server.open_item(total=1000, limit_per_user=1)


def environment():
    return {**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["admin"], "STAMPEDE_URL": f"http://127.0.0.1:{server.port}"}


def stampede(*words):
    return subprocess.run([server.binary, *words], capture_output=True, text=True, timeout=300, env=environment())


def verifies(what):
    done = stampede("verify", what)
    equal(done.returncode, 0, done.stdout[-1500:] + done.stderr)
    return done.stdout


def bundle_of(sale):
    return os.path.join(server.data, "archive", f"sale-{sale:05d}.bundle")


def over(buyers=5):
    """A sale that has ended, with paid and cancelled orders: (sale, item, tickets)."""
    sale = server.sale(lasts_ms=5000)
    item = server.item(sale, total=100, limit_per_user=1)
    server.publish(sale)
    tickets = []
    for n in range(buyers):
        buyer = Buyer(server)
        reply = buyer.buy(item)
        equal(reply.status, 202, reply)
        tickets.append(reply.json()["ticket"])
    for n, order in enumerate(eventually(lambda: all_written(item, buyers), "orders are not written")):
        if n % 2 == 0:
            paid = {"reference": f"r-{order['order']}", "amount": order["amount"], "currency": order["currency"]}
            server.admin_ok("POST", f"/orders/{order['order']}/paid", paid)
        else:
            server.admin_ok("POST", f"/orders/{order['order']}/cancel")
    ended(sale)
    eventually(lambda: server.metrics()["stampede_stock_events_open"] == 0, "returns are under way")
    return sale, item, tickets


def all_written(item, count):
    orders = [row["view"] for row in server.admin_ok("GET", f"/orders?item={item}")["orders"]]
    return orders if len(orders) == count else None


def ended(sale):
    end_ms = server.admin_ok("GET", f"/sales/{sale}")["end_ms"]
    eventually(lambda: server.now_ms() > end_ms + 20, "the sale does not end")


def rows_of(sale):
    with sqlite3.connect(f"file:{server.data}/stampede.db?mode=ro", uri=True) as database:
        return database.execute("SELECT count(*) FROM orders JOIN items ON items.id = item WHERE sale = ?", (sale,)).fetchone()[0]


@rule
def a_sale_leaves_for_a_bundle_that_verifies_elsewhere():
    sale, _, _ = over()
    others = [Buyer(server).buy(going_on).json()["ticket"] for _ in range(3)]
    done = stampede("archive", str(sale), "--data", server.data)
    equal(done.returncode, 0, done.stdout + done.stderr)
    equal(rows_of(sale), 0)
    elsewhere = os.path.join(temp_folder(), "a.bundle")
    shutil.copy(bundle_of(sale), elsewhere)
    true("5 orders, all checks hold" in verifies(elsewhere), "")
    eventually(lambda: server.metrics()["stampede_bound_used{of=\"tickets\"}"] == len(others), "tickets are not forgotten")
    equal(len(server.admin_ok("GET", "/orders")["orders"]), len(others))
    equal(server.admin_ok("GET", f"/sales/{sale}/bundle")["step"], "done")
    verifies(server.data)
    server.restart()
    verifies(server.data)
    again = stampede("archive", str(sale), "--data", server.data)
    equal(again.returncode, 0, again.stdout + again.stderr)


@rule
def a_changed_bundle_is_found_out():
    sale, _, _ = over(2)
    equal(stampede("archive", str(sale), "--data", server.data).returncode, 0)
    text = gzip.open(bundle_of(sale), "rt").read()
    true("address" not in text)
    path = os.path.join(temp_folder(), "b.bundle")
    order = next(line for line in text.splitlines() if line.startswith("order "))
    words = order.split(" ")
    changes = [text.replace(order, " ".join(words[:4] + [str(int(words[4]) + 1)] + words[5:])), text.rsplit("\n", 2)[0] + "\n",
               text.replace("batch 53424154", "batch 53424155", 1)]
    for changed in changes:
        true(changed != text)
        with gzip.open(path, "wt") as file:
            file.write(changed)
        done = stampede("verify", path)
        equal((done.returncode, "FAILED" in done.stdout), (1, True), done.stdout)


@rule
def what_is_not_finished_stays():
    sale = server.sale(lasts_ms=4000)
    item = server.item(sale, total=5, limit_per_user=1)
    server.publish(sale)
    early = stampede("archive", str(sale), "--data", server.data)
    equal(early.returncode, 1)
    equal(Buyer(server).buy(item).status, 202)
    ended(sale)
    held = stampede("archive", str(sale), "--data", server.data)
    equal(held.returncode, 1, held.stdout + held.stderr)
    equal(rows_of(sale), 1)
    verifies(server.data)


@rule
def a_kill_at_any_moment_loses_nothing():
    for wait_s in (0.0, 0.05, 0.15, 0.3):
        sale, _, _ = over(12)
        process = subprocess.Popen([server.binary, "archive", str(sale), "--data", server.data], env=environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(wait_s)
        server.kill()
        process.kill()
        process.wait()
        server.start()
        verifies(server.data)
        done = stampede("archive", str(sale), "--data", server.data)
        equal(done.returncode, 0, done.stdout + done.stderr)
        equal(rows_of(sale), 0)
        true("12 orders, all checks hold" in verifies(bundle_of(sale)))
        verifies(server.data)


@rule
def what_is_gone_is_counted_to_the_last_one():
    server.stop()
    for change in ("+ 1", "- 1"):
        with sqlite3.connect(os.path.join(server.data, "stampede.db")) as database:
            database.execute(f"UPDATE archives SET orders = orders {change} WHERE sale = (SELECT max(sale) FROM archives)")
        done = stampede("verify", server.data, "--quiet")
        if change == "+ 1":
            equal((done.returncode, "archived sales" in done.stdout), (1, True), done.stdout)
        else:
            equal(done.returncode, 0, done.stdout)
    server.start()


@rule
def reconciliation_finds_nothing_afterwards():
    done = stampede("reconcile")
    equal((done.returncode, "nothing found" in done.stdout), (0, True), done.stdout + done.stderr)


@rule
def a_customer_is_erased_on_request():
    buyer = Buyer(server)
    equal(buyer.buy(going_on).status, 202)
    reply = server.admin("POST", "/customers/erase", {})
    problem(reply, 422 if reply.status == 422 else 400, "bad-value")
    user = server.admin_ok("GET", "/orders")["orders"][0]["user"]
    erased = server.admin_ok("POST", "/customers/erase", {"user": user})
    equal(erased["user"], user)
    with sqlite3.connect(f"file:{server.data}/stampede.db?mode=ro", uri=True) as database:
        rows = database.execute("SELECT detail FROM audit WHERE action = 'customer.erase'").fetchall()
    equal([user in row[0] for row in rows], [True], "in the audit trail")


run()
