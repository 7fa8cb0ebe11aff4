# SPDX-License-Identifier: Apache-2.0
"""Sessions of the day: timetables make a sale a day, once, also over restarts; days are skipped, edited, missed; overlapping sales
share the stock of a product."""
import datetime

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

MINUTE_MS = 60000
DAY_MS = 24 * 60 * MINUTE_MS
server = Server().start()


def model(total=5, product=None, **fields):
    """A draft that timetables copy."""
    sale = server.sale(start_in_ms=DAY_MS, title="Model", **fields)
    item = server.item(sale, product=product, total=total)
    return sale, item


def soon(minutes=0):
    """The beginning of a minute that comes within two minutes, in ms."""
    return (server.now_ms() // MINUTE_MS + 1 + minutes) * MINUTE_MS


def clock(ms):
    return datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc).strftime("%H:%M")


def date(ms):
    return datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc).strftime("%Y-%m-%d")


def timetable(sale, start_ms, **fields):
    body = {"model": sale, "title": "Evening session", "start": clock(start_ms), "duration_s": 3600, "offset_min": 0, **fields}
    return server.admin_ok("POST", "/timetables", body)


def shown(table):
    return server.admin_ok("GET", f"/timetables/{table}", role="viewer")


def made(table, day):
    """The sale of the day, once it is made."""
    def look():
        return next((row["sale"] for row in shown(table)["days"] if row["day"] == day and row["state"] == "made"), None)
    return eventually(look, "the session is not made")


@rule
def a_session_is_made_listed_and_preheated_without_a_hand():
    start = soon()
    sale, _ = model(total=7, limit_per_user=3)
    table = timetable(sale, start)
    equal((table["weekdays"], table["active"], table["start"]), ([1, 2, 3, 4, 5, 6, 7], True, clock(start)))
    session = made(table["id"], date(start))
    row = server.admin_ok("GET", f"/sales/{session}", role="viewer")
    equal((row["title"], row["start_ms"], row["end_ms"], row["published"], row["limit_per_user"]),
          ("Evening session", start, start + 3600000, True, 3))
    items = server.admin_ok("GET", f"/items?sale={session}", role="viewer")["items"]
    equal([item["total"] for item in items], [7])
    eventually(lambda: server.counts(items[0]["id"]), "it is not preheated")
    equal(server.counts(items[0]["id"])["free"], 7)
    if date(start) == date(server.now_ms()):
        today = eventually(lambda: [one for one in server.get("/v1/sessions").json()["sessions"] if one["sale"] == session],
                           "it is not listed")[0]
        equal((today["timetable"], today["title"], today["start_ms"], today["item_count"]),
              (table["id"], "Evening session", start, 1))
    equal(server.admin_ok("GET", f"/sales/{sale}", role="viewer")["published"], False, "the model stays a draft")


@rule
def each_day_is_made_once_over_restarts_and_kills():
    sale, _ = model()
    table = timetable(sale, server.now_ms() + 10 * MINUTE_MS, ahead_s=3 * 24 * 3600)["id"]
    def days():
        return [row for row in shown(table)["days"] if row["state"] == "made"]
    eventually(lambda: len(days()) == 3 or len(days()) == 4, "not all days are made")
    before = days()
    for kill in (True, False):
        server.restart(kill=kill)
        eventually(lambda: server.get("/v1/sales").status == 200)
        equal(days(), before)
    server.stop()
    rows = server.sql(f"SELECT day_ms, count(*) FROM sales WHERE timetable = {table} GROUP BY day_ms")
    equal([count for _, count in rows], [1] * len(before))
    server.start()
    server.admin_ok("PATCH", f"/timetables/{table}", {"active": False})


@rule
def what_was_missed_while_no_server_ran_is_noted_and_never_made():
    sale, _ = model()
    table = timetable(sale, server.now_ms() - 2 * 60 * MINUTE_MS, ahead_s=120)["id"]
    equal([row["state"] for row in shown(table)["days"] if row["state"] != "planned"], [])
    server.stop()
    server.sql(f"UPDATE timetables SET since_ms = since_ms - {3 * DAY_MS} WHERE id = {table}")
    server.start()
    def missed():
        return [row for row in shown(table)["days"] if row["state"] == "missed"]
    eventually(lambda: len(missed()) == 3, "three days were missed")
    true("was missed" in server.log())
    server.restart()
    equal(len(missed()), 3)
    equal([row for row in shown(table)["days"] if row["state"] == "made"], [])


