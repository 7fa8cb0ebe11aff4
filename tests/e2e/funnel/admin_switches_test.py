# SPDX-License-Identifier: Apache-2.0
"""The degrade switches: turned while the server runs, seen by the next request, audited, shown, gone after a restart."""
import os
import sqlite3
import subprocess

from kit.harness import Buyer, Server, equal, problem, rule, run, true

server = Server().start()

# One address, and users who may ask three times in an hour.
strict = Server(settings={"limits.address_burst": 1, "limits.user_requests": 3, "limits.user_window_ms": 3600000}).start()

OFF = {"pow_boost": 0, "admission_per_s": 0, "address_rate": 0, "room_rate": 1000, "refuse_new": False, "bypass_address_limit": False,
       "bypass_user_limit": False, "bypass_human_check": False, "bypass_waiting_room": False, "sold_out_items": []}


def switches(**wanted):
    return server.admin_ok("PATCH", "/switches", wanted, role="operator") if wanted else server.admin_ok("GET", "/switches", role="viewer")


def metric(name):
    line = f'stampede_switch{{name="{name}"}} '
    found = [row for row in server.get("/metrics").body.decode().splitlines() if row.startswith(line)]
    equal(len(found), 1, line)
    return int(found[0][len(line):])


def audit():
    entries, after = [], 0
    while True:
        page = server.admin_ok("GET", f"/audit?after={after}")
        entries += [entry for entry in page["audit"] if entry["action"] == "switch.set"]
        if "next" not in page:
            return entries
        after = page["next"]


@rule
def they_start_as_configured():
    first = switches()
    equal(set(first), set(OFF))
    for name in ("pow_boost", "room_rate", "refuse_new", "bypass_human_check", "bypass_waiting_room", "sold_out_items"):
        equal(first[name], OFF[name], name)


@rule
def each_is_set_alone_shown_in_metrics_and_audited_once():
    start = switches()
    wanted = {"pow_boost": 10, "admission_per_s": 5000, "address_rate": 70, "room_rate": 0, "bypass_address_limit": True,
              "bypass_user_limit": True, "bypass_human_check": True, "bypass_waiting_room": True}
    for name, value in wanted.items():
        entries = len(audit())
        was = switches()
        equal(switches(**{name: value}), {**was, name: value})
        equal(metric(name), int(value))
        equal(switches(**{name: value})[name], value)
        told = audit()
        equal(len(told), entries + (was[name] != value), "a change is one entry, no change is none")
        true(told[-1]["detail"].startswith(f"{name}: {int(value)}, was {int(was[name])}"), told[-1])
    equal(switches(**{name: start[name] for name in wanted}), start)


@rule
def what_is_wrong_changes_nothing():
    start, entries = switches(), len(audit())
    for wrong in ({"pow_boost": 11}, {"pow_boost": -1}, {"pow_boost": True}, {"refuse_new": 1}, {"admission_per_s": 1000001}, {"room_rate": 1000001}, {"room_rate": -1},
                  {"address_rate": "5"}, {"bypass_user_limit": None}, {"unknown": 1}, {"sold_out_items": 1},
                  {"sold_out_items": ["1"]}, {"sold_out_items": [0]}, {"sold_out_items": [262144]}, {"sold_out_items": [60000]},
                  {"sold_out_items": [1] * 201}):
        problem(server.admin("PATCH", "/switches", {"pow_boost": 5, **wrong}), 422, "bad-value")
    problem(server.admin("PATCH", "/switches", []), 400, "bad-body")
    problem(server.admin("PATCH", "/switches", {"pow_boost": 5}, role="viewer"), 403, "admin-role")
    equal(switches(), start)
    equal(len(audit()), entries)


@rule
def nobody_new_means_no_session_and_no_pass_but_who_may_have_bought_gets_one():
    item = server.open_item()
    winner, other = Buyer(server), Buyer(server)
    ticket = winner.win(item)["ticket"]
    held = other.get_pass(item)
    switches(refuse_new=True)
    refusal = server.request("POST", "/v1/session")
    problem(refusal, 503, "too-popular")
    true(int(refusal.headers["retry-after"]) >= 1)
    problem(other.ask_pass(item), 503, "too-popular")
    equal(problem(winner.buy(item), 409, "already-bought")["ticket"], ticket)
    equal(other.buy(item, give=held).status, 202)  # who was in goes on
    equal(winner.order(ticket)["ticket"], ticket)
    switches(refuse_new=False)
    Buyer(server).win(item)


@rule
def an_item_answers_sold_out_unseen_and_its_units_are_all_still_there():
    item, beside = server.open_item(total=3), server.open_item()
    winner = Buyer(server)
    ticket = winner.win(item)["ticket"]
    equal(switches(sold_out_items=[item])["sold_out_items"], [item])
    equal(metric("sold_out_items"), 1)
    equal(problem(Buyer(server).buy(item), 409, "sold-out")["free"], 0)
    equal(problem(winner.buy(item), 409, "already-bought")["ticket"], ticket)
    Buyer(server).win(beside)
    equal(switches(sold_out_items=[beside, item, item])["sold_out_items"], sorted([item, beside]))
    problem(Buyer(server).buy(beside), 409, "sold-out")
    equal(switches(sold_out_items=[])["sold_out_items"], [])
    Buyer(server).win(item)
    Buyer(server).win(item)
    problem(Buyer(server).buy(item), 409, "sold-out")


