# SPDX-License-Identifier: Apache-2.0
"""Who comes too fast, and who is who behind proxies: rates by address and user, PROXY protocol, X-Forwarded-For,
connections by address. Real proxies: deploy_test.py."""
import re
import socket
import time

from kit.harness import Buyer, Closed, Connection, Server, equal, eventually, problem, rule, run, true

BURST = 5
SLOW = {"limits.address_per_s": 1, "limits.address_burst": BURST}
plain = Server(settings=SLOW).start()
behind = Server(settings={**SLOW, "proxy.trusted": "127.0.0.1, 10.0.0.0/8"}).start()
told = Server(settings={**SLOW, "proxy.trusted": "127.0.0.1", "proxy.protocol": "on"})
told.spawn()  # its /readyz wants the header too


class From(Connection):
    """A connection from another address of this machine, perhaps with something ahead of its requests."""

    def __init__(self, server, source="127.0.0.1", ahead=b""):
        self.socket = socket.create_connection(("127.0.0.1", server.port), 20, (source, 0))
        self.rest = b""
        self.send(ahead)


def times(server, count=BURST + 1, path="/v1/time", source="127.0.0.1", ahead=b"", headers=None):
    """The statuses of so many requests on one connection."""
    with From(server, source, ahead) as connection:
        return [connection.request("GET", path, None, headers or {}).status for _ in range(count)]


ALL = [200] * BURST + [429]


def line(address, family="TCP4"):
    return f"PROXY {family} {address} {address} 1 2\r\n".encode()


def block(address):
    return b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c" + socket.inet_aton(address) * 2 + b"\0\1\0\2"


@rule
def a_burst_goes_then_too_fast_with_a_time_to_come_back():
    with From(plain, "127.0.1.1") as connection:
        for _ in range(BURST):
            equal(connection.request("GET", "/v1/time").status, 200)
        waits = set()
        for _ in range(20):
            reply = connection.request("GET", "/v1/time")
            problem(reply, 429, "too-fast")
            waits.add(int(reply.headers["retry-after"]))
        true(all(1 <= wait <= 6 for wait in waits), f"Retry-After {waits}")
        true(len(waits) > 1, f"no jitter: {waits}")
    equal(times(plain, source="127.0.1.2"), ALL)  # another address has its own


@rule
def waiting_as_told_lets_one_in_again():
    equal(times(plain, source="127.0.1.3"), ALL)
    time.sleep(1.1)
    equal(times(plain, 2, source="127.0.1.3"), [200, 429])


@rule
def eight_pages_count_as_one_request_and_health_does_not_count():
    equal(times(plain, 20, "/livez", source="127.0.1.25"), [200] * 20)
    equal(times(plain, 8, "/", source="127.0.1.25"), [200] * 8)
    equal(times(plain, BURST, source="127.0.1.25"), [200] * (BURST - 1) + [429])
    equal(times(plain, 1, "/", source="127.0.1.25"), [429])
    equal(times(plain, path="/metrics", source="127.0.1.26"), ALL)
    equal(times(plain, path="/openapi.json", source="127.0.1.27"), ALL)


@rule
def purchases_and_other_requests_share_the_bucket():
    item = plain.open_item(total=10)
    with From(plain, "127.0.1.4") as connection:
        session = connection.request("POST", "/v1/session").json()["session"]
        fields = {"Authorization": f"Bearer {session}"}
        fields["Stampede-Pass"] = connection.request("POST", f"/v1/items/{item}/pass", None, fields).json()["pass"]
        equal(connection.request("POST", f"/v1/items/{item}/buy", None, fields).status, 202)
        equal(connection.request("GET", "/v1/time").status, 200)
        equal(connection.request("GET", "/v1/sales").status, 200)
        reply = connection.request("POST", f"/v1/items/{item}/buy", None, fields)
        problem(reply, 429, "too-fast")
        true(1 <= int(reply.headers["retry-after"]) <= 6)
        equal(connection.request("POST", "/v1/session").status, 429)
    seen = plain.get("/metrics").body.decode()
    true('stampede_door_total{answer="too-fast"} 1' in seen, "not counted at the door")
    true(re.search(r'stampede_limits_refused_total\{layer="address"\} [1-9]', seen), "not counted by its layer")