@rule
def a_day_can_be_skipped_or_edited_until_its_sale_is_made():
    start = server.now_ms() + 60 * MINUTE_MS
    sale, _ = model()
    table = timetable(sale, start, ahead_s=120)["id"]
    tomorrow, later = date(start + DAY_MS), date(start + 2 * DAY_MS)
    days = {row["day"]: row for row in server.admin_ok("POST", f"/timetables/{table}/days",
                                                       {"day": tomorrow, "skip": True}, "operator")["days"]}
    equal((days[tomorrow]["state"], days[later]["state"]), ("skipped", "planned"))
    equal({row["day"]: row for row in server.admin_ok("POST", f"/timetables/{table}/days", {"day": tomorrow, "skip": False})
           ["days"]}[tomorrow]["state"], "planned")
    at = soon()
    server.admin_ok("POST", f"/timetables/{table}/days", {"day": date(at), "start": clock(at), "duration_s": 600})
    session = made(table, date(at))
    row = server.admin_ok("GET", f"/sales/{session}", role="viewer")
    equal((row["start_ms"], row["end_ms"]), (at, at + 600000))
    problem(server.admin("POST", f"/timetables/{table}/days", {"day": date(at), "skip": True}), 409, "conflict")


@rule
def bad_timetables_are_refused_and_change_nothing():
    sale, _ = model()
    empty = server.sale()
    good = {"model": sale, "title": "S", "start": "20:00", "duration_s": 3600, "offset_min": 480}
    count = len(server.admin_ok("GET", "/timetables")["timetables"])
    for wrong in ({"start": "24:00"}, {"start": "8:00"}, {"duration_s": 59}, {"weekdays": []}, {"weekdays": [8]},
                  {"offset_min": 841}, {"ahead_s": 1}, {"title": ""}, {"other": 1}):
        problem(server.admin("POST", "/timetables", {**good, **wrong}), 422, "bad-value")
    problem(server.admin("POST", "/timetables", {**good, "model": empty}), 409, "conflict")
    problem(server.admin("POST", "/timetables", {**good, "model": 9999}), 404, "unknown-sale")
    equal(server.admin("POST", "/timetables", good, "operator").status, 403)
    equal(len(server.admin_ok("GET", "/timetables")["timetables"]), count)
    table = server.admin_ok("POST", "/timetables", {**good, "ahead_s": 120})["id"]
    for wrong in ({"day": "2026-02-30", "skip": True}, {"day": "2001-01-01", "skip": True}, {"day": "2099-01-01"}):
        problem(server.admin("POST", f"/timetables/{table}/days", wrong), 422, "bad-value")
    server.admin_ok("PATCH", f"/timetables/{table}", {"active": False})


@rule
def overlapping_sales_share_the_stock_of_a_product():
    product = server.product(stock=10)
    def stock():
        return server.admin_ok("GET", f"/products/{product}")["stock"]
    first_sale, second_sale, third_sale = server.sale(lasts_ms=3000), server.sale(), server.sale()
    first, second, third = (server.item(sale, product=product, total=total)
                            for sale, total in ((first_sale, 7), (second_sale, 7), (third_sale, 7)))
    server.publish(first_sale)
    equal((stock(), server.counts(first)["free"]), (3, 7))
    buyer = Buyer(server)
    buyer.order(buyer.win(first)["ticket"])
    server.publish(second_sale)
    equal((stock(), server.counts(second)["free"]), (0, 3), "it gets what is left")
    server.publish(second_sale)
    equal((stock(), server.counts(second)["free"]), (0, 3), "once")
    problem(server.admin("POST", f"/items/{second}/adjust", {"delta": 1}), 409, "conflict")
    eventually(lambda: stock() == 6, "what was not sold goes back after the end")
    equal(server.counts(first)["given"], 1)
    server.restart(kill=True)
    equal(stock(), 6)
    server.publish(third_sale)
    equal((stock(), server.counts(third)["free"]), (0, 6))
    server.admin_ok("POST", f"/items/{third}/adjust", {"delta": -2})
    eventually(lambda: stock() == 2, "removed units go back")
    server.stop()
    server.verify()
    server.start()


run()
