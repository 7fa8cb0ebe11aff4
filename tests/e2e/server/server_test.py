# SPDX-License-Identifier: Apache-2.0
"""Start and stop of the whole program: what it refuses to start on, how it drains, what it does when the disk fails."""
import os
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import threading
import time

from kit.harness import (Buyer, Closed, Connection, Server, among, equal, eventually, problem, request_bytes, rule, run, skip,
                     temp_folder, true)


SIGNAL_SEEN_S = 0.05  # a signal takes a moment to be seen: an answer of the time before is fine that long


def sold(settings=None, wins=6, **more):
    """A server that has sold some units one after the other, each in a journal batch of its own: (server, item, tickets)."""
    server = Server(settings=settings, **more).start()
    item = server.open_item(total=1000, limit_per_user=0)
    buyer = Buyer(server)
    give = buyer.get_pass(item)
    tickets = [buyer.win(item, key=str(number), give=give)["ticket"] for number in range(wins)]
    server.buyer = buyer
    eventually(lambda: server.item_orders(item)[0] == wins, "orders are written")
    return server, item, tickets


def refused(server, *words):
    code, log = server.start_refused()
    true(code not in (0, None) and code > 0, f"exit code {code}")
    for word in words:
        true(word in log, f"{word!r} is not in: {log}")
    return log


def segments(server):
    folder = os.path.join(server.data, "journal")
    return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("segment-"))


def batches(path):
    """[(offset, bytes)] of the batches in a segment (docs/journal.md)."""
    found = []
    with open(path, "rb") as file:
        data = file.read()
    offset = 4096
    while data[offset:offset + 4] == b"SBAT":
        size = struct.unpack_from("<I", data, offset + 8)[0]
        found.append((offset, size))
        offset += (size + 4095) // 4096 * 4096
    return found


def flip(path, offset):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 0x40]))


# ---- settings

@rule
def settings_that_are_wrong_are_named_at_the_start():
    for name, value, words in (("server.prot", 1, ("unknown setting", "server.prot")), ("servr.port", 1, ("unknown setting",)),
                               ("server.port", "x", ("server.port", "whole number")), ("server.port", 65536, ("out of bounds",)),
                               ("server.port", -1, ("server.port",)), ("session.guests", "maybe", ("yes or no",)),
                               ("data.folder", "", ("data.folder must be set",)), ("data.segment_bytes", 1052673, ("multiple",)),
                               ("server.log_level", "loud", ("log_level",)), ("session.guests", "no", ("nobody could enter",)),
                               ("channels.names", "app,web", ("channels.names",)), ("channels.names", "web,web", ("channels",)),
                               ("channels.names", "web,safety", ("channels",)), ("cors.origins", "shop.example", ("cors.origins",)),
                               ("admin.keys", "/nowhere/keys", ("admin keys", "/nowhere/keys")),
                               ("session.jwt_keys", "/nowhere/keys", ("jwt_keys", "/nowhere/keys"))):
        refused(Server(settings={name: value}), *words)


@rule
def a_settings_file_that_is_not_there_or_no_such_file_is_named():
    server = Server()
    os.remove(server.config)
    refused(server, server.config)
    with open(server.config, "w") as file:
        file.write("port 8080\n")
    refused(server, server.config, "line 1")


# ---- the data folder

@rule
def a_data_folder_that_is_no_folder_is_named():
    server = Server()
    with open(server.data, "w") as file:
        file.write("x")
    refused(server, server.data)


@rule
def a_data_folder_that_can_not_be_written_is_named():
    place = temp_folder()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,size=1m", "tmpfs", place], capture_output=True).returncode == 0
    if not mounted and os.geteuid() == 0:
        skip("root writes everywhere, and mount is not allowed")
    try:
        if not mounted:
            os.chmod(place, 0o500)
        refused(Server(data=os.path.join(place, "data")), place)
        refused(Server(data=place), place)
    finally:
        if mounted:
            subprocess.run(["umount", place], check=True)
        else:
            os.chmod(place, 0o700)


