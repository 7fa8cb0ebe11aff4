#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""More clients than the tables that they share are made for: nobody is refused for it, and an alarm says what to raise."""
from kit.harness import Server, equal, eventually, request_bytes, rule, run, true

PEOPLE = 2400       # with 1,000 used passes in mind, some neighbourhoods of the set are full by then
CONNECTIONS = 40
AT_ONCE = 100

server = Server({"human.spent_max": 1000, "server.connections_max": CONNECTIONS, "server.threads": 1,
                 "limits.user_entries": 64, "limits.user_requests": 10, "limits.user_window_ms": 60000}).start()


def alarm(name):
    alarms = {row["name"]: row for row in server.admin_ok("GET", "/alarms", role="viewer")["alarms"]}
    return alarms[name]["up"] and alarms[name]["detail"]


def answers(requests):
    """Of one connection, many requests under way at a time."""
    replies = []
    with server.connect() as connection:
        for at in range(0, len(requests), AT_ONCE):
            some = requests[at:at + AT_ONCE]
            connection.send(b"".join(some))
            replies.extend(connection.read_reply() for _ in some)
    return replies


@rule
def a_full_table_of_used_passes_refuses_nobody_and_is_told():
    sale = server.sale(pass_once=True)
    item = server.item(sale, total=PEOPLE)
    server.publish(sale)
    equal(alarm("spent-crowded"), False)
    sessions = [reply.json()["session"] for reply in answers([request_bytes("POST", "/v1/session", None, {})] * PEOPLE)]
    passes = [reply.json()["pass"] for reply in answers(
        [request_bytes("POST", f"/v1/items/{item}/pass", None, {"Authorization": f"Bearer {session}"}) for session in sessions])]
    bought = answers([request_bytes("POST", f"/v1/items/{item}/buy", None, {"Stampede-Pass": give}) for give in passes])
    equal({reply.status for reply in bought}, {202})
    true("human.spent_max" in eventually(lambda: alarm("spent-crowded"), "no alarm"), "the alarm does not say what to raise")
    true(server.metrics()["stampede_spent_forgotten_total"] < PEOPLE / 10, "too much was forgotten")


@rule
def an_alarm_comes_before_connections_are_refused_and_ends_when_they_are_closed():
    equal(alarm("connections-nearly-full"), False)
    refused = server.metrics()["stampede_edge_connections_refused_total"]
    connections = [server.connect() for _ in range(CONNECTIONS * 9 // 10)]
    detail = eventually(lambda: alarm("connections-nearly-full"), "no alarm")
    true(f"of {CONNECTIONS}" in detail and "server.connections_max" in detail, detail)
    equal(server.metrics()["stampede_edge_connections_max"], CONNECTIONS)
    true(server.metrics()["stampede_edge_connections_open"] >= len(connections), "fewer connections than there are")
    equal(server.metrics()["stampede_edge_connections_refused_total"], refused)
    for connection in connections:
        connection.close()
    eventually(lambda: not alarm("connections-nearly-full"), "the alarm stays")


@rule
def a_table_of_limits_that_is_too_small_was_told_too_and_both_alarms_end_by_themselves():
    """The crowd of the first rule; both end a minute after the last sign of it."""
    true(sum(value for name, value in server.metrics().items() if name.startswith("stampede_limits_evicted_total")) > 0,
         "nobody lost an entry")
    rows = {row["name"]: row for row in server.admin_ok("GET", "/alarms", role="viewer")["alarms"]}
    true("limits.user_entries" in rows["limits-crowded"]["detail"], rows["limits-crowded"])
    for name in ("limits-crowded", "spent-crowded"):
        eventually(lambda n=name: not alarm(n), f"{name} stays", patience_s=120)
        equal(server.log().count(f"cleared name={name}"), 1)


run()
