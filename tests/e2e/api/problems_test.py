# SPDX-License-Identifier: Apache-2.0
"""Bad input: each a problem document that says what is wrong, and nothing changed; malformed HTTP: 4xx and closed."""
import socket
import time

from kit.harness import Buyer, Closed, Server, among, base64url, equal, problem, request_bytes, rule, run, true

server = Server(settings={"channels.names": "web,app"}).start()
short = Server(settings={"pass.life_s": 1})  # passes that are over soon
item = server.open_item(total=7, limit_per_user=0)
buyer = Buyer(server)


def nothing_changes(test):
    """The rule leaves the counts and the order rows as they were."""
    def checked():
        before = server.counts(item), server.item_orders(item)
        test()
        equal((server.counts(item), server.item_orders(item)), before, "something changed")
    checked.__name__ = test.__name__
    return rule(checked)


def buy(body, **more):
    return buyer.buy(item, body=body, key="k", **more)


@nothing_changes
def quantities_that_are_no_whole_number_from_1_to_1000_are_refused():
    for number in ("0", "-1", "-0", "1001", "2147483647", "2147483648", "4294967296", "4294967297",
                   "9223372036854775808", "18446744073709551616", "18446744073709551617", "1e3", "1E0", "1.0", "0.5",
                   "01", "00", '"2"', "null", "true", "[1]", "{}", "NaN", "Infinity", "+1", "0x1", "-9223372036854775809"):
        reply = buy(b'{"quantity":' + number.encode() + b"}")
        among((reply.status, reply.json()["type"]), ((422, "/problems/bad-quantity"), (400, "/problems/bad-body")), number)
        problem(reply, reply.status, reply.json()["type"].split("/")[-1])
    for number in ("0", "-1", "2147483648", "18446744073709551616", "1e3", "1.0", '"2"', "null", "true"):
        problem(buy(b'{"quantity":' + number.encode() + b"}"), 422, "bad-quantity")


@nothing_changes
def bodies_that_are_not_what_is_expected_are_refused():
    for body in (b"{", b"}", b"[]", b"[1]", b"1", b'"x"', b"nul", b"true", b"{]", b'{"quantity"}',
                 b'{"quantity":1,}', b'{"quantity":1 "channel":"web"}', b"{'quantity':1}", b'{"quantity":1}x', b'{"quantity":1}{}',
                 b'{"Quantity":1}', b'{"amount":1}', b'{"quantity":1,"price":0}', b'{"quantity":1,"quantity":1}',
                 b"\xff\xfe", b"\x00", b'{"quantity":1}\x00', b"quantity=1", b" ", b'{"\\u0071uantity":1}', b"{" * 10000):
        problem(buy(body), 400, "bad-body")


@nothing_changes
def channels_that_are_not_there_are_refused():
    for channel in (b'"safety"', b'"phone"', b'""', b'"WEB"', b'"web "', b'"a' + b"b" * 100 + b'"', b"1", b"null", b'"we\\u0062"',
                    b'"web\xc3\xa9"'):
        problem(buy(b'{"channel":' + channel + b"}"), 422, "bad-channel")


@nothing_changes
def keys_that_are_no_keys_are_refused():
    for key in ("", '""', "x" * 65, '"' + "x" * 65 + '"', "a b", "a\tb", 'a"b', "\u00e9"):
        problem(buyer.buy(item, key=key), 400, "bad-key")
    problem(buyer.buy(item), 400, "key-required")


@nothing_changes
def bodies_that_are_too_long_get_413_and_the_connection_closes():
    for head in (b"Content-Length: 65537\r\n", b"Content-Length: 99999999999\r\n"):
        with server.connect() as connection:
            connection.send(b"POST /v1/items/1/buy HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n")
            problem(connection.read_reply(), 413, "malformed-request")
            true(connection.closes(), "still open")
    with server.connect() as connection:
        connection.send(b"POST /v1/items/1/buy HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n10001\r\n")
        problem(connection.read_reply(), 413, "malformed-request")
        true(connection.closes(), "still open")
    problem(buy(b" " * 4096), 400, "bad-body")


