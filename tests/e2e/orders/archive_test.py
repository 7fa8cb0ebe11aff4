# SPDX-License-Identifier: Apache-2.0
"""A sale that is over leaves the data folder for a bundle: docs/archive.md. The bundle verifies alone and elsewhere, what is left
verifies, too, a kill at any moment loses nothing, and other sales do not notice."""
import gzip
import hashlib
import os
import shutil
import sqlite3
import subprocess
import time

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, temp_folder, true

server = Server(settings={"payment.providers": "sandbox", "data.segment_bytes": 1024 * 1024 + 4096})
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


def bundle(sale):
    return server.admin_ok("GET", f"/sales/{sale}/bundle")


def alarm():
    return next(row for row in server.admin_ok("GET", "/alarms")["alarms"] if row["name"] == "archive-failed")


def rows_of(sale):
    with sqlite3.connect(f"file:{server.data}/stampede.db?mode=ro", uri=True) as database:
        return database.execute("SELECT count(*) FROM orders JOIN items ON items.id = item WHERE sale = ?", (sale,)).fetchone()[0]


@rule
def a_sale_leaves_for_a_bundle_that_verifies_elsewhere():
    sale, _, _ = over()
    others = [Buyer(server).buy(going_on).json()["ticket"] for _ in range(3)]
    done = stampede("archive", str(sale))
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
    again = stampede("archive", str(sale))
    equal(again.returncode, 0, again.stdout + again.stderr)


@rule
def a_changed_bundle_is_found_out():
    sale, _, _ = over(2)
    equal(stampede("archive", str(sale)).returncode, 0)
    text = gzip.open(bundle_of(sale), "rt").read()
    true("address" not in text)
    path = os.path.join(temp_folder(), "b.bundle")
    order = next(line for line in text.splitlines() if line.startswith("order "))
    words = order.split(" ")
    changes = [text.replace(order, " ".join(words[:4] + [str(int(words[4]) + 1)] + words[5:])), text.rsplit("\n", 2)[0] + "\n",
               text.replace("batch 53424154", "batch 53424155", 1),
               text.replace("\nsum ", "\nsum 1", 1)]  # which only the hash of the whole can see
    for changed in changes:
        true(changed != text)
        with gzip.open(path, "wt") as file:
            file.write(changed)
        done = stampede("verify", path)
        equal((done.returncode, "FAILED" in done.stdout), (1, True), done.stdout)


def sealed(*lines):
    """A bundle of these lines, with the hash that they have: anybody can make one."""
    text = "".join(line + "\n" for line in lines)
    path = os.path.join(temp_folder(), "c.bundle")
    with gzip.open(path, "wt") as file:
        file.write(f"{text}end {len(lines)} {hashlib.sha256(text.encode()).hexdigest()}\n")
    return path


@rule
def a_bundle_that_somebody_made_up_is_refused_by_what_it_says():
    head, order = ["stampede-bundle 1", "sale 1 0123456789abcdef 0 0 0"], "order 1 {item} 0123456789abcdef 1 {channel} {state} 0 1 1 0 0 1"
    far = 1 << 32  # what is cut to 32 or 8 bits would be a small number
    for lines, says in (([head[0], "sum 1 1 1 1 1"], "has no sale"), ([head[0], f"sale {far + 1} 0123456789abcdef 0 0 0"], "line 2 is no sale"),
                        ([*head, order.format(item=far + 1, channel=0, state=2)], "line 3 is no order"),
                        ([*head, order.format(item=1, channel=256, state=2)], "line 3 is no order"),
                        ([*head, order.format(item=1, channel=0, state=258)], "line 3 is no order"),
                        ([*head, order.format(item=1, channel=0, state=2)], "has no ticket in the log"),
                        ([*head, "log 99999999999 1"], "is no log of the sale"), ([*head, "batch 00"], "line 3: a batch is not whole"),
                        ([*head, "entry 1 1 00"], "an entry of no log")):
        done = stampede("verify", sealed(*lines))
        equal((done.returncode, says in done.stdout), (1, True), f"{says}: {done.stdout}{done.stderr}")


@rule
def what_is_not_finished_stays():
    sale = server.sale(lasts_ms=4000)
    item = server.item(sale, total=5, limit_per_user=1)
    server.publish(sale)
    early = stampede("archive", str(sale))
    equal(early.returncode, 1)
    equal(Buyer(server).buy(item).status, 202)
    ended(sale)
    held = stampede("archive", str(sale))
    equal(held.returncode, 1, held.stdout + held.stderr)
    equal(rows_of(sale), 1)
    verifies(server.data)