@rule
def whoever_declares_an_item_sold_out_is_in_the_audit_trail():
    item = server.open_item()
    entries = len(audit())
    switches(sold_out_items=[item])
    switches(sold_out_items=[item])
    switches(sold_out_items=[])
    told = [entry["detail"] for entry in audit()[entries:]]
    equal(told, [f"sold_out_items: item {item} answers sold out without a check", f"sold_out_items: item {item} is sold again"])


@rule
def a_switch_whose_audit_entry_can_not_be_written_is_not_turned():
    item, entries = server.open_item(), len(audit())
    database = sqlite3.connect(os.path.join(server.data, "stampede.db"), timeout=10, isolation_level=None)
    database.execute("begin immediate")
    problem(server.admin("PATCH", "/switches", {"pow_boost": 7, "sold_out_items": [item]}, role="operator"), 503, "unavailable")
    database.execute("rollback")
    database.close()
    equal((switches()["pow_boost"], switches()["sold_out_items"]), (0, []))
    equal(len(audit()), entries)
    Buyer(server).win(item)


@rule
def the_command_line_turns_them_too():
    item = server.open_item()

    def command(*words):
        ran = subprocess.run([server.binary, "admin", "--url", f"http://127.0.0.1:{server.port}", "switches", *words],
                             env={"STAMPEDE_ADMIN_KEY": server.keys["operator"]}, capture_output=True, text=True, timeout=30)
        return ran.returncode, ran.stdout + ran.stderr

    code, text = command("set", "--refuse-new", "yes", "--pow-boost", "4", "--sold-out-items", str(item))
    equal(code, 0, text)
    shown = switches()
    equal((shown["refuse_new"], shown["pow_boost"], shown["sold_out_items"]), (True, 4, [item]))
    true("refuse_new: yes" in text and "pow_boost: 4" in text, text)
    equal(command()[1], text)
    equal(command("set", "--refuse-new", "maybe")[0], 2)
    equal(command("set", "--pow-boost", "11")[0], 1)
    equal(command("set", "--refuse-new", "no", "--pow-boost", "0", "--sold-out-items", "none")[0], 0)
    equal(switches()["sold_out_items"], [])


def passes(item, count):
    return [Buyer(strict).get_pass(item) for _ in range(count)]


def statuses(item, given):
    """Of purchases one after another, one with each pass."""
    with strict.connect() as connection:
        return [connection.request("POST", f"/v1/items/{item}/buy", headers={"Stampede-Pass": one}).status for one in given]


def turn(**wanted):
    strict.admin_ok("PATCH", "/switches", wanted)


@rule
def fewer_are_let_in_at_once_and_all_again_when_it_is_turned_back():
    item = strict.open_item(total=100)
    turn(admission_per_s=1)
    true(503 in statuses(item, passes(item, 12)), "twelve in a moment at one a second")
    turn(admission_per_s=0)
    equal(statuses(item, passes(item, 12)), [202] * 12)


@rule
def an_address_is_slowed_down_and_the_layer_can_be_left_out():
    item = strict.open_item(total=100)
    first, second, third = (passes(item, 12) for _ in range(3))
    turn(address_rate=1)
    true(429 in statuses(item, first), "twelve in a moment at one a second")
    turn(bypass_address_limit=True)
    equal(statuses(item, second), [202] * 12)
    turn(bypass_address_limit=False)
    true(429 in statuses(item, third))
    turn(address_rate=0)
    equal(statuses(item, passes(item, 12)), [202] * 12)


@rule
def who_hammers_is_let_in_while_that_layer_is_left_out():
    item = strict.open_item(sale_fields={"eligible_only": True})  # nobody is, so nobody becomes a buyer
    mine = Buyer(strict).get_pass(item)
    equal(statuses(item, [mine] * 6), [403] * 3 + [429] * 3)
    turn(bypass_user_limit=True)
    equal(statuses(item, [mine] * 6), [403] * 6)
    turn(bypass_user_limit=False)
    equal(statuses(item, [mine] * 2), [429] * 2)


@rule
def a_restart_begins_as_configured():
    switches(pow_boost=6, refuse_new=True)
    server.restart(kill=True)
    equal((switches()["pow_boost"], switches()["refuse_new"]), (0, False))
    other = Server(settings={"switches.pow_boost": "7", "switches.bypass_human_check": "yes"}).start()
    shown = other.admin_ok("GET", "/switches")
    equal((shown["pow_boost"], shown["bypass_human_check"]), (7, True))


run()
