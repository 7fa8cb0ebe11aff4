# SPDX-License-Identifier: Apache-2.0
"""What an operator tells those who wait in a waiting room: bounded, as text, at once by push, kept over kill -9, in the audit trail."""
from kit.harness import equal, eventually, problem, rule, run, true
from kit.push_client import Push
from kit.room_guests import Guest, room, server

EVIL = '<img src=x onerror="alert(1)"> \\ "quoted"'
LONGEST = "排" * 120


def tell(sale, message, role="operator"):
    return server.admin("POST", f"/sales/{sale}/message", {"message": message}, role)


def shown(sale, guest):
    return guest.look(sale).json().get("message")


@rule
def who_waits_reads_it_with_his_place_and_later_comers_too():
    sale, _, guest = room()
    equal(shown(sale, guest), None)
    equal(tell(sale, "Ten minutes later. 推迟十分钟。").json()["room_message"], "Ten minutes later. 推迟十分钟。")
    eventually(lambda: shown(sale, guest) == "Ten minutes later. 推迟十分钟。", "no message")
    other = Guest(server)
    equal(other.enter(sale).json()["message"], "Ten minutes later. 推迟十分钟。")
    equal(tell(sale, "").status, 200)
    eventually(lambda: shown(sale, guest) is None, "the message stays")


@rule
def push_brings_it_without_being_asked():
    sale, _, guest = room()
    with Push(server, guest.session, path=f"/v1/push?room={sale}") as push:
        push.until(lambda message: message["type"] == "room" and "message" not in message)
        for text in ("first", "second"):
            tell(sale, text)
            push.until(lambda message, text=text: message["type"] == "room" and message.get("message") == text)


@rule
def it_is_text_of_one_line_and_not_too_long():
    sale, _, guest = room()
    for text in (EVIL, LONGEST, '"' * 120):
        equal(tell(sale, text).status, 200)
        eventually(lambda text=text: shown(sale, guest) == text, text)
    for text in ("x" * 121, LONGEST + "队", "two\nlines", " before", "behind ", "hidden\u202emark", "\u200b"):
        problem(tell(sale, text), 422, "bad-value")
    problem(server.admin("POST", f"/sales/{sale}/message", {}, "operator"), 422, "bad-value")
    problem(tell(sale, "x", "viewer"), 403, "admin-role")
    equal(shown(sale, guest), '"' * 120, "a refused one changes nothing")


@rule
def a_sale_without_a_room_has_no_message():
    item = server.open_item(total=1)
    sale = server.get(f"/v1/items/{item}").json()["sale"]
    problem(tell(sale, "x"), 409, "conflict")
    problem(tell(16000, "x"), 404, "unknown-sale")


@rule
def it_survives_a_kill_and_is_not_inherited_by_a_clone():
    sale, _, guest = room()
    tell(sale, "kept")
    server.kill()
    server.start()
    eventually(lambda: shown(sale, guest) == "kept", "gone")
    row = server.admin_ok("GET", f"/sales/{sale}")
    clone = server.admin_ok("POST", f"/sales/{sale}/clone", {"start_ms": row["start_ms"] + 3600000, "end_ms": row["end_ms"] + 7200000})
    equal((row["room_message"], clone["room_message"]), ("kept", ""))


@rule
def the_audit_trail_has_each_message_once():
    sale, _, _ = room()
    tell(sale, "said")
    tell(sale, "said")
    rows = [row for row in server.admin_ok("GET", "/audit")["audit"] if row["action"] == "sale.message" and row["detail"].startswith(f"sale {sale} ")]
    equal([row["detail"] for row in rows], [f'sale {sale} "said"'])
    true(rows[0]["actor"] != "", rows)


run()
