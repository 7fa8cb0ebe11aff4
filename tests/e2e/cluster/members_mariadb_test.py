# SPDX-License-Identifier: Apache-2.0
"""Processes of a shop on several machines whose database is MariaDB, which takes no writes for a while."""
from kit import databases
from kit.harness import Server, equal, eventually, rule, run, temp_folder

databases.beside("mysql", "redis")
store, name = databases.fresh("mysql")
SHARED = {**store, **databases.inventory_settings(temp_folder()), "server.threads": 1}
worker = Server(settings={**SHARED, "cluster.role": "worker"})
gateway = Server(settings={**SHARED, "cluster.role": "gateway"})


def says(server, status, words):
    eventually(lambda: (server.get("/readyz").status, words in server.get("/readyz").body.decode()) == (status, True),
               f"/readyz is not {status} {words}")


@rule
def both_start_and_see_each_other():
    equal(databases.migrate(worker).returncode, 0)
    worker.start()
    gateway.start()
    for server in (worker, gateway):
        eventually(lambda: server.metrics()['stampede_members{role="gateway"}'] == 1, "the gateway is not seen")
        eventually(lambda: server.metrics()['stampede_members{role="worker"}'] == 1, "the worker is not seen")


@rule
def a_database_that_takes_no_writes_makes_a_process_not_ready_until_it_does():
    databases.client("mysql", sql="SET GLOBAL read_only = 1")
    try:
        says(gateway, 503, "the database can't be written: store.url must lead to a primary")
    finally:
        databases.client("mysql", sql="SET GLOBAL read_only = 0")
    for server in (gateway, worker):
        says(server, 200, "ok")


@rule
def a_clean_stop_leaves_no_row():
    gateway.stop()
    worker.stop()
    equal(databases.ask("mysql", name, "SELECT count(*) FROM members"), "0")


run()
