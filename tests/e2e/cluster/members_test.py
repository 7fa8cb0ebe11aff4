# SPDX-License-Identifier: Apache-2.0
"""Processes of a shop on several machines know of each other: what differs raises an alarm, what is unsafe is refused or not ready."""
import os
import secrets
import socket

from kit import databases
from kit.clocks import WrongServer
from kit.harness import Server, equal, eventually, rule, run, temp_folder, true

databases.beside("postgres", "redis")
store, name = databases.fresh("postgres")
SHARED = {**store, **databases.inventory_settings(temp_folder()), "server.threads": 1}
UNITS, TICKET_BYTES = 100000, 480
worker = Server(settings={**SHARED, "cluster.role": "worker"})
gateway = Server(settings={**SHARED, "cluster.role": "gateway"})
equal(databases.migrate(worker).returncode, 0)
worker.start()
gateway.start()


def sql(text):
    return databases.ask("postgres", name, text)


def members(condition="true"):
    return int(sql(f"SELECT count(*) FROM members WHERE {condition}"))


def alarm(server, which):
    """Its detail; None: it is down."""
    row = next(row for row in server.admin_ok("GET", "/alarms")["alarms"] if row["name"] == which)
    return row["detail"] if row["up"] else None


def ready(server):
    """(status, what it says)"""
    reply = server.get("/readyz")
    return reply.status, reply.body.decode()


def becomes_ready(server):
    eventually(lambda: ready(server)[0] == 200, "it is not ready again")


def says(server, words):
    eventually(lambda: ready(server)[0] == 503 and words in ready(server)[1], f"/readyz does not say: {words}")


def redis(*words):
    host, _, port = os.environ["STAMPEDE_TEST_REDIS"].rpartition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall((" ".join(map(str, words)) + "\r\n").encode())
        equal(connection.recv(64), b"+OK\r\n", words)


def another(**settings):
    """One more gateway, with other settings."""
    return Server(settings={**SHARED, "cluster.role": "gateway",
                            **{key.replace("__", "."): value for key, value in settings.items()}})


def row_put(process, version="9.9.9", channels="web", ago_ms=0):
    """A process that this machine does not have, heard so long ago."""
    sql("INSERT INTO members(process, role, name, version, channels, settings, clock_ms, seen_ms) SELECT "
        f"{process}, 'gateway', 'elsewhere:80', '{version}', '{channels}', settings, clock_ms, "
        f"CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) - {ago_ms} FROM members WHERE role = 'worker'")


@rule
def processes_that_agree_are_counted_and_raise_nothing():
    for server in (worker, gateway):
        for role, count in (("worker", 1), ("gateway", 1), ("all", 0)):
            eventually(lambda: server.metrics()[f'stampede_members{{role="{role}"}}'] == count, f"{role} is not {count}")
        equal((alarm(server, "members-differ"), alarm(server, "clock-apart")), (None, None))
        for to in ("database", "redis"):
            true(server.metrics()[f'stampede_clock_apart_ms{{to="{to}"}}'] < 250, "a clock of this machine is apart from itself")


@rule
def other_settings_are_told_on_both_sides_until_they_agree():
    other = another(limits__address_per_s=21).start()
    for server in (worker, other):
        eventually(lambda: "settings differ: compare `stampede config` of both" in (alarm(server, "members-differ") or ""),
                   "nobody says that settings differ")
    other.stop()
    eventually(lambda: alarm(worker, "members-differ") is None, "the alarm stays")
    equal(members(), 2, "a clean stop leaves no row")


@rule
def another_version_is_told_until_it_is_gone():
    row_put(99)
    eventually(lambda: "gateway elsewhere:80: it runs version 9.9.9, this worker" in (alarm(worker, "members-differ") or ""),
               "nobody says that the version differs")
    sql("DELETE FROM members WHERE process = 99")
    eventually(lambda: alarm(worker, "members-differ") is None, "the alarm stays")


@rule
def a_process_that_is_gone_is_removed_by_the_leader():
    row_put(98, ago_ms=59000)
    eventually(lambda: members("process = 98") == 0, "the row stays")
    equal(members(), 2)


@rule
def other_channels_are_refused_while_others_run_and_leave_no_trace():
    code, text = another(channels__names="web,app").start_refused()
    equal(code, 2, text)
    true("channels.names is web,app here and web at" in text, text)
    equal(members(), 2)


@rule
def other_channels_of_a_process_that_was_killed_are_waited_for():
    row_put(97, channels="web,old", ago_ms=-5000)  # so that it counts for 15 s, however slow this machine is
    late = another().start()
    true("gateway elsewhere:80 has other channels: waiting" in late.log(), late.log()[-1500:])
    late.stop()