@nothing_changes
def each_address_takes_bodies_of_its_own_length_known_before_they_are_read():
    order = "0123456789abcdef"
    for path, longest in ((f"/v1/items/{item}/buy", 4096), (f"/v1/items/{item}/intent", 4096), (f"/v1/orders/{order}/pay", 4096),
                          ("/v1/intents/pay", 8192), ("/v1/session", 8192), (f"/v1/items/{item}/pass", 8192), ("/nowhere", 8192),
                          ("/v1/payments/sandbox/callback", 65536), ("/admin/v1/sales", 65536)):
        for size, refused in ((longest, False), (longest + 1, True)):
            with server.connect(timeout_s=2 if refused else 0.1) as connection:
                connection.send(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n{{".encode())
                if refused:
                    problem(connection.read_reply(), 413, "malformed-request")
                    true(connection.closes(), "still open")
                    continue
                try:
                    reply = connection.read_reply()
                except TimeoutError:
                    continue  # it waits for the body
                true(False, f"{path} with {size} bytes: {reply}")


@nothing_changes
def a_chunked_body_may_not_be_longer_either():
    def chunked(size):
        body = b"".join(b"400\r\n" + b" " * 1024 + b"\r\n" for _ in range(size // 1024)) + b"0\r\n\r\n"
        with server.connect() as connection:
            connection.send(f"POST /v1/items/{item}/buy HTTP/1.1\r\nHost: x\r\nStampede-Pass: {buyer.get_pass(item)}\r\n"
                            "Transfer-Encoding: chunked\r\n\r\n".encode() + body)
            return connection.read_reply()
    problem(chunked(4096), 400, "bad-body")
    problem(chunked(5120), 413, "malformed-request")


@nothing_changes
def unknown_things_are_404():
    for path in ("/v1/items/999", "/v1/items/0", "/v1/items/4294967296", "/v1/items/-1", "/v1/items/x"):
        problem(server.get(path), 404, "unknown-item")
        among(buyer.ask_pass(path.split("/")[-1]).status, (404,))
    for path in ("/v1/sales/999", "/v1/sales/0", "/v1/sales/x", "/v1/sales/1/items", "/v1/sales/99999999999"):
        problem(server.get(path), 404, "unknown-sale")
    for path in ("/v1/nothing", "/v1/", f"/v1/items/{item}/nothing", f"/v1/items/{item}/", f"/v1/items/{item}e0", "/v2/items", "/nothing.html",
                 "/../etc/passwd", "/%2e%2e/etc/passwd", "//"):
        problem(server.get(path), 404, "not-found")
    give = buyer.get_pass(item)
    for unknown in (999, 0, 4294967295):
        problem(server.request("POST", f"/v1/items/{unknown}/buy", headers={"Stampede-Pass": give}), 404, "unknown-item")
    among(server.request("POST", "/v1/items/4294967297/buy", headers={"Stampede-Pass": give}).status, (404, 405))


@nothing_changes
def methods_that_an_address_does_not_take_are_405():
    for method, path in (("GET", f"/v1/items/{item}/buy"), ("PUT", f"/v1/items/{item}/buy"), ("DELETE", f"/v1/items/{item}"),
                         ("POST", "/v1/time"), ("GET", "/v1/session"), ("GET", f"/v1/items/{item}/pass"),
                         ("POST", f"/v1/items/{item}/mine"), ("PATCH", "/v1/sales"), ("POST", "/"), ("BREW", "/v1/time")):
        problem(server.request(method, path, headers={"Stampede-Pass": "x"}), 405, "method-not-allowed")


def flipped(token, at):
    letter = "A" if token[at] != "A" else "B"
    return token[:at] + letter + token[at + 1:]


@nothing_changes
def forged_sessions_are_refused():
    good = buyer.session
    for session in ("x", "A" * 48, good[:-1], good + "A", *(flipped(good, at) for at in range(0, 48, 5)), buyer.get_pass(item),
                    base64url(b"\xff" * 36), "é" * 48):
        reply = server.request("POST", f"/v1/items/{item}/pass", session=session)
        problem(reply, 401, "session-invalid")
    problem(server.request("POST", f"/v1/items/{item}/pass"), 401, "session-required")
    for authorization in ("", "Bearer", "Bearer ", good, f"Basic {good}", f"Bearer{good}"):
        reply = server.request("POST", f"/v1/items/{item}/pass", headers={"Authorization": authorization})
        problem(reply, 401, "session-invalid")


@nothing_changes
def forged_passes_are_refused():
    give = buyer.get_pass(item)
    for wrong in ("x", "A" * 48, give[:-1], give + "A", *(flipped(give, at) for at in range(0, 48, 5)), buyer.session):
        reply = buy(b"{}", give=wrong)
        among(reply.json()["type"], ("/problems/pass-invalid", "/problems/pass-expired"))  # a time without a key
        problem(reply, 403, reply.json()["type"].split("/")[-1])
    problem(buy(b"{}", give=flipped(give, 47)), 403, "pass-invalid")
    problem(buy(b"{}", give=flipped(give, 0)), 403, "pass-invalid")
    problem(server.request("POST", f"/v1/items/{item}/buy"), 403, "pass-required")
    problem(server.request("POST", f"/v1/items/{item}/buy", session=buyer.session), 403, "pass-required")


@nothing_changes
def foreign_passes_are_refused():
    other, elsewhere = Buyer(server), server.open_item()
    problem(buyer.buy(item, key="k", give=buyer.get_pass(elsewhere)), 403, "pass-foreign")
    give = other.get_pass(item)
    problem(buy(b"{}", give=give, headers={"Authorization": f"Bearer {buyer.session}"}), 403, "pass-foreign")
    problem(buy(b"{}", give=buyer.get_pass(item), headers={"Authorization": "Bearer x"}), 401, "session-invalid")


@nothing_changes
def an_expired_pass_is_refused():
    short.start()
    sold = short.open_item(total=1)
    late = Buyer(short)
    reply = late.ask_pass(sold).json()
    while short.now_ms() < reply["expires_ms"]:
        time.sleep(0.02)
    problem(late.buy(sold, give=reply["pass"]), 403, "pass-expired")
    equal(short.counts(sold)["held"], 0)
    short.stop()


PATH = f"/v1/items/{item}/buy".encode()
MALFORMED = {
    "a bare LF in the head": b"GET / HTTP/1.1\nHost: x\n\n",
    "a bare LF after a header": b"GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n",
    "a bare CR": b"GET / HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n",
    "a folded line": b"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n",
    "a folded first line": b"GET / HTTP/1.1\r\n Host: x\r\n\r\n",
    "length and chunked": b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % PATH,
    "two lengths": b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}" % PATH,
    "a list of lengths": b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: 2, 2\r\n\r\n{}" % PATH,
    "a negative length": b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n" % PATH,
    "a signed length": b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: +2\r\n\r\n{}" % PATH,
    "a hex length": b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: 0x2\r\n\r\n{}" % PATH,
    "two codings": b"POST %b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % PATH,
    "a last coding that is not chunked": b"POST %b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n" % PATH,
    "chunked in HTTP/1.0": b"POST %b HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % PATH,
    "a chunk that is no number": b"POST %b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n" % PATH,
    "a chunk that is longer than said": b"POST %b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n" % PATH,
    "a chunk size that overflows": b"POST %b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n" % PATH,
    "a chunk line with a bare LF": b"POST %b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n" % PATH,
    "no Host": b"GET / HTTP/1.1\r\nA: b\r\n\r\n",
    "two Hosts": b"GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
    "a bad Host": b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
    "space before the colon": b"GET / HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n",
    "no colon": b"GET / HTTP/1.1\r\nHost: x\r\nnothing\r\n\r\n",
    "an empty name": b"GET / HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n",
    "a NUL in a value": b"GET / HTTP/1.1\r\nHost: x\r\nA: b\x00c\r\n\r\n",
    "a control character in a value": b"GET / HTTP/1.1\r\nHost: x\r\nA: b\x01c\r\n\r\n",
    "a control character in the target": b"GET /\x01 HTTP/1.1\r\nHost: x\r\n\r\n",
    "a target with bytes above ASCII": b"GET /\xc3\xa9 HTTP/1.1\r\nHost: x\r\n\r\n",
    "a target without a slash": b"GET nothing HTTP/1.1\r\nHost: x\r\n\r\n",
    "two spaces": b"GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
    "HTTP/0.9": b"GET /\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/1.2 in lower case": b"GET / http/1.1\r\nHost: x\r\n\r\n",
    "a TLS hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 64 + b"\r\n\r\n",
    "a header that is too long": b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"b" * 9000 + b"\r\n\r\n",
    "a head without an end": b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n" * 300,
    "too many headers": b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 70 + b"\r\n",
    "a target that is too long": b"GET /" + b"a" * 3000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "a method that is too long": b"G" * 100 + b" / HTTP/1.1\r\nHost: x\r\n\r\n",
    "an expectation that nobody knows": b"POST / HTTP/1.1\r\nHost: x\r\nExpect: cake\r\nContent-Length: 0\r\n\r\n",
}


@nothing_changes
def malformed_http_gets_4xx_as_a_problem_and_the_connection_closes():
    for what, data in MALFORMED.items():
        with server.connect(timeout_s=5) as connection:
            connection.send(data)
            reply = connection.read_reply()
            true(400 <= reply.status < 500 or reply.status in (501, 505), f"{what}: {reply}")
            problem(reply, reply.status, "malformed-request")
            equal(reply.headers.get("connection"), "close", what)
            true(connection.closes(), f"{what}: still open")
    equal(server.get("/readyz").status, 200)


@nothing_changes
def what_follows_a_malformed_request_is_not_looked_at():
    smuggled = b"POST %b HTTP/1.1\r\nHost: x\r\nStampede-Pass: %b\r\nIdempotency-Key: s\r\nContent-Length: 0\r\n\r\n" % (
        PATH, buyer.get_pass(item).encode())
    for what in ("length and chunked", "two lengths", "a bare LF in the head", "space before the colon"):
        with server.connect() as connection:
            connection.send(MALFORMED[what] + smuggled)
            equal(connection.read_reply().status, 400)
            equal(connection.read_all(), b"", what)


@nothing_changes
def what_came_before_a_malformed_request_is_answered():
    with server.connect() as connection:
        connection.send(request_bytes("GET", "/v1/time") + MALFORMED["no Host"])
        equal(connection.read_reply().status, 200)
        equal(connection.read_reply().status, 400)
        true(connection.closes())


@nothing_changes
def half_a_request_and_a_hang_up_do_no_harm():
    whole = buyer.purchase_request(item, key="half")
    for cut in (1, 10, 40, len(whole) - 1):
        with server.connect() as connection:
            connection.send(whole[:cut])
    with server.connect() as connection:
        connection.send(whole[:-2])
        connection.socket.shutdown(socket.SHUT_WR)
        try:
            reply = connection.read_reply()
            true(reply.status >= 400, "half a request was taken for a whole")
        except Closed:
            pass
    time.sleep(0.1)


run()
