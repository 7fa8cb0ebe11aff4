# SPDX-License-Identifier: Apache-2.0
"""What the next ban costs the worker when many are in force already."""
import time

from growth_kit import database, serving, spent, told

SIZES = (1000, 10000, 99000)
ROUNDS = 100


def bans_fill(server, count):
    """Users and addresses by turns, all in force."""
    now_ms = int(time.time() * 1000)
    with database(server) as connection:
        connection.execute("DELETE FROM bans")
        connection.executemany(
            "INSERT INTO bans(kind, user_id, block, reason, banned_by, created_ms, until_ms, lifted_ms) VALUES(?, ?, ?, 'x', 'x', ?, ?, 0)",
            ((2, 7 + i, None, now_ms, now_ms + 10**8) if i % 2 == 0 else
             (1, None, f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}", now_ms, now_ms + 10**8) for i in range(count)))


def ban_and_lift(server):
    for number in range(ROUNDS):
        ban = server.admin_ok("POST", "/bans", {"address": f"203.0.113.{number}", "minutes": 5, "reason": "x"})
        server.admin_ok("POST", f"/bans/{ban['id']}/lift")


def next_ban(sizes=SIZES):
    """For growth_kit.told."""
    costs = []
    with serving() as server:
        server.start()
        for size in sizes:
            server.stop()
            bans_fill(server, size)
            server.start()
            ban_and_lift(server)  # the first one after a start makes room
            costs.append(spent(server, "worker", lambda: ban_and_lift(server)) / ROUNDS * 1e6)
    return sizes, costs, "µs of the worker", "a ban and its lifting"


def parts(bars):
    bars.part("4 bans", "exponent ≤ 0.2 with 1,000 to 99,000 bans in force", lambda: told(*next_ban()))
