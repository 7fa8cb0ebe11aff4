# SPDX-License-Identifier: Apache-2.0
"""`stampede verify` of a shop on Redis and a database server: a whole one holds, and each change by hand is named. The test
files name the kind of database."""
import json
import os
import re
import subprocess
import threading

from kit import databases
from kit.harness import Buyer, Server, equal, eventually, rule, run, temp_folder, true

TABLES = ("journal_entries", "parts", "orders", "items", "audit", "order_sums", "payments")
# One byte of the bytes of a row, changed.
FLIPPED = {"postgres": "set_byte(bytes, {at}, get_byte(bytes, {at}) # 1)",
           "mysql": "CONCAT(LEFT(bytes, {at}), CHAR(ASCII(SUBSTR(bytes, {at} + 1, 1)) ^ 1), SUBSTR(bytes, {at} + 2))"}


def beside(kind):
    """Goes on beside a database server of this kind and a Redis server."""
    databases.beside("redis")
    databases.beside(kind)
    os.environ.update(E2E_STORE=kind, E2E_INVENTORY="redis")


def pay(server, order, reference):
    reply = server.admin("POST", f"/orders/{order}/paid", {"amount": 99900, "currency": "CNY", "reference": reference})
    equal(reply.status, 200, reply.body)


def sell(server, item, states):
    """One order in each of these states."""
    for state in states:
        buyer = Buyer(server)
        order = buyer.order(buyer.win(item, key=f"{state}-1")["ticket"])["order"]
        if state in ("paid", "refunded"):
            pay(server, order, f"{state}-{order}")
        if state == "closed":
            server.admin_ok("POST", f"/orders/{order}/cancel")
        if state == "refunded":
            server.admin_ok("POST", f"/orders/{order}/refund", {"to": "stock"})
    return buyer


def settled(server):
    eventually(lambda: server.metrics()["stampede_stock_events_open"] == 0, "the events stay open")


class Broken:
    """with Broken(server, statements): what they change is as before afterwards."""

    def __init__(self, server, *statements):
        self.server, self.statements = server, statements

    def __enter__(self):
        copies = [f"CREATE TABLE kept_{table} AS SELECT * FROM {table}" for table in TABLES]
        self.server.sql(*copies, *self.statements)

    def __exit__(self, *_):
        back = [(f"DELETE FROM {table}", f"INSERT INTO {table} SELECT * FROM kept_{table}", f"DROP TABLE kept_{table}")
                for table in TABLES]
        self.server.sql(*(statement for statements in back for statement in statements))


