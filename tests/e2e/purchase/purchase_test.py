# SPDX-License-Identifier: Apache-2.0
"""HTTP as browsers and proxies speak it: connections, pipelining, HEAD, CORS, bodies, static files, slow clients."""
import email.utils
import socket
import time

from kit.harness import Buyer, Closed, Server, among, equal, problem, request_bytes, rule, run, true

SHOP = "https://shop.example"
server = Server(settings={"cors.origins": f"{SHOP},http://other.example:8080", "server.head_timeout_ms": 500,
                          "server.body_timeout_ms": 500, "server.send_timeout_ms": 500, "server.idle_timeout_ms": 1500})
server.start()


@rule
def a_connection_is_kept_for_many_requests_and_closed_when_asked():
    with server.connect() as connection:
        for _ in range(20):
            equal(connection.request("GET", "/v1/time").status, 200)
        reply = connection.request("GET", "/v1/time", headers={"Connection": "close"})
        equal((reply.status, reply.headers.get("connection")), (200, "close"))
        true(connection.closes())


@rule
def http_1_0_is_answered_and_closed():
    data = server.raw(b"GET /livez HTTP/1.0\r\n\r\n")
    true(data.startswith(b"HTTP/1.1 200 ") and data.endswith(b"ok\n"), data)


@rule
def fifty_pipelined_requests_of_all_kinds_are_answered_in_order():
    item, buyer = server.open_item(total=100, limit_per_user=0), Buyer(server)
    give, session = buyer.get_pass(item), {"Authorization": f"Bearer {buyer.session}"}
    plan = []
    for number in range(10):
        plan += [(buyer.purchase_request(item, key=f"k{number}", give=give), (202, 409)),
                 (request_bytes("GET", "/v1/time"), (200,)),
                 (request_bytes("GET", f"/v1/items/{item}/mine", headers=session), (200,)),
                 (request_bytes("HEAD", "/"), (200,)),
                 (request_bytes("GET", f"/nothing-{number}"), (404,))]
    with server.connect() as connection:
        connection.send(b"".join(data for data, _ in plan))
        for number, (data, statuses) in enumerate(plan):
            reply = connection.read_reply(head_only=data.startswith(b"HEAD"))
            among(reply.status, statuses, f"request {number} {data[:40]!r}")
            if number % 5 == 0:
                true("ticket" in reply.json() or reply.json()["type"] == "/problems/in-progress")
            elif number % 5 == 1:
                true("now_ms" in reply.json())
            elif number % 5 == 2:
                true(reply.json()["quantity"] >= 1, "what was asked after a win knows of it")
        equal(connection.rest, b"")
    equal(len(plan), 50)


@rule
def requests_cut_anywhere_are_put_together_again():
    item, buyer = server.open_item(total=5, limit_per_user=0), Buyer(server)
    data = buyer.purchase_request(item, key="x", quantity=1) + request_bytes("GET", "/v1/time")
    with server.connect() as connection:
        for at in range(0, len(data), 7):
            connection.send(data[at:at + 7])
            time.sleep(0.001)
        equal([connection.read_reply().status, connection.read_reply().status], [202, 200])


@rule
def head_is_get_without_a_body():
    item, buyer = server.open_item(), Buyer(server)
    ticket = buyer.win(item)["ticket"]
    buyer.order(ticket)
    session = {"Authorization": f"Bearer {buyer.session}"}
    for path in ("/", "/v1/sales", f"/v1/items/{item}", "/livez", "/readyz", "/nothing", "/openapi.json", "/v1/orders",
                 f"/v1/tickets/{ticket}", f"/v1/items/{item}/mine", "/admin/v1/sales"):
        with server.connect() as connection:
            get = connection.request("GET", path, headers=session)
            head = connection.request("HEAD", path, headers=session)
            equal(connection.request("GET", "/livez").body, b"ok\n", f"after HEAD {path} the connection goes on")
        equal((head.status, head.body), (get.status, b""), path)
        equal(head.headers.get("content-type"), get.headers.get("content-type"), path)
        if path not in ("/v1/sales", f"/v1/items/{item}"):  # these carry the time
            equal(head.headers["content-length"], str(len(get.body)), path)


@rule
def every_reply_carries_the_date():
    for path in ("/v1/time", "/nothing", "/", "/livez", "/admin/v1/sales"):
        date = email.utils.parsedate_to_datetime(server.get(path).headers["date"]).timestamp()
        true(abs(date - time.time()) < 5, path)
    item = server.open_item(total=1)
    for _ in range(2):  # a win, then a refusal that was rendered at start
        date = email.utils.parsedate_to_datetime(Buyer(server).buy(item).headers["date"]).timestamp()
        true(abs(date - time.time()) < 5)


