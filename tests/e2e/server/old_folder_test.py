# SPDX-License-Identifier: Apache-2.0
"""A data folder of an earlier version opens, is migrated, verifies and goes on selling."""
import json
import os
import subprocess
import tarfile

from kit.harness import Buyer, REPOSITORY, Server, among, equal, eventually, rule, run, true

FOLDERS = os.path.join(REPOSITORY, "tests", "e2e", "folders")


def old_server(name):
    """A server that has not started yet, with the data folder of that archive."""
    server = Server(settings={"payment.providers": "sandbox", "data.segment_bytes": 1048576 + 4096, "orders.grace_ms": 0})
    with tarfile.open(os.path.join(FOLDERS, name + ".tar.xz")) as archive:
        archive.extractall(server.folder)
    facts = os.path.join(server.data, "facts.json")
    with open(facts) as file:
        known = json.load(file)
    os.remove(facts)
    return server, known


def migrates_and_sells(version):
    server, known = old_server(f"schema-{version}")
    looked = subprocess.run([server.binary, "verify", server.data], capture_output=True, text=True, timeout=120)
    true(looked.returncode != 0 and "'stampede serve' migrates it" in looked.stdout + looked.stderr,
         f"verify must not migrate: {looked.stdout}{looked.stderr}")
    server.start()
    true(os.path.exists(os.path.join(server.data, f"stampede.db.schema-{version}")), "no copy of the old database")
    equal(server.admin_ok("GET", "/payments/totals"), known["payments"])
    # Orders that nobody paid expire, or have expired since; the one that was paid stays.
    for order in server.admin_ok("GET", f"/orders?item={known['phone']}")["orders"]:
        among(server.admin("POST", f"/orders/{order['view']['order']}/cancel", {}).status, (200, 409))
    eventually(lambda: server.counts(known["phone"])["held"] == 0, "the unpaid order does not close")
    counts = server.counts(known["phone"])
    equal((counts["given"], counts["sold"], counts["free"]), (4, 1, 3))
    buyer = Buyer(server)
    ticket = buyer.win(known["phone"])["ticket"]
    equal(buyer.order(ticket)["state"], "pending")
    equal(server.counts(known["case"])["given"], 25)
    bans = server.admin_ok("GET", "/bans")["bans"]
    true(any(ban.get("reason") == "made before the migration" for ban in bans), f"the ban is gone: {bans}")
    server.restart(kill=True)
    equal(server.counts(known["phone"])["held"], 1)


@rule
def a_folder_of_schema_5_is_migrated_and_sells():
    migrates_and_sells(5)


@rule
def a_folder_of_schema_6_is_migrated_and_sells():
    migrates_and_sells(6)


@rule
def a_folder_of_schema_7_is_migrated_and_sells():
    migrates_and_sells(7)


@rule
def a_folder_of_schema_9_is_migrated_and_sells():
    migrates_and_sells(9)


run()
