# SPDX-License-Identifier: Apache-2.0
"""Past waiting rooms: how long a live one waits for its draw after a restart, and what each place of a past one costs."""
import time

from growth_kit import serving, thread_seconds, told
from kit.harness import Buyer, eventually

SIZES = (16, 64, 256)
PEOPLE = 500
NOISE_S = 0.005  # what a start without rooms differs by from time to time; less is not told apart


def past_room(server, sessions):
    """A room whose draw was made, of a sale that was ended by hand."""
    sale = server.sale(start_in_ms=600000, waiting_room=True)
    server.item(sale)
    server.publish(sale)
    with server.connect() as connection:
        def enter(session):
            return connection.request("POST", f"/v1/sales/{sale}/room", headers={"Authorization": f"Bearer {session}"}).status == 202
        eventually(lambda: enter(sessions[0]), "the room does not open")
        for session in sessions[1:]:
            if not enter(session):
                raise ValueError("nobody comes in")
    server.admin_ok("POST", f"/sales/{sale}/preheat")
    server.admin_ok("POST", f"/sales/{sale}/open")
    eventually(lambda: drawn(server, sale), "no draw")
    server.admin_ok("POST", f"/sales/{sale}/end")
    return sale


def drawn(server, sale):
    return server.get(f"/v1/sales/{sale}/draw").json()["state"] == "drawn"


def started_again(server, work):
    """What the worker's thread has used since it was started, once `work` is done."""
    server.stop()
    server.spawn()
    eventually(lambda: server.alive() and thread_is_there(server), "no worker")
    work()
    return thread_seconds(server, "worker")


def restarts(sizes=SIZES):
    """(what growth_kit.told takes, seconds until the last of them is drawn again)"""
    costs, last, made, seconds = [], 0, 0, 0.0
    with serving(room__open_ms=900000, data__sales_max=4096) as server:
        server.start()
        without = started_again(server, lambda: None)
        sessions = [Buyer(server).session for _ in range(PEOPLE)]
        for size in sizes:
            while made < size:
                last = past_room(server, sessions)
                made += 1
            began = time.monotonic()
            used = started_again(server, lambda: eventually(lambda: looks(server, last), "the last room has no draw"))
            costs.append(max(used - without, NOISE_S) / (size * PEOPLE) * 1e6)
            seconds = time.monotonic() - began
    return (sizes, costs, f"µs of the worker a place at most (rooms of {PEOPLE}, {NOISE_S * 1000:g} ms can't be seen)", "start with past rooms"), seconds


def told_restarts():
    costs, seconds = restarts()
    figure, flat = told(*costs)
    return f"{figure}; {SIZES[-1]} of them are drawn again after {seconds:.2f} s", flat


def looks(server, sale):
    try:
        return drawn(server, sale)
    except (OSError, ValueError, KeyError):
        return False


def thread_is_there(server):
    try:
        return server.get("/v1/time").status == 200
    except OSError:
        return False


def parts(bars):
    bars.part("4 past rooms", "exponent ≤ 0.2 of the cost of a place, with 16 to 256 past rooms", told_restarts)