# ---- CORS

def cors(reply):
    return reply.headers.get("access-control-allow-origin")


@rule
def a_preflight_of_an_allowed_page_says_what_it_may():
    wanted = {"Origin": SHOP, "Access-Control-Request-Method": "POST",
              "Access-Control-Request-Headers": "stampede-pass,idempotency-key,authorization,content-type"}
    for path in ("/v1/items/1/buy", "/v1/session", "/v1/nothing", "/admin/v1/sales"):
        reply = server.request("OPTIONS", path, headers=wanted)
        equal((reply.status, cors(reply), reply.body), (204, SHOP, b""))
        true("POST" in reply.headers["access-control-allow-methods"])
        for name in ("authorization", "content-type", "idempotency-key", "stampede-pass"):
            true(name in reply.headers["access-control-allow-headers"].lower(), name)
        true("Origin" in reply.headers.get("vary", ""))


@rule
def a_preflight_of_another_page_is_given_nothing():
    for origin in ("https://evil.example", SHOP + ".evil.example", SHOP + "/", "null", "http://shop.example", SHOP.upper(), ""):
        reply = server.request("OPTIONS", "/v1/items/1/buy",
                               headers={"Origin": origin, "Access-Control-Request-Method": "POST"})
        equal((reply.status, cors(reply)), (204, None), origin)
    reply = server.request("OPTIONS", "/v1/items/1/buy")
    equal((reply.status, cors(reply)), (204, None))
    true("POST" in reply.headers["allow"])


@rule
def answers_of_every_kind_may_be_read_by_an_allowed_page_only():
    item = server.open_item(total=2)
    for origin, wanted in ((SHOP, SHOP), ("http://other.example:8080", "http://other.example:8080"),
                           ("https://evil.example", None)):
        fields = {"Origin": origin}
        with server.connect() as connection:
            session = connection.request("POST", "/v1/session", headers=fields)
            bearer = {**fields, "Authorization": f"Bearer {session.json()['session']}"}
            given = connection.request("POST", f"/v1/items/{item}/pass", headers=bearer)
            entry = {**fields, "Stampede-Pass": given.json()["pass"]}
            bought = connection.request("POST", f"/v1/items/{item}/buy", headers=entry)
            replies = [session, given, bought,
                       connection.request("POST", f"/v1/items/{item}/buy", headers=entry),  # from the inventory
                       connection.request("POST", f"/v1/items/{item}/buy", headers=fields),  # from the door
                       connection.request("POST", "/v1/items/999/buy", headers=entry),
                       connection.request("GET", f"/v1/items/{item}/mine", headers=bearer),
                       connection.request("GET", f"/v1/tickets/{'0' * 16}", headers=bearer),
                       connection.request("GET", "/v1/orders", headers=bearer),  # from the worker
                       connection.request("GET", "/v1/orders", headers=fields),
                       connection.request("GET", "/v1/sales", headers=fields),
                       connection.request("GET", "/v1/sales?after=x", headers=fields),
                       connection.request("GET", "/v1/nothing", headers=fields),
                       connection.request("GET", "/admin/v1/sales",
                                          headers={**fields, "Authorization": f"Bearer {server.keys['viewer']}"})]
            if bought.status == 202:
                path = f"/v1/tickets/{bought.json()['ticket']}?wait=5"
                replies.append(connection.request("GET", path, headers=bearer))
        among(bought.status, (202, 409))
        for reply in replies:
            equal(cors(reply), wanted, f"{origin}: {reply}")
            if wanted:
                equal(reply.all["access-control-allow-origin"], [wanted])
                true("Origin" in reply.headers.get("vary", ""), f"a cache must know: {reply}")


# ---- bodies

