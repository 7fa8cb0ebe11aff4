# SPDX-License-Identifier: Apache-2.0
"""GET /admin/v1/live/history: the live screen's figures as they were; and what comes with it: times of purchases, each sale's
funnel, who was refused most."""
from kit.bans import from_, shop
from kit.harness import Buyer, equal, eventually, problem, rule, run, true

server = shop(**{"limits.address_per_s": 20, "limits.address_burst": 20})
COUNTERS = ("requests", "arrived", "asked", "won", "sold_out", "too_fast", "closed", "refused", "ordered", "paid", "journal")
OUTCOMES = ("won", "sold_out", "too_fast", "closed", "refused")


def history(step_s=1, after=0):
    return server.admin_ok("GET", f"/live/history?step_s={step_s}&after={after}", role="viewer")["rows"]


def quick():
    server.admin_ok("PATCH", "/switches", {"address_rate": 0})


@rule
def rows_come_by_themselves_and_their_counters_only_grow():
    quick()
    item = server.open_item(total=2)
    for status in (202, 202, 409):
        equal(Buyer(server).buy(item).status, status)
    rows = eventually(lambda: (lambda seen: seen if seen and seen[-1]["ordered"] >= 2 else None)(history()), "no row tells of the orders")
    rows = eventually(lambda: (lambda seen: seen if len(seen) >= 3 else None)(history()), "rows do not come")
    for before, after in zip(rows, rows[1:]):
        true(500 <= after["time_ms"] - before["time_ms"], "rows are a second apart")
        for name in COUNTERS:
            true(before[name] <= after[name], name)
    last = rows[-1]
    equal((last["won"], last["free"][str(item)], last["lag"]), (2, 0, 0))
    equal(sum(last[name] for name in OUTCOMES), 3)
    true(last["sold_out"] == 1 and last["arrived"] == 3, last)


@rule
def times_of_purchases_and_syncs_are_told():
    item = server.open_item(total=50)
    start = history()[-1]["time_ms"]
    for _ in range(5):
        Buyer(server).win(item)
    rows = eventually(lambda: [row for row in history(after=start) if row["purchase_p50_us"] > 0], "no time of a purchase")
    for row in rows:
        true(0 < row["purchase_p50_us"] <= row["purchase_p99_us"] < 16_777_216, row)
    true(any(0 < row["sync_p50_us"] <= row["sync_p99_us"] for row in history(after=start)), "no time of a sync")
    metrics = server.metrics()
    true(metrics["stampede_purchase_seconds_count"] >= 5 and metrics["stampede_purchase_seconds_sum"] > 0)
    equal(metrics['stampede_purchase_seconds_bucket{le="+Inf"}'], metrics["stampede_purchase_seconds_count"])


@rule
def after_a_time_only_later_rows_come_and_each_step_has_its_own():
    rows = eventually(lambda: (lambda seen: seen if len(seen) >= 4 else None)(history()), "rows do not come")
    later = history(after=rows[1]["time_ms"])
    equal(later[0]["time_ms"], rows[2]["time_ms"])
    true(len(history(10)) < len(history(1)) and history(60), "a row of each step at the start")
    for wrong in ("step_s=2", "step_s=0", "step_s=x", "after=-1", "unknown=1"):
        problem(server.admin("GET", f"/live/history?{wrong}"), 400, "bad-query")


@rule
def each_sale_has_its_own_funnel():
    one, other = server.open_item(total=100), server.open_item(total=100)

    def funnel(item):
        return next(sale["funnel"] for sale in server.admin_ok("GET", "/live")["sales"] for row in sale["items"] if row["id"] == item)

    def counted(item):  # a sale is counted from a moment after its opening
        equal(Buyer(server).buy(item).status, 202)
        return funnel(item)
    first = eventually(lambda: counted(one), "nobody is counted")
    true(set(first) <= {"door.go", "purchase.won"}, first)
    equal(funnel(other), {})
    second = eventually(lambda: counted(other), "nobody is counted")
    true(0 < second["door.go"] <= 100, second)


@rule
def who_is_refused_most_stands_on_top():
    item = server.open_item()
    loud, quiet = "203.0.113.77", "203.0.113.78"
    server.admin_ok("PATCH", "/switches", {"address_rate": 1})
    for _ in range(60):
        server.request("POST", f"/v1/items/{item}/buy", None, from_(loud))
    for _ in range(25):
        server.request("POST", f"/v1/items/{item}/buy", None, from_(quiet))
    quick()

    def order():
        names = [row.get("address") for row in server.admin_ok("GET", "/watch", role="viewer")["refused"]]
        return names.index(loud) < names.index(quiet) if loud in names and quiet in names else None
    true(eventually(lambda: order() is not None and (order(),), "they are not listed")[0], "the louder one first")
    row = next(row for row in server.admin_ok("GET", "/watch")["refused"] if row.get("address") == loud)
    true(row["kind"] == "address" and row["too_fast"] + row["failed"] >= 30 and row["last_ms"] > 0, row)


run()
