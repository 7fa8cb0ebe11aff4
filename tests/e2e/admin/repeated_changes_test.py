# SPDX-License-Identifier: Apache-2.0
"""A refused change has changed nothing, an unknown one says so, a repeated one is done once, and all that was done is audited."""
import json
import os
import sqlite3
import subprocess
import threading

from kit.disks import SlowServer
from kit.harness import Buyer, Closed, equal, eventually, problem, rule, run, true

server = SlowServer().start()
keys = iter(range(1, 1000))


def new_key():
    return {"Idempotency-Key": f"change-{next(keys)}"}


class Locked:
    """Somebody else holds the database: no write gets through."""

    def __enter__(self):
        self.database = sqlite3.connect(os.path.join(server.data, "stampede.db"), timeout=10, isolation_level=None)
        self.database.execute("begin immediate")

    def __exit__(self, *_):
        self.database.execute("rollback")
        self.database.close()


def given(item):
    return server.admin_ok("GET", f"/items/{item}/counts")["counts"]["given"]


def audit(action=None, about=""):
    entries, after = [], 0
    while True:
        page = server.admin_ok("GET", f"/audit?after={after}")
        entries += page["audit"]
        if "next" not in page:
            return [entry for entry in entries if action in (None, entry["action"]) and about in entry["detail"]]
        after = page["next"]


def adjust(item, delta, key, timeout_s=20):
    return server.admin("POST", f"/items/{item}/adjust", {"delta": delta}, headers=key, timeout_s=timeout_s)


@rule
def an_adjustment_that_is_not_durable_in_time_is_unknown_and_repeating_it_adds_nothing():
    item, key = server.open_item(total=10), new_key()
    with server.held():
        document = problem(adjust(item, 10, key), 504, "outcome-unknown")
        true("Idempotency-Key" in document["detail"])
    equal(eventually(lambda: (reply := adjust(item, 10, key)).status == 200 and reply.json())["applied"], 10)
    equal(given(item), 20, "once")
    equal(adjust(item, 10, key).json()["applied"], 10, "and again")
    server.restart(kill=True)
    equal(adjust(item, 10, key).json()["applied"], 10, "also after a restart")
    equal(given(item), 20)
    problem(adjust(item, 11, key), 422, "key-reused")
    equal(adjust(item, 1, new_key()).json()["applied"], 1)
    eventually(lambda: len(audit("item.adjust", f"item {item} ")) == 2, "each act has one row")


@rule
def a_client_that_gives_up_and_repeats_is_served_once():
    item, key = server.open_item(total=10), new_key()
    for _ in range(3):
        with server.held():
            try:
                adjust(item, 5, key, timeout_s=0.3)
            except (OSError, Closed):
                pass
    equal(adjust(item, 5, key).json()["applied"], 5)
    equal(given(item), 15)


@rule
def the_command_line_repeats_by_itself():
    item = server.open_item(total=10)
    hold = server.held()
    hold.__enter__()
    timer = threading.Timer(5.5, hold.__exit__)
    timer.start()
    done = subprocess.run(
        [server.binary, "admin", "--url", f"http://127.0.0.1:{server.port}", "--json", "item", "adjust", str(item),
         "7"], capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["admin"]})
    timer.join()
    equal(done.returncode, 0, done.stderr)
    equal(given(item), 17, done.stdout)


@rule
def a_change_of_the_database_is_made_once_and_repeated_as_it_was_answered():
    key, body = new_key(), {"name": "Kettle", "list_price": 5}
    first = server.admin("POST", "/products", body, headers=key)
    equal(first.status, 201)
    again = server.admin("POST", "/products", body, headers=key)
    equal((again.status, again.json()), (201, first.json()))
    problem(server.admin("POST", "/products", {**body, "list_price": 6}, headers=key), 422, "key-reused")
    other = server.admin("POST", "/products", body, headers=new_key())
    true(other.json()["id"] != first.json()["id"])
    server.restart(kill=True)
    equal(server.admin("POST", "/products", body, headers=key).json(), first.json(), "after a restart")
    equal(len(audit("product.create", f"product {first.json()['id']} ")), 1)
    # Another actor's key is another key, and what was refused can be asked for again.
    operator = server.admin("POST", "/bans", {"address": "198.51.100.7", "minutes": 5, "reason": "x"}, role="operator",
                            headers=key)
    equal(operator.status, 201)
    key = new_key()
    problem(server.admin("POST", "/products", {"name": 7}, headers=key), 422, "bad-value")
    equal(server.admin("POST", "/products", body, headers=key).status, 201)
    for bad in ("", "x" * 65, "a b"):
        problem(server.admin("POST", "/products", body, headers={"Idempotency-Key": bad}), 400, "bad-key")