@rule
def a_chunked_body_is_a_body():
    item, buyer = server.open_item(total=9, limit_per_user=9), Buyer(server)
    head = {"Transfer-Encoding": "chunked", "Stampede-Pass": buyer.get_pass(item), "Idempotency-Key": "c"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    body = b"5;ext=1\r\n{\"qua\r\n8\r\nntity\":3\r\n1\r\n}\r\n0\r\nTrailer: x\r\n\r\n"
    with server.connect() as connection:
        connection.send(f"POST /v1/items/{item}/buy HTTP/1.1\r\nHost: x\r\n{lines}\r\n".encode() + body)
        equal(connection.read_reply().json()["quantity"], 3)
        equal(connection.request("GET", "/livez").status, 200, "and the connection goes on")


@rule
def who_expects_100_continue_hears_it_before_the_body():
    item, buyer = server.open_item(total=9, limit_per_user=9), Buyer(server)
    data = buyer.purchase_request(item, quantity=2, key="e", headers={"Expect": "100-continue"})
    head, body = data.split(b"\r\n\r\n")
    with server.connect() as connection:
        connection.send(head + b"\r\n\r\n")
        equal(connection.read_reply().status, 100)
        connection.send(body)
        equal(connection.read_reply().json()["quantity"], 2)
        connection.send(data)  # who does not wait needs no word
        reply = connection.read_reply()
        equal((reply if reply.status != 100 else connection.read_reply()).status, 202)


# ---- static files

@rule
def the_storefront_is_served_with_tags_and_compressed():
    page = server.get("/")
    equal((page.status, page.headers["content-type"].split(";")[0]), (200, "text/html"))
    tag = page.headers["etag"]
    equal(server.get("/index.html").body, page.body)
    for header in (tag, f'"x", {tag}', "*", f"W/{tag}"):
        reply = server.get("/", headers={"If-None-Match": header})
        equal((reply.status, reply.body, reply.headers["etag"]), (304, b"", tag), header)
    equal(server.get("/", headers={"If-None-Match": '"other"'}).status, 200)
    for path in ("/favicon.svg", "/openapi.json", "/sandbox/pay.html"):
        equal(server.get(path).status, 200, path)
    true(server.get("/openapi.json").json()["openapi"].startswith("3.1"))


@rule
def who_takes_gzip_or_brotli_gets_it():
    import gzip
    plain = server.get("/openapi.json")
    zipped = server.get("/openapi.json", headers={"Accept-Encoding": "gzip"})
    equal(zipped.headers["content-encoding"], "gzip")
    equal(gzip.decompress(zipped.body), plain.body)
    brotli = server.get("/openapi.json", headers={"Accept-Encoding": "gzip, deflate, br"})
    equal(brotli.headers["content-encoding"], "br")
    true(len(brotli.body) < len(plain.body))
    equal(server.get("/openapi.json", headers={"Accept-Encoding": "gzip;q=0, identity"}).headers.get("content-encoding"), None)
    for reply in (plain, zipped, brotli):
        true("accept-encoding" in reply.headers["vary"].lower())
    true(len({reply.headers["etag"] for reply in (plain, zipped, brotli)}) == 3, "each form has its own tag")
    reply = server.get("/openapi.json", headers={"Accept-Encoding": "gzip", "If-None-Match": zipped.headers["etag"]})
    equal(reply.status, 304)


@rule
def static_files_take_get_and_head_only():
    problem(server.request("POST", "/openapi.json"), 405, "method-not-allowed")
    equal(server.request("HEAD", "/openapi.json").headers["content-length"], str(len(server.get("/openapi.json").body)))


# ---- slow clients

@rule
def a_client_that_sends_its_head_too_slowly_is_cut():
    began = time.monotonic()
    with server.connect() as connection:
        cut = False
        for letter in b"GET /v1/time HTTP/1.1\r\nHost: shop.test\r\nA: " + b"b" * 100:
            try:
                connection.send(bytes([letter]))
                connection.socket.settimeout(0.1)
                connection._more()
                cut = connection.rest.startswith(b"HTTP/1.1 408")
                break
            except socket.timeout:
                continue
            except (Closed, OSError):
                cut = True
                break
    true(cut, "it was served for ever")
    true(time.monotonic() - began < 4, "it took too long")


@rule
def a_client_that_sends_its_body_too_slowly_is_cut():
    with server.connect(timeout_s=5) as connection:
        connection.send(b"POST /v1/session HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
        data = connection.read_all()
    true(data == b"" or data.startswith(b"HTTP/1.1 408"), data)


@rule
def an_idle_connection_is_closed_after_its_time():
    with server.connect(timeout_s=10) as connection:
        equal(connection.request("GET", "/livez").status, 200)
        began = time.monotonic()
        true(connection.closes())
        true(1.0 < time.monotonic() - began < 5)


def memory_kb():
    with open(f"/proc/{server.process.pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


@rule
def a_client_that_does_not_read_is_cut_and_costs_bounded_memory():
    before = memory_kb()
    connections = []
    request = request_bytes("GET", "/openapi.json") * 50
    for _ in range(20):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", server.port))
        connection.setblocking(False)
        connections.append(connection)
    cut, end = set(), time.monotonic() + 8
    while len(cut) < len(connections) and time.monotonic() < end:
        for connection in connections:
            if connection in cut:
                continue
            try:
                connection.send(request)
            except BlockingIOError:
                pass
            except OSError:
                cut.add(connection)
        time.sleep(0.02)
    grown = memory_kb() - before
    for connection in connections:
        connection.close()
    equal(len(cut), len(connections), "clients that were cut")
    true(grown < 64 * 1024, f"memory grew by {grown} kB")
    equal(server.get("/readyz").status, 200)


run()