def run_on(kind):
    beside(kind)
    server = Server(settings={"orders.grace_ms": 0})
    shop = {}

    def one(text):
        return server.sql(text)[0][0]

    def named(words, *statements, check=None):
        """The words are in the verdict; the check, if given, is the one that failed."""
        with Broken(server, *statements):
            done = server.verify_run()
            equal(done.returncode, 1, f"{statements}:\n{done.stdout[-3000:]}{done.stderr}")
            verdict = done.stdout.splitlines()[-1]
            true(re.search(words, verdict), f"{statements}: wanted {words!r}, got {verdict!r}\n{done.stdout}")
            if check is not None:
                report = json.loads(server.verify_run("--json").stdout)
                failed = [entry["name"] for entry in report["checks"] if entry["result"] == "failed"]
                true(check in failed, f"{statements}: {failed}")

    @rule
    def a_new_shop_holds():
        server.start()
        server.stop()
        done = server.verify_run()
        equal(done.returncode, 0, done.stdout)
        true("verified: 0 records, 0 tickets, all checks hold" in done.stdout, done.stdout)

    @rule
    def two_partitions_and_several_epochs_hold():
        server.start()
        shop["first"] = server.open_item(total=20)
        shop["second"] = server.open_item(total=3, limit_per_user=2)
        shop["winner"] = sell(server, shop["first"], ("pending", "paid", "closed", "refunded"))
        sell(server, shop["second"], ("paid",))
        settled(server)
        server.restart()
        sell(server, shop["first"], ("refunded", "pending"))
        sell(server, shop["second"], ("pending", "pending"))
        settled(server)
        done = server.verify_run()  # beside the server
        equal(done.returncode, 0, done.stdout)
        server.stop()
        done = server.verify_run()
        equal(done.returncode, 0, done.stdout)
        true("2 partitions" in done.stdout and "verified:" in done.stdout and ", 9 tickets" in done.stdout, done.stdout)
        true("not checked" not in done.stdout.replace("not checked, partitions have none", ""), done.stdout)
        report = json.loads(server.verify_run("--json").stdout)
        rows = server.sql("SELECT part, epoch, seq FROM parts WHERE part > 0 ORDER BY part")
        equal([(part["partition"], part["epoch"], part["records"]) for part in report["partitions"]], rows)
        equal(sorted(part["tickets"] for part in report["partitions"]), [3, 6])
        true(all(epoch >= 2 for _, epoch, _ in rows), rows)
        equal({item["item"]: item["tickets"] for item in report["items"]}, {shop["first"]: 6, shop["second"]: 3})

    @rule
    def a_user_and_a_moment_are_told_of_all_partitions():
        report = json.loads(server.verify_run("--json", "--user", shop["winner"].user).stdout)
        equal([event["what"] for event in report["user"]["records"]], ["won", "sold", "returned"])
        number = one("SELECT max(ticket) FROM orders")
        true(number > 2 ** 32, number)
        when = one("SELECT max(created_ms) FROM orders")
        report = json.loads(server.verify_run("--json", "--at", str(when)).stdout)
        equal(sum(item["tickets"] for item in report["at"]["items"]), 9)
        report = json.loads(server.verify_run("--json", "--at", "1000").stdout)
        equal(report["at"]["items"], [])

    @rule
    def a_changed_byte_of_a_journal_row_is_named():
        part, seq = server.sql("SELECT part, max(first_seq) FROM journal_entries GROUP BY part ORDER BY part")[0]
        size = one(f"SELECT min(length(bytes)) FROM journal_entries WHERE part = {part}")
        for at in (0, 8, 20, 60, size - 1):
            flipped = FLIPPED[kind].format(at=at)
            named(f"partition {part}: entry {seq}|partition {part}: ",
                  f"UPDATE journal_entries SET bytes = {flipped} WHERE part = {part} AND first_seq = {seq}")

    @rule
    def a_deleted_journal_row_is_named_whichever_it_is():
        for part, in server.sql("SELECT part FROM parts WHERE part > 0"):
            seqs = [row[0] for row in server.sql(f"SELECT first_seq FROM journal_entries WHERE part = {part} ORDER BY first_seq")]
            for seq in (seqs[0], seqs[len(seqs) // 2]):
                named(f"hash chain of the journal: partition {part}",
                      f"DELETE FROM journal_entries WHERE part = {part} AND first_seq = {seq}")
            named(f"the database is not ahead of the log: partition {part}: its log ends at record {seqs[-1] - 1}",
                  f"DELETE FROM journal_entries WHERE part = {part} AND first_seq = {seqs[-1]}")

    @rule
    def rows_that_are_swapped_doubled_or_of_another_epoch_are_named():
        first, second = [row[0] for row in server.sql("SELECT part FROM parts WHERE part > 0 ORDER BY part")]
        named(f"partition {first}: ",
              f"UPDATE journal_entries SET bytes = (SELECT bytes FROM kept_journal_entries WHERE part = {second}"
              f" AND first_seq = 1) WHERE part = {first} AND first_seq = 1")
        named("has no ticket|epoch", f"UPDATE journal_entries SET epoch = epoch + 7 WHERE part = {first}")
        named("its log has epoch", f"UPDATE parts SET epoch = 1 WHERE part = {second}", check="position")
        named("its log goes on", f"UPDATE parts SET seq = (SELECT max(first_seq) FROM journal_entries WHERE part = {second}) - 1"
              f" WHERE part = {second}", check="position")
        named("there is no log of partition", f"DELETE FROM parts WHERE part = {second}", check="orders")

    @rule
    def a_partition_that_is_broken_does_not_hide_the_others():
        first, second = [row[0] for row in server.sql("SELECT part FROM parts WHERE part > 0 ORDER BY part")]
        with Broken(server, f"DELETE FROM journal_entries WHERE part = {first} AND first_seq = 1",
                    f"DELETE FROM orders WHERE ticket = (SELECT max(ticket) FROM kept_orders WHERE item = {shop['second']})"):
            report = json.loads(server.verify_run("--json").stdout)
            failed = {entry["name"] for entry in report["checks"] if entry["result"] == "failed"}
            true({"chain", "orders"} <= failed, failed)
            equal({part["partition"]: part["whole"] for part in report["partitions"]}, {first: False, second: True})

    @rule
    def a_changed_order_is_named():
        for item in (shop["first"], shop["second"]):
            ticket = one(f"SELECT min(ticket) FROM orders WHERE item = {item} AND state IN (1, 2)")
            change = f"WHERE ticket = {ticket}"
            named("another user than its ticket", f"UPDATE orders SET user_id = user_id + 1 {change}")
            named("another quantity than its ticket", f"UPDATE orders SET quantity = 2, amount = 2 * amount {change}")
            named("another unit price than its ticket", f"UPDATE orders SET unit_price = 7, amount = 7 {change}")
            named("is closed, its ticket is|orders and tickets", f"UPDATE orders SET state = 3, reason = 2, slot = NULL {change}",
                  check="order_states")

    @rule
    def an_order_that_is_gone_or_has_no_ticket_is_named():
        for which in ("min", "max"):
            ticket = one(f"SELECT {which}(ticket) FROM orders")
            named("has no order and no dead letter", f"DELETE FROM orders WHERE ticket = {ticket}")
        columns = "item, user_id, slot, quantity, channel, state, reason, unit_price, amount, created_ms, pay_by_ms, version"
        ticket = one("SELECT max(ticket) FROM orders")
        for other in (ticket + 1, ticket + (1 << 28), ticket + (1 << 40), 7):
            text = columns.replace("user_id", "user_id + 1").replace("slot", "NULL").replace("state, reason", "3, 2")
            named("has no ticket", f"INSERT INTO orders(ticket, {columns}) SELECT {other}, {text} FROM kept_orders"
                  f" WHERE ticket = {ticket}")

    @rule
    def a_ticket_of_another_epoch_is_no_ticket():
        ticket = one(f"SELECT max(ticket) FROM orders WHERE item = {shop['first']}")
        named("has no ticket|has no order", f"UPDATE orders SET ticket = {ticket - (1 << 28)} WHERE ticket = {ticket}",
              check="orders")

    @rule
    def a_changed_count_of_units_is_named():
        for item in (shop["first"], shop["second"]):
            named(f"item {item}: the database says", f"UPDATE items SET sold = sold - 1 WHERE id = {item}", check="stock")
        named("the kept sums", "UPDATE order_sums SET units = units + 1 WHERE state = 2", check="stock")

    @rule
    def a_changed_row_of_the_audit_trail_or_a_lost_payment_is_named():
        named("audit chain", "UPDATE audit SET detail = 'nothing' WHERE id = 2", check="audit")
        named("audit chain", "DELETE FROM audit WHERE id = 2", check="audit")
        named("all money paid", "DELETE FROM payments WHERE captured > 0 AND used_for = 1", check="money")

    @rule
    def the_settings_of_another_cluster_are_named():
        secret = os.path.join(temp_folder(), "secret")
        with open(secret, "w", encoding="utf-8") as file:
            file.write("another secret of a cluster, long enough\n")
        os.chmod(secret, 0o600)
        kept = server.settings["cluster.secret_file"]
        server.write_config(cluster__secret_file=secret)
        done = server.verify_run()
        equal(done.returncode, 1, done.stdout)
        true("cluster.secret_file does not belong to this database" in done.stdout, done.stdout)
        server.write_config(cluster__secret_file=secret + ".none")
        done = server.verify_run()
        equal(done.returncode, 2, done.stdout)
        true("cluster.secret_file" in done.stdout, done.stdout)
        server.write_config(cluster__secret_file=kept)

    @rule
    def what_can_not_be_read_is_said_in_one_line():
        for options, words in (((server.data, "--config", server.config), "no data folder is verified"),
                               (("--config", server.config + ".none"), "stampede.ini.none"), ((), "missing data folder")):
            done = subprocess.run([server.binary, "verify", *options], capture_output=True, text=True, timeout=60)
            equal(done.returncode, 2, done.stdout)
            true(words in done.stdout + done.stderr, f"{words}: {done.stdout}{done.stderr}")
        kept = server.settings["store.url"]
        server.write_config(store__url=re.sub(r"/e2e_\d+_\d+", "/e2e_none", kept))
        done = server.verify_run()
        equal((done.returncode, len(done.stdout.splitlines())), (2, 1), done.stdout)
        true(done.stdout.startswith("FAILED: "), done.stdout)
        server.write_config(store__url=kept)

    @rule
    def beside_servers_that_write_nothing_false_is_told():
        server.start()
        item = server.open_item(total=5000)
        stop, wrong = threading.Event(), []

        def crowd():
            try:
                while not stop.is_set():
                    sell(server, item, ("paid", "closed", "pending"))
            except Exception as trouble:  # tell it in the rule
                wrong.append(trouble)
        threads = [threading.Thread(target=crowd) for _ in range(3)]
        for thread in threads:
            thread.start()
        writing = 0
        for _ in range(8):
            done = server.verify_run()
            if done.returncode != 0:
                stop.set()
            equal(done.returncode, 0, done.stdout)
            writing += "servers are writing" in done.stdout
        stop.set()
        for thread in threads:
            thread.join()
        equal(wrong, [])
        true(writing > 0, "nobody wrote")
        server.stop()

    @rule
    def afterwards_all_of_it_holds_and_the_shop_goes_on():
        server.verify()
        server.start()
        sell(server, shop["first"], ("paid",))
        settled(server)

    run()