@rule
def a_change_of_a_sale_that_is_refused_has_moved_nothing():
    sale = server.sale()
    item = server.item(sale, total=5)
    server.publish(sale)
    end = server.admin_ok("GET", f"/sales/{sale}")["end_ms"]
    key = new_key()
    with Locked():
        problem(server.admin("PATCH", f"/sales/{sale}", {"end_ms": end + 60000}, headers=key), 503, "unavailable")
    equal(server.admin_ok("GET", f"/sales/{sale}")["end_ms"], end)
    equal(server.get(f"/v1/items/{item}").json()["end_ms"], end, "nor in the inventory")
    changed = server.admin("PATCH", f"/sales/{sale}", {"end_ms": end + 60000}, headers=key)
    equal((changed.status, changed.json()["end_ms"]), (200, end + 60000))
    server.admin_ok("PATCH", f"/sales/{sale}", {"end_ms": end + 90000})
    equal(server.admin("PATCH", f"/sales/{sale}", {"end_ms": end + 60000}, headers=key).json(), changed.json())
    equal(server.admin_ok("GET", f"/sales/{sale}")["end_ms"], end + 90000, "a repeated request undoes no later one")


@rule
def what_is_done_while_the_database_is_away_is_audited_when_it_is_back():
    sale = server.sale()
    item = server.item(sale, total=5)
    server.publish(sale)
    with Locked():
        equal(server.admin("POST", f"/items/{item}/adjust", {"delta": 7}, role="operator").status, 200)
        for move in ("pause", "resume"):
            equal(server.admin("POST", f"/sales/{sale}/{move}", role="operator").json()["changed"], True)
        problem(server.admin("PATCH", "/switches", {"refuse_new": True}), 503, "unavailable")
        equal(server.admin_ok("GET", "/switches")["refuse_new"], False, "no change without its audit row")
    wanted = [("item.adjust", f"item {item} web asked 7 applied 7"), ("sale.pause", f"sale {sale}"),
              ("sale.resume", f"sale {sale}")]
    eventually(lambda: [(entry["action"], entry["detail"]) for entry in audit()][-3:] == wanted, "audit rows")
    true(all(entry["actor"] == "operator" for entry in audit()[-3:]))


@rule
def what_was_done_just_before_a_crash_is_audited():
    item, key = server.open_item(total=10), new_key()
    with Locked():
        equal(adjust(item, 3, key).status, 200)
        server.kill()
    server.start()
    eventually(lambda: len(audit("item.adjust", f"item {item} ")) == 1, "the audit row")
    equal(given(item), 13)


@rule
def every_member_that_changed_is_named_with_both_values():
    sale = server.sale(title="Tea")
    before = server.admin_ok("GET", f"/sales/{sale}")
    changes = {"title": "Tea \"at five\"", "details_required": True, "eligible_only": True, "one_open_order": True,
               "preheat_at_ms": 5, "limit_per_user": 3, "drop_percent": 7, "pace_per_s": 9, "human_check": "pow"}
    server.admin_ok("PATCH", f"/sales/{sale}", changes)
    seen = {entry["detail"] for entry in audit("sale.change", f"sale {sale} ")}

    def text(value):
        return json.dumps(value)
    equal(seen, {f"sale {sale} {name}: {text(before[name])} → {text(value)}" for name, value in changes.items()})


@rule
def a_sync_that_fails_leaves_the_outcome_unknown_and_the_key_settles_it():
    item, key = server.open_item(total=10), new_key()
    eventually(lambda: server.metrics()["stampede_order_lag"] == 0)
    with server.failing():
        try:
            problem(adjust(item, 4, key), 504, "outcome-unknown")
        except (OSError, Closed):
            pass  # the server stops: it may be faster than its answer
        server.wait()
    server.start()
    equal(adjust(item, 4, key).json()["applied"], 4)
    equal(given(item), 14)


@rule
def a_purchase_has_a_key_too():
    item, buyer = server.open_item(total=3, limit_per_user=0), Buyer(server)
    give = buyer.get_pass(item)
    won = buyer.win(item, key="k", give=give)
    equal(buyer.win(item, key="k", give=give)["ticket"], won["ticket"])


@rule
def the_server_stops_cleanly_and_its_data_verifies():
    server.stop()
    server.verify()


run()