@rule
def a_data_folder_that_another_process_uses_is_named():
    first = Server().start()
    refused(Server(data=first.data), "locked by another process", first.data)
    equal(first.get("/readyz").status, 200)
    first.stop()
    second = Server(data=first.data).start()
    second.stop()


@rule
def a_damaged_identity_or_one_of_another_version_is_named():
    server, _, _ = sold(wins=1)
    server.stop()
    path = os.path.join(server.data, "identity")
    with open(path) as file:
        good = file.read()
    for bad in ("", good[:-5], good + "x", good.replace("stampede-data 2", "stampede-data 3"), good.replace(good[20], "x", 1), "\n"):
        with open(path, "w") as file:
            file.write(bad)
        refused(server, "identity", "damaged or of another version")
    with open(path, "w") as file:
        file.write(good)
    server.start().stop()


@rule
def a_journal_that_is_damaged_in_the_middle_is_named_with_its_place():
    server, item, _ = sold()
    server.kill()
    path = segments(server)[0]
    found = batches(path)
    true(len(found) >= 4, found)
    for at in (found[1][0] + 100, found[1][0] + 2, found[2][0] + 20, 10):
        flip(path, at)
        refused(server, "journal", os.path.basename(path))
        flip(path, at)
    server.start()
    equal(server.counts(item)["held"], 6)
    server.stop()
    flip(path, found[1][0] + 100)  # also behind a snapshot
    refused(server, "journal", os.path.basename(path))