@rule
def a_long_window_says_how_long_it_is():
    """Told to come back too early, one would be counted again each time and never get in."""
    server = Server(settings={"limits.user_requests": 1, "limits.user_window_ms": 1200000}).start()
    first, second = server.open_item(), server.open_item()
    buyer = Buyer(server)
    equal(buyer.buy(first).status, 202)
    for headers in ({}, {"Connection": "close"}):  # rendered at start, and on its own
        reply = buyer.buy(second, headers=headers)
        problem(reply, 429, "too-fast")
        true(1190 <= int(reply.headers["retry-after"]) <= 1206, f"Retry-After {reply.headers['retry-after']}")
    server.stop()


@rule
def nobody_is_believed_who_is_not_trusted():
    got = [times(plain, 1, source="127.0.1.5", headers={"X-Forwarded-For": f"203.0.113.{i}"})[0] for i in range(BURST + 1)]
    equal(got, ALL)
    got = [times(behind, 1, source="127.0.1.5", headers={"X-Forwarded-For": f"203.0.113.{i}"})[0] for i in range(BURST + 1)]
    equal(got, ALL)


@rule
def two_clients_behind_a_trusted_proxy_have_a_bucket_each():
    equal(times(behind, headers={"X-Forwarded-For": "203.0.113.1"}), ALL)
    equal(times(behind, headers={"X-Forwarded-For": "203.0.113.2, 10.1.1.1"}), ALL)
    # Whatever a client wrote itself stands further left.
    equal(times(behind, 1, headers={"X-Forwarded-For": "203.0.113.99, 203.0.113.1"}), [429])
    # Neighbours in one IPv6 network are one.
    equal(times(behind, headers={"X-Forwarded-For": "2001:db8:1::1"}), ALL)
    equal(times(behind, 1, headers={"X-Forwarded-For": "2001:db8:1::2"}), [429])
    equal(times(behind, 1, headers={"X-Forwarded-For": "2001:db8:1:1::2"}), [200])


@rule
def nonsense_from_a_trusted_proxy_counts_for_the_proxy():
    got = [times(behind, 1, headers={"X-Forwarded-For": value})[0]
           for value in ("unknown", "1.2.3.4:80", "[::1]", "", "1.2.3", "999.1.1.1")]
    equal(got, ALL)


@rule
def the_proxy_protocol_names_the_client_in_both_versions():
    eventually(lambda: told.alive() and reachable(told), "not ready")
    equal(times(told, ahead=line("203.0.113.1")), ALL)
    equal(times(told, ahead=block("203.0.113.2")), ALL)
    equal(times(told, 1, ahead=block("203.0.113.1")), [429])
    equal(times(told, 1, ahead=line("2001:db8::1", "TCP6")), [200])