@rule
def a_kill_at_any_moment_loses_nothing():
    for wait_s in (0.0, 0.05, 0.15, 0.3):
        sale, _, _ = over(12)
        process = subprocess.Popen([server.binary, "archive", str(sale)], env=environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(wait_s)
        server.kill()
        process.kill()
        process.wait()
        server.start()
        verifies(server.data)
        done = stampede("archive", str(sale))
        equal(done.returncode, 0, done.stdout + done.stderr)
        equal(rows_of(sale), 0)
        true("12 orders, all checks hold" in verifies(bundle_of(sale)))
        verifies(server.data)


@rule
def a_step_that_was_killed_before_it_was_marked_is_done_again():
    sale, _, _ = over(3)
    os.makedirs(os.path.dirname(bundle_of(sale)), exist_ok=True)
    with open(bundle_of(sale), "w") as file:  # a bundle that nobody has marked, and one half written
        file.write("of an earlier try")
    with open(bundle_of(sale) + ".part", "w") as file:
        file.write("half")
    equal(stampede("archive", str(sale)).returncode, 0)
    true("3 orders, all checks hold" in verifies(bundle_of(sale)))
    true(not os.path.exists(bundle_of(sale) + ".part"))
    for step in (2, 1):
        server.stop()
        server.sql(("UPDATE archives SET step = ? WHERE sale = ?", (step, sale)))
        server.start()
        eventually(lambda: bundle(sale)["step"] == "done", "it does not go on")
        verifies(server.data)


@rule
def what_fails_raises_an_alarm_removes_nothing_and_is_tried_again():
    sale, _, _ = over(2)
    folder = os.path.join(server.data, "archive")
    os.makedirs(folder, exist_ok=True)
    os.rename(folder, folder + ".away")
    with open(folder, "w") as file:
        file.write("no folder")
    done = stampede("archive", str(sale))
    equal((done.returncode, "archive.folder can't be opened" in done.stderr), (1, True), done.stdout + done.stderr)
    true(alarm()["up"] and f"sale {sale} can't be archived (try 1)" in alarm()["detail"], alarm())
    told = bundle(sale)
    equal((told["step"], told["tries"], rows_of(sale)), ("asked", 1, 2))
    true(told["next_ms"] > server.now_ms())
    equal(server.metrics()["stampede_archive_failures_total"], 1)
    os.unlink(folder)
    os.rename(folder + ".away", folder)
    server.restart()  # what was asked for is not forgotten
    equal(bundle(sale)["tries"], 1)
    equal(stampede("archive", str(sale)).returncode, 0)
    equal(rows_of(sale), 0)
    true(not alarm()["up"])
    true(server.metrics()["stampede_archive_bytes_total"] >= os.stat(bundle_of(sale)).st_size)


@rule
def a_bundle_that_can_not_be_written_leaves_nothing_half_written():
    sale, _, _ = over(1)
    os.makedirs(bundle_of(sale))  # nothing can get this name
    done = stampede("archive", str(sale))
    equal((done.returncode, "can't be written" in done.stderr, rows_of(sale)), (1, True, 1), done.stdout + done.stderr)
    equal([name for name in os.listdir(os.path.join(server.data, "archive")) if name.endswith(".part")], [])
    os.rmdir(bundle_of(sale))
    equal(stampede("archive", str(sale)).returncode, 0)


@rule
def a_sale_leaves_by_itself_when_its_days_are_over_and_it_is_finished():
    sale, _, _ = over(2)
    fresh, _, _ = over(1)
    waiting = server.sale(lasts_ms=3000)
    item = server.item(waiting, total=5, limit_per_user=1)
    server.publish(waiting)
    equal(Buyer(server).buy(item).status, 202)
    ended(waiting)
    server.stop()
    server.sql(("UPDATE sales SET start_ms = start_ms - 172800000, end_ms = end_ms - 172800000 WHERE id IN (?, ?)", (sale, waiting)))
    server.write_config(archive__after_days=1)
    server.start()
    eventually(lambda: bundle(sale)["step"] == "done", "it does not leave by itself")
    true("2 orders, all checks hold" in verifies(bundle_of(sale)))
    told = bundle(waiting)
    equal((told["step"], told["can"], told["why"], rows_of(waiting), "error" in told), ("none", False, "orders wait for money", 1, False))
    later = bundle(fresh)
    equal((later["step"], later["can"]), ("none", True))
    true(later["by_itself_ms"] > server.now_ms())
    true(not alarm()["up"])
    server.stop()
    server.sql(("UPDATE sales SET start_ms = start_ms + 172800000, end_ms = end_ms + 172800000 WHERE id IN (?, ?)", (sale, waiting)))
    server.write_config(archive__after_days="off")
    server.start()


@rule
def places_of_its_waiting_room_are_free_again():
    places = lambda: server.metrics()['stampede_bound_used{of="places"}']  # noqa: E731
    equal(places(), 0)
    sale = server.sale(lasts_ms=4000, waiting_room=True)
    server.item(sale, total=5, limit_per_user=1)
    server.publish(sale)
    for _ in range(7):
        equal(server.request("POST", f"/v1/sales/{sale}/room", session=Buyer(server).session).status // 100, 2)
    eventually(lambda: places() == 7, "nobody is in the room")
    ended(sale)
    equal(stampede("archive", str(sale)).returncode, 0)
    eventually(lambda: places() == 0, "their places are not free")
    verifies(bundle_of(sale))
    verifies(server.data)
    server.restart(kill=True)
    equal(places(), 0)
    verifies(server.data)


@rule
def what_is_gone_is_counted_to_the_last_one():
    sale, _, _ = over(1)
    equal(stampede("archive", str(sale)).returncode, 0)
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
def segments_with_records_of_a_sale_that_goes_on_stay():
    journal = os.path.join(server.data, "journal")
    segments = lambda: sorted(name for name in os.listdir(journal) if name.startswith("segment-"))  # noqa: E731
    first = segments()[0]
    item, buyer, number = server.open_item(total=100000, limit_per_user=0), Buyer(server), 0
    give = buyer.get_pass(item)
    with server.connect() as connection:
        while len(segments()) < 3 and number < 20000:
            connection.send(buyer.purchase_request(item, key=str(number), give=give))
            true(connection.read_reply().status in (202, 503), "503: the next segment is not there yet")
            number += 1
    true(len(segments()) >= 3, f"{number} purchases: {segments()}")
    sale, _, _ = over(1)
    equal(stampede("archive", str(sale)).returncode, 0)
    for _ in range(3):  # each stop writes a snapshot; each start looks for segments that nobody needs
        server.restart()
        time.sleep(0.5)
    true(first in segments(), f"{first} is gone: {segments()}")
    verifies(server.data)


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