@rule
def a_torn_last_batch_is_cut_with_a_word_and_nothing_told_is_lost():
    server, item, tickets = sold()
    server.kill()
    path = segments(server)[0]
    offset, size = batches(path)[-1]
    with open(path, "r+b") as file:
        file.seek(offset)
        torn = bytearray(file.read(size))
        torn[len(torn) // 2:] = bytes(len(torn) - len(torn) // 2)
        file.seek(offset + (size + 4095) // 4096 * 4096)
        file.write(torn)
    server.start()
    true("torn" in server.log(), server.log())
    equal(server.counts(item)["held"], 6)
    for ticket in tickets:
        equal(server.buyer.order(ticket)["state"], "pending")
    server.buyer.win(item, key="after")
    server.restart(kill=True)
    equal(server.counts(item)["held"], 7)
    server.stop()
    server.verify()


@rule
def a_missing_segment_is_named():
    server, _, _ = sold(wins=1)
    server.kill()
    os.remove(segments(server)[0])
    refused(server, "journal")


@rule
def a_database_of_another_folder_is_named():
    one, _, _ = sold(wins=1)
    other, _, _ = sold(wins=1)
    one.stop()
    other.stop()
    shutil.copy(os.path.join(other.data, "stampede.db"), os.path.join(one.data, "stampede.db"))
    refused(one, "do not belong together")


@rule
def a_database_that_was_lost_is_named_and_not_made_anew():
    server, _, _ = sold(wins=1)
    server.stop()
    database = os.path.join(server.data, "stampede.db")
    os.rename(database, database + ".away")
    refused(server, "database")
    for name in os.listdir(server.data):
        if name.startswith("stampede.db") and not name.endswith(".away"):
            os.remove(os.path.join(server.data, name))
    os.rename(database + ".away", database)
    server.start().stop()


@rule
def a_journal_older_than_the_database_is_named():
    server, item, _ = sold(wins=2)
    server.stop()
    old = os.path.join(server.folder, "old")
    shutil.copytree(os.path.join(server.data, "journal"), old)
    server.start()
    server.buyer.win(item, key="later")
    eventually(lambda: server.item_orders(item)[0] == 3)
    server.stop()
    shutil.rmtree(os.path.join(server.data, "journal"))
    shutil.copytree(old, os.path.join(server.data, "journal"))
    refused(server, "the journal is older than the database")
    shutil.rmtree(os.path.join(server.data, "journal"))
    os.mkdir(os.path.join(server.data, "journal"))
    refused(server, "the journal is older than the database")


@rule
def an_older_database_catches_up_from_the_journal():
    server, item, tickets = sold(wins=2)
    server.stop()
    database, old = os.path.join(server.data, "stampede.db"), os.path.join(server.folder, "old.db")
    shutil.copy(database, old)
    server.start()
    tickets.append(server.buyer.win(item, key="later")["ticket"])
    eventually(lambda: server.item_orders(item)[0] == 3)
    server.stop()
    shutil.copy(old, database)
    refused(server, "the database is older than before", "stampede restore")
    subprocess.run([server.binary, "restore", "--config", server.config], check=True, capture_output=True, timeout=60)
    server.start()
    for ticket in tickets:
        equal(server.buyer.order(ticket)["state"], "pending")
    equal(server.item_orders(item), (3, 3))
    server.stop()
    server.verify()


@rule
def a_database_that_is_no_database_is_named():
    server, _, _ = sold(wins=1)
    server.stop()
    with open(os.path.join(server.data, "stampede.db"), "wb") as file:
        file.write(b"nonsense" * 1000)
    refused(server, "database")


@rule
def a_port_in_use_is_named():
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    port = taken.getsockname()[1]
    refused(Server(settings={"server.port": port}), "can't listen", str(port))
    taken.close()
    refused(Server(settings={"server.address": "192.0.2.1"}), "can't listen", "192.0.2.1")
    refused(Server(settings={"server.address": "shop.example"}), "can't listen")


@rule
def less_room_than_the_log_needs_is_named():
    server, _, _ = sold(wins=30)
    server.stop()
    server.write_config(data__tickets_max=16)
    refused(server, "tickets_max")
    server.write_config(data__tickets_max=1000)
    server.start().stop()


@rule
def tickets_max_stops_wins_and_says_so():
    server = Server(settings={"data.tickets_max": 16}).start()
    item = server.open_item(total=100, limit_per_user=0)
    buyer = Buyer(server)
    give = buyer.get_pass(item)
    wins = 0
    for number in range(40):
        reply = buyer.buy(item, key=str(number), give=give)
        if reply.status != 202:
            break
        wins += 1
    equal(wins, 16)
    problem(reply, 503, "unavailable")
    true("retry-after" in reply.headers)
    ready = eventually(lambda: [reply for reply in [server.get("/readyz")] if reply.status == 503])[0]
    true(b"tickets_max" in ready.body, ready)
    equal(buyer.buy(item, key="3", give=give).status, 202, "a repeated key is still answered")
    equal(server.get("/livez").status, 200)
    server.stop()


# ---- stopping

@rule
def sigterm_and_sigint_end_with_code_0():
    for number in (signal.SIGTERM, signal.SIGINT):
        server = Server().start()
        server.process.send_signal(number)
        equal(server.wait(), 0)
        true("draining" in server.log() and "stopped" in server.log())


def waiting(server, connections):
    """Long polls that nothing will answer soon, one on each connection; they reach both edges."""
    item = server.open_item()
    buyer = Buyer(server)
    view = buyer.order(buyer.win(item)["ticket"])
    for connection in connections:
        connection.send(request_bytes("GET", f"/v1/tickets/{view['ticket']}?wait=30&version=1",
                                      headers={"Authorization": f"Bearer {buyer.session}"}))
    time.sleep(0.2)
    return view


@rule
def before_a_drain_readyz_gives_notice_while_everything_else_is_served():
    notice_s, grace_s = 1.5, 0.25
    server = Server(settings={"server.drain_notice_ms": int(notice_s * 1000), "server.drain_ms": 1000}).start()
    item = server.open_item()
    kept, buyer = server.connect(), Buyer(server)
    equal(kept.request("GET", "/readyz").status, 200)
    began = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    eventually(lambda: server.get("/readyz").status == 503, "readyz does not fail")
    true(time.monotonic() - began < grace_s, f"readyz failed after {time.monotonic() - began:.3f} s only")
    while time.monotonic() - began < notice_s - grace_s:
        for ready in (kept.request("GET", "/readyz"), server.get("/readyz")):
            equal((ready.status, ready.body), (503, b"draining\n"))
        equal(kept.request("GET", f"/v1/items/{item}").status, 200)
        equal(server.get("/livez").status, 200)
        time.sleep(0.02)
    ticket = buyer.win(item)["ticket"]
    eventually(lambda: buyer.order(ticket)["state"] == "pending", "no order")  # a stop holds nobody: "creating" at first
    true(server.alive(), "it ended within the notice")
    equal(server.wait(), 0)
    true(time.monotonic() - began >= notice_s, "the notice was cut short")
    true(kept.closes(), "an idle connection is closed")
    server.start()
    equal(server.counts(item)["held"], 1)
    server.stop()


@rule
def a_drain_answers_what_is_in_flight_and_is_not_ready_meanwhile():
    server = Server(settings={"server.drain_ms": 1000, "server.drain_notice_ms": 500, "server.threads": 2}).start()
    connections = [server.connect() for _ in range(24)]
    view = waiting(server, connections)
    idle = server.connect()
    equal(idle.request("GET", "/readyz").status, 200)
    server.process.send_signal(signal.SIGTERM)
    seen, began = [], time.monotonic()
    while server.alive() and time.monotonic() - began < 10:
        try:
            with Connection(server.port, 1) as connection:
                asked = time.monotonic()
                reply = connection.request("GET", "/readyz")
                if reply.status != 200 or asked - began > SIGNAL_SEEN_S:
                    seen.append((reply.status, reply.body))
        except (OSError, Closed):
            pass
        time.sleep(0.02)
    equal(server.wait(), 0)
    true((503, b"draining\n") in seen, f"never seen to drain: {set(seen)}")
    true(all(status == 503 for status, _ in seen), f"ready while draining: {set(seen)}")
    for connection in connections:
        reply = connection.read_reply()
        equal(reply.status, 200)
        equal(reply.json()["ticket"], view["ticket"])
    true(idle.closes(), "an idle connection is closed")


@rule
def a_stop_does_not_wait_for_long_polls_nor_for_those_who_hung_up():
    server = Server(settings={"server.drain_ms": 10000, "server.threads": 2}).start()
    connections = [server.connect() for _ in range(24)]
    view = waiting(server, connections)
    for connection in connections[::2]:
        connection.close()
    began = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    equal(server.wait(), 0)
    true(time.monotonic() - began < 3, f"the stop took {time.monotonic() - began:.1f} s")
    for connection in connections[1::2]:
        equal(connection.read_reply().json()["ticket"], view["ticket"])


@rule
def purchases_in_flight_at_a_stop_are_answered_or_not_but_never_told_and_lost():
    server = Server(settings={"server.drain_ms": 1000}).start()
    item = server.open_item(total=5000, limit_per_user=0)
    told, stop = [], threading.Event()

    def shopper():
        buyer = Buyer(server)
        give = buyer.get_pass(item)
        number = 0
        while not stop.is_set():
            try:
                with server.connect(2) as connection:
                    while True:
                        number += 1
                        connection.send(buyer.purchase_request(item, key=str(number), give=give))
                        reply = connection.read_reply()
                        if reply.status == 202:
                            told.append(reply.json()["ticket"])
            except (OSError, Closed):
                if not server.alive():
                    return
    threads = [threading.Thread(target=shopper) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    server.process.send_signal(signal.SIGTERM)
    code = server.wait()
    stop.set()
    for thread in threads:
        thread.join()
    equal(code, 0)
    true(len(told) > 20)
    server.start()
    held = server.counts(item)["held"]
    true(held >= len(set(told)), f"{held} held, {len(set(told))} told")
    eventually(lambda: server.item_orders(item)[0] == held)
    with sqlite3.connect(f"file:{server.data}/stampede.db?mode=ro", uri=True) as database:
        equal(database.execute("select count(*) from orders").fetchone()[0], held)
    database.close()
    server.stop()
    server.verify()


@rule
def a_stop_while_somebody_reads_slowly_ends_by_its_deadline():
    server = Server(settings={"server.drain_ms": 500}).start()
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.connect(("127.0.0.1", server.port))
    slow.sendall(request_bytes("GET", "/openapi.json") * 400)
    time.sleep(0.2)
    began = time.monotonic()
    server.stop()
    true(time.monotonic() - began < 5)
    slow.close()


run()