@rule
def who_is_named_by_nobody_can_not_name_himself():
    for ahead in (b"PROXY UNKNOWN\r\n", b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"):
        got = [times(told, 1, ahead=ahead, headers={"X-Forwarded-For": f"203.0.113.{i}"})[0] for i in range(40, 41 + BURST)]
        true(429 in got, f"each was somebody else: {got}")


def reachable(server):
    try:
        return times(server, 1, "/readyz", ahead=b"PROXY UNKNOWN\r\n") == [200]
    except (OSError, Closed):
        return False


@rule
def a_bad_or_missing_proxy_header_is_a_malformed_request():
    for ahead in (b"", b"PROXY TCP4 203.0.113.1\r\n", b"PROXY TCP4 a b 1 2\r\n", b"\r\n\r\n\0\r\nQUIT\n\x99\x11\0\x0c" + b"x" * 12):
        with From(told, ahead=ahead) as connection:
            problem(connection.request("GET", "/livez"), 400, "malformed-request")
    for server, source in ((told, "127.0.0.9"), (plain, "127.0.0.1"), (behind, "127.0.0.1")):
        for ahead in (line("203.0.113.1"), block("203.0.113.1")):
            with From(server, source, ahead) as connection:
                problem(connection.request("GET", "/livez"), 400, "malformed-request")
    equal(times(told, 1, "/livez", source="127.0.0.9"), [200])  # who is not trusted speaks for himself


@rule
def an_address_has_so_many_connections_and_a_closed_one_makes_room():
    server = Server(settings={"limits.connections_per_address": 3}).start()
    open_ones = [From(server, "127.0.2.1") for _ in range(3)]
    for connection in open_ones:
        equal(connection.request("GET", "/livez").status, 200)
    with From(server, "127.0.2.1") as connection:
        reply = connection.read_reply()
        problem(reply, 429, "too-fast")  # a page that knows no other words has these
        true(1 <= int(reply.headers["retry-after"]) <= 5, "when may one come back?")
    equal(times(server, 1, "/livez", source="127.0.2.2"), [200])
    open_ones.pop().close()
    eventually(lambda: connected(server, "127.0.2.1"), "its place stays taken")
    for connection in open_ones:
        equal(connection.request("GET", "/livez").status, 200)
        connection.close()
    server.stop()


def connected(server, source):
    try:
        return times(server, 1, "/livez", source=source) == [200]
    except (OSError, Closed):
        return False


@rule
def a_user_is_too_fast_but_who_has_bought_is_still_told():
    server = Server(settings={"limits.user_requests": 3, "limits.user_window_ms": 60000}).start()
    item = server.open_item(total=100)
    winner = Buyer(server)
    equal(winner.buy(item).status, 202)
    for _ in range(6):
        problem(winner.buy(item), 409, "already-bought")
    hasty = Buyer(server)
    for _ in range(3):  # more than one may have, so that nothing is bought
        problem(hasty.buy(item, quantity=2), 409, "limit-reached")
    for _ in range(3):
        reply = hasty.buy(item, quantity=2)
        problem(reply, 429, "too-fast")
        true(60 <= int(reply.headers["retry-after"]) <= 65, reply.headers["retry-after"])
    equal(Buyer(server).buy(item).status, 202)
    server.stop()


@rule
def admission_and_its_switch_are_live():
    server = Server(settings={"limits.admission_per_s": 1}).start()
    item = server.open_item(total=1000)
    buyers = [Buyer(server) for _ in range(12)]
    got = [buyer.buy(item) for buyer in buyers[:4]]
    true(got[0].status == 202 and [reply.status for reply in got].count(503) >= 2, f"{[r.status for r in got]}")
    refused = [reply for reply in got if reply.status == 503][0]
    problem(refused, 503, "too-popular")
    true(1 <= int(refused.headers["retry-after"]) <= 7)
    equal(server.admin("PATCH", "/switches", {"admission_per_s": 0}).status, 200)
    equal([buyer.buy(item).status for buyer in buyers[4:]], [202] * 8)
    equal(server.admin("PATCH", "/switches", {"address_rate": 1}).status, 200)
    true(429 in times(server, 250, source="127.0.2.9"), "the switch of the address rate does nothing")
    equal(server.admin("PATCH", "/switches", {"bypass_address_limit": True}).status, 200)
    true(429 not in times(server, 250, source="127.0.2.9"), "the bypass does nothing")
    server.stop()


@rule
def settings_that_make_no_sense_are_refused():
    for name, value, words in (("proxy.protocol", "maybe", "on or off"), ("proxy.trusted", "10.0.0.1/8", "proxy.trusted"),
                               ("proxy.trusted", "proxy.example", "proxy.trusted"), ("proxy.protocol", "on", "whose headers"),
                               ("limits.address_per_s", "-1", "whole number"), ("limits.v6_prefix", "129", "out of bounds")):
        code, said = Server(settings={name: value}).start_refused()
        equal(code, 2, said)
        true(words in said, f"{name} = {value}: {said}")


@rule
def the_servers_stop_cleanly():
    for server in (plain, behind, told):
        server.stop()
    plain.verify()


run()
