# SPDX-License-Identifier: Apache-2.0
"""A sale on many machines leaves for a bundle: the leader makes it, orders, partitions and logs leave the database, what is left verifies,
and the bundle verifies alone. Real processes on PostgreSQL and Redis."""
import os
import shutil
import subprocess

from kit import databases

databases.beside("postgres", "redis")

from kit.cluster import Cluster, reconcile  # noqa: E402
from kit.harness import Buyer, equal, eventually, problem, rule, run, temp_folder, true  # noqa: E402

folder = os.path.join(temp_folder(), "bundles")
shop = Cluster(gateways=1, workers=2, settings={"archive.folder": folder, "orders.grace_ms": 0, "inventory.timeout_ms": 5000}).start()
gateway = shop.gateways[0]
Sold = {}


def bundle(sale):
    return shop.worker.admin_ok("GET", f"/sales/{sale}/bundle")


def sells(shards, buyers):
    """A sale with so many shards, over and settled: (sale, item)."""
    sale = shop.worker.sale(lasts_ms=8000, shards=shards)
    item = shop.worker.item(sale, total=100, limit_per_user=1)
    shop.worker.publish(sale)
    shop.everywhere(item)
    for _ in range(buyers):
        Buyer(gateway).win(item)
    orders = eventually(lambda: written(item, buyers), "orders are not written")
    for n, order in enumerate(orders):
        if n % 2 == 0:
            paid = {"reference": f"r-{order['order']}", "amount": order["amount"], "currency": order["currency"]}
            equal(shop.worker.admin("POST", f"/orders/{order['order']}/paid", paid).status, 200)
        else:
            shop.worker.admin_ok("POST", f"/orders/{order['order']}/cancel")
    end_ms = shop.worker.admin_ok("GET", f"/sales/{sale}")["end_ms"]
    eventually(lambda: shop.worker.now_ms() > end_ms + 20, "the sale does not end")
    eventually(lambda: bundle(sale)["can"], "it is not finished")
    return sale, item


def written(item, count):
    orders = [row["view"] for row in shop.worker.admin_ok("GET", f"/orders?item={item}")["orders"]]
    return orders if len(orders) == count else None


def rows(sale):
    """(orders, partitions, entries of its logs) of a sale."""
    first, last = sale * 32, sale * 32 + 31
    return tuple(shop.worker.sql((f"SELECT count(*) FROM {what}", ()))[0][0] for what in (
        f"orders JOIN items ON items.id = orders.item WHERE items.sale = {sale}",
        f"parts WHERE part BETWEEN {first} AND {last}", f"journal_entries WHERE part BETWEEN {first} AND {last}"))


def verifies():
    done = subprocess.run([shop.worker.binary, "verify", "--config", shop.worker.config], capture_output=True, text=True, timeout=120)
    equal(done.returncode, 0, done.stdout[-2000:] + done.stderr)


@rule
def a_sale_leaves_with_its_partitions_and_the_bundle_verifies_alone():
    Sold["stays"] = sells(1, 3)
    Sold["goes"] = sells(2, 9)
    sale, _ = Sold["goes"]
    equal(rows(sale)[:2], (9, 2))
    verifies()
    asked = gateway.admin("POST", f"/sales/{sale}/bundle")
    equal(asked.status, 200, asked)
    eventually(lambda: bundle(sale)["step"] == "done", "it does not leave")
    equal(rows(sale), (0, 0, 0))
    equal(rows(Sold["stays"][0])[:2], (3, 1))
    alone = os.path.join(temp_folder(), "alone.bundle")
    shutil.copy(os.path.join(folder, bundle(sale)["name"]), alone)
    done = subprocess.run([shop.worker.binary, "verify", alone], capture_output=True, text=True, timeout=60, env={})
    equal((done.returncode, "9 orders, all checks hold" in done.stdout), (0, True), done.stdout + done.stderr)
    with open(alone, "r+b") as file:
        file.seek(os.path.getsize(alone) // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    true(subprocess.run([shop.worker.binary, "verify", alone], capture_output=True, timeout=60).returncode != 0, "a changed one verifies")


@rule
def what_is_left_verifies_and_reconciles_and_it_does_not_come_back():
    sale, item = Sold["goes"]
    verifies()
    code, report = reconcile(gateway)
    equal((code, report["found"]), (0, 0), report)
    problem(Buyer(gateway).buy(item), 410, "ended")
    for server in (shop.workers[0], gateway):
        shop.restart(server)
    equal(rows(sale), (0, 0, 0))
    for server in shop.all:
        eventually(lambda: server.get("/readyz").status == 200, "it is not ready")
    verifies()
    sale, _ = sells(1, 2)
    equal(rows(sale)[:2], (2, 1))


@rule
def without_a_folder_it_is_off_and_says_so():
    for server in shop.all:
        server.write_config(archive__folder="")
        shop.restart(server)
    sale, _ = Sold["stays"]
    told = bundle(sale)
    equal((told["can"], "archive.folder must be set" in told["why"]), (False, True), told)
    problem(shop.worker.admin("POST", f"/sales/{sale}/bundle"), 409, "conflict")
    problem(shop.worker.admin("POST", "/archive", {"after_days": 0}), 409, "conflict")
    equal(shop.worker.admin_ok("GET", "/archive")["on"], False)


run()
