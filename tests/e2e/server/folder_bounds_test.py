# SPDX-License-Identifier: Apache-2.0
"""What a data folder can hold in its life is shown, and an alarm comes while there is still time."""
import os
import sqlite3
import time

from kit.harness import Buyer, Server, equal, eventually, rule, run, true

server = Server({"data.sales_max": 6, "data.items_max": 6, "room.places_max": 10, "room.open_ms": 600000}).start()


def is_up(name):
    alarms = {alarm["name"]: alarm for alarm in server.admin_ok("GET", "/alarms", role="viewer")["alarms"]}
    return alarms[name]["up"] and alarms[name]["detail"]


def bound(of):
    metrics = server.metrics()
    return metrics[f'stampede_bound_used{{of="{of}"}}'], metrics[f'stampede_bound_max{{of="{of}"}}']


def reaches(of, used):
    eventually(lambda: bound(of)[0] == used, f"{of}: {bound(of)}")


@rule
def four_of_five_sales_and_items_raise_an_alarm_and_three_do_not():
    sales = [server.sale() for _ in range(3)]
    for sale in sales:
        server.item(sale)
    reaches("sales", 3)
    reaches("items", 3)
    equal((bound("sales"), bound("items")), ((3, 5), (3, 5)))
    equal((is_up("sales-nearly-full"), is_up("items-nearly-full")), (False, False))
    server.item(server.sale())
    detail = eventually(lambda: is_up("sales-nearly-full"), "no alarm")
    true("4 of 5" in detail and "data.sales_max" in detail, detail)
    detail = eventually(lambda: is_up("items-nearly-full"), "no alarm")
    true("4 of 5" in detail and "data.items_max" in detail, detail)


@rule
def eight_of_ten_places_raise_an_alarm():
    sale = server.sale(start_in_ms=60000, waiting_room=True)
    server.item(sale)
    server.publish(sale)
    for number in range(8):
        guest = Buyer(server)
        eventually(lambda: server.request("POST", f"/v1/sales/{sale}/room", session=guest.session).status == 202,
                   "the room does not open")
        if number == 6:
            reaches("places", 7)
            equal(is_up("places-nearly-full"), False)
    detail = eventually(lambda: is_up("places-nearly-full"), "no alarm")
    true("8 of 10" in detail and "room.places_max" in detail, detail)


@rule
def larger_settings_end_these_alarms():
    names = ("sales-nearly-full", "items-nearly-full", "places-nearly-full")
    true(all(is_up(name) for name in names))
    server.stop()
    server.write_config(data__sales_max=60, data__items_max=60, room__places_max=100)
    server.start()
    reaches("places", 8)
    equal([is_up(name) for name in names], [False] * 3)


@rule
def eighty_thousand_bans_raise_an_alarm_which_ends_when_one_is_lifted():
    equal(bound("bans"), (0, 100000))
    server.stop()
    now_ms = int(time.time() * 1000)
    with sqlite3.connect(os.path.join(server.data, "stampede.db")) as database:
        database.executemany("INSERT INTO bans(kind, user_id, reason, banned_by, created_ms, until_ms, lifted_ms)"
                             " VALUES(2, ?, 'x', 'x', ?, ?, 0)", ((user, now_ms, now_ms + 10**8) for user in range(1, 80001)))
    database.close()
    server.start()
    eventually(lambda: is_up("bans-nearly-full"), "no alarm")
    equal(bound("bans")[0], 80000)
    server.admin_ok("POST", "/bans/1/lift")
    eventually(lambda: not is_up("bans-nearly-full"), "the alarm stays")
    equal(bound("bans")[0], 79999)


run()