@rule
def another_secret_is_refused():
    path = os.path.join(temp_folder(), "secret")
    with open(path, "w", encoding="utf-8") as file:
        file.write(secrets.token_hex(32) + "\n")
    os.chmod(path, 0o600)
    code, text = another(cluster__secret_file=path).start_refused()
    equal(code, 2, text)
    true("cluster.secret_file has another secret than the processes that made this database" in text, text)


@rule
def the_sandbox_on_a_gateway_needs_to_know_whose_bank_it_is():
    code, text = another(payment__providers="sandbox").start_refused()
    equal(code, 2, text)
    true("sandbox.base must be set on a gateway" in text, text)


@rule
def a_clock_that_is_apart_is_told_and_far_apart_it_is_not_ready_until_it_is_right():
    wrong = WrongServer(settings={**SHARED, "cluster.role": "gateway"})
    wrong.time_pass(0)  # skips where there is no compiler
    wrong.start()
    wrong.time_pass(600)
    eventually(lambda: "behind that of this process" in (alarm(wrong, "clock-apart") or ""), "nobody says that clocks are apart")
    equal(ready(wrong)[0], 200)
    for to in ("database", "redis"):
        eventually(lambda: 250 <= wrong.metrics()[f'stampede_clock_apart_ms{{to="{to}"}}'] <= 600, f"{to} is not apart")
    wrong.time_pass(4400)
    says(wrong, "are 1 s or more apart: set the machines' clocks (NTP)")
    eventually(lambda: wrong.metrics()["stampede_ready"] == 0, "the metric does not say so")
    equal(alarm(worker, "clock-apart"), None, "the clocks of others are right")
    wrong.time_pass(-5000)
    becomes_ready(wrong)
    eventually(lambda: alarm(wrong, "clock-apart") is None, "the alarm stays")
    wrong.stop()


@rule
def a_redis_that_evicts_or_is_too_small_for_the_tickets_is_not_ready_until_it_fits():
    worker.open_item(total=UNITS)
    for words, back, sentence in (
            (("maxmemory", UNITS * TICKET_BYTES - 1), ("maxmemory", 0), "maxmemory of a Redis server is too small for the tickets"),
            (("maxmemory-policy", "allkeys-lru"), ("maxmemory-policy", "noeviction"), "another maxmemory-policy than noeviction")):
        redis("CONFIG", "SET", *words)
        for server in (worker, gateway):
            says(server, sentence)
        redis("CONFIG", "SET", *back)
        for server in (worker, gateway):
            becomes_ready(server)


def read_only(on):
    """For all sessions that begin from now on; those that there are end."""
    databases.client("postgres", os.environ["STAMPEDE_TEST_POSTGRES"], sql=(
        f"ALTER DATABASE {name} SET default_transaction_read_only = {on}"))
    databases.client("postgres", os.environ["STAMPEDE_TEST_POSTGRES"], sql=(
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"))


@rule
def operators_see_the_processes_and_the_partitions_at_every_one_of_them():
    item = worker.open_item(total=3, sale_fields={"shards": 2})
    sale = worker.sale_of(item)
    for server in (worker, gateway):
        eventually(lambda s=server: sorted((each["role"], each["live"], each["leads"]) for each in s.admin_ok("GET", "/members")["members"])
                   == [("gateway", True, False), ("worker", True, True)], f"{server.admin_ok('GET', '/members')}")
        [leader] = [each["process"] for each in server.admin_ok("GET", "/members")["members"] if each["leads"]]
        eventually(lambda s=server: [(each["sale"], each["shard"], each["owner"]) for each in s.admin_ok("GET", "/partitions")["partitions"]
                                    if each["sale"] == sale] == [(sale, 0, leader), (sale, 1, leader)], f"{server.admin_ok('GET', '/partitions')}")
    *_, first, second = worker.admin_ok("GET", "/partitions")["partitions"]
    true(first["epoch"] > 0 and first["records"] > 0, first)
    equal(worker.admin_ok("GET", f"/partitions?after={first['id']}")["partitions"][0]["id"], second["id"])
    equal(worker.admin("GET", "/partitions?after=x").status, 400)


@rule
def a_database_that_takes_no_writes_is_refused_at_the_start_and_makes_others_not_ready():
    read_only("on")
    says(gateway, "the database is unavailable")  # PostgreSQL's client gives no session that can't write
    code, text = another().start_refused()
    true(code != 0 and "store.url must lead to a primary that is not read-only" in text, text)
    read_only("off")
    for server in (worker, gateway):
        becomes_ready(server)


@rule
def a_clean_stop_leaves_no_row():
    gateway.stop()
    worker.stop()
    equal(members("process <> 97"), 0)


run()
