# SPDX-License-Identifier: Apache-2.0
"""TLS in the server: versions, names, tickets, the header, requests and answers of all kinds."""
import json
import os
import socket
import ssl
import subprocess
import time

from kit.harness import (Buyer, Closed, Connection, Failure, equal, eventually, problem, request_bytes, rule, run,
                         temp_folder, true)
from kit.push_client import Push
from kit.secure import Certificate, SecureServer, client_context, refused

OURS = {"Stampede-Console": "1"}
HSTS = "max-age=15552000"
first, second = Certificate("a.example", "*.a.example", rsa=True), Certificate("b.example", "*.b.example", "x.a.example")
server = SecureServer([first, second], {"tls.handshake_ms": 1500, "server.idle_timeout_ms": 60000, "server.drain_ms": 3000})
server.start()
over = server.over_tls()
VERSIONS = (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)


@rule
def a_unit_is_bought_over_each_version():
    item = server.open_item(total=2)
    for version in VERSIONS:
        buyer = Buyer(server.over_tls(context=client_context(version)))
        ticket = buyer.win(item)["ticket"]
        equal(buyer.order(ticket)["state"], "pending")  # a long poll
    problem(Buyer(over).buy(item), 409, "sold-out")


@rule
def older_versions_and_weak_ciphers_are_refused():
    for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
        context = client_context(version)
        context.set_ciphers("ALL:@SECLEVEL=0")
        true(refused(server.over_tls(context=context)), f"{version} is spoken")
    for cipher in ("AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA256", "DHE-RSA-AES128-GCM-SHA256"):
        context = client_context(ssl.TLSVersion.TLSv1_2)
        context.set_ciphers(cipher)
        true(refused(server.over_tls(context=context)), f"{cipher} is spoken")


@rule
def the_server_chooses_the_cipher():
    context = client_context(ssl.TLSVersion.TLSv1_2)
    context.set_ciphers("ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256")
    with server.over_tls(context=context).connect() as connection:
        equal(connection.socket.cipher()[0], "ECDHE-RSA-AES128-GCM-SHA256")


@rule
def each_name_gets_its_certificate_and_an_unknown_one_the_first():
    for name, wanted in (("a.example", first), ("B.example", second), ("y.b.example", second), ("x.a.example", second), ("y.a.example", first),
                         ("y.y.b.example", first), ("other.example", first), (None, first)):
        equal(server.shown(name) == wanted.bytes(), True, f"certificate for {name}")


@rule
def a_client_that_comes_back_saves_the_signature():
    for version in VERSIONS:
        context = client_context(version)
        with server.over_tls(context=context).connect() as connection:
            equal(connection.request("GET", "/livez").status, 200)  # tickets of 1.3 come with it
            true(not connection.socket.session_reused, "reused what?")
            session = connection.socket.session
        before = server.handshakes("resumed")
        with server.over_tls(context=context, session=session).connect() as connection:
            equal(connection.request("GET", "/livez").status, 200)
            true(connection.socket.session_reused, f"{version}: a whole handshake again")
        equal(server.handshakes("resumed"), before + 1)


@rule
def only_http_1_1_is_offered():
    with server.over_tls(context=client_context(protocols=("h2", "http/1.1"))).connect() as connection:
        equal(connection.socket.selected_alpn_protocol(), "http/1.1")
    with server.over_tls(context=client_context(protocols=())).connect() as connection:
        equal(connection.request("GET", "/livez").status, 200)
    true(refused(server.over_tls(context=client_context(protocols=("h2",)))), "h2 is spoken")


@rule
def every_answer_over_tls_tells_browsers_to_come_back_with_tls():
    item = server.open_item(total=1)
    buyer = Buyer(over)
    replies = {"page": over.get("/"), "deferred": buyer.buy(item), "not found": over.get("/nothing"), "order": buyer.get("/v1/orders"),
               "sold out": Buyer(over).buy(item), "head": over.request("HEAD", "/livez")}
    with over.connect() as connection:
        connection.send(b"GET / HTTP/1.1\r\nHost : x\r\n\r\n")
        replies["malformed"] = connection.read_reply()
    for what, reply in replies.items():
        equal(reply.all.get("strict-transport-security"), [HSTS], what)
    for path in ("/", "/livez", "/nothing"):
        true("strict-transport-security" not in server.get(path).headers, f"{path} without TLS has the header")


@rule
def a_sign_in_over_tls_gets_a_cookie_for_tls_only():
    for whom, secure in ((over, True), (server, False)):
        reply = whom.request("POST", "/console/session", headers={"Authorization": f"Bearer {server.keys['admin']}", **OURS})
        equal(reply.status, 201, f"{reply.body[:200]!r}")
        equal("; Secure" in reply.headers["set-cookie"] and reply.headers["set-cookie"].startswith("__Host-"), secure)


@rule
def long_answers_are_whole_also_for_a_slow_reader():
    wanted = server.get("/openapi.json").body
    true(len(wanted) > 300000, f"only {len(wanted)} bytes")
    equal(over.get("/openapi.json").body == wanted, True, "the same bytes")
    with over.connect() as connection:
        connection.send(request_bytes("GET", "/openapi.json") * 12)  # more than the kernel keeps: the server has to wait
        for _ in range(12):
            time.sleep(0.05)
            equal(connection.read_reply().body == wanted, True, "the same bytes, slowly")


@rule
def requests_come_in_any_pieces_and_many_at_once():
    with over.connect() as connection:
        for byte in request_bytes("GET", "/v1/time", headers={"X-Long": "y" * 300}):
            connection.send(bytes([byte]))  # a record each
        equal(connection.read_reply().status, 200)
        connection.send(request_bytes("GET", "/livez") * 200)
        for _ in range(200):
            equal(connection.read_reply().body, b"ok\n")
        body = json.dumps({"x": "y" * 60000}).encode()  # more than three records
        equal(connection.request("POST", "/admin/v1/products", body, {"Authorization": f"Bearer {server.keys['admin']}",
                                                                      "Content-Type": "application/json"}).status, 422)
        connection.send(request_bytes("GET", "/livez", headers={"Connection": "close"}))
        equal(connection.read_reply().status, 200)
        equal(connection.socket.recv(1), b"", "a close that TLS knows of, not a cut")


@rule
def a_half_closed_request_is_answered():
    with over.connect() as connection:
        connection.send(request_bytes("GET", "/livez"))
        try:
            connection.socket.setblocking(False)
            connection.socket.unwrap()
        except (ssl.SSLError, OSError):
            pass
    equal(over.get("/livez").status, 200)


@rule
def push_works_over_tls():
    item = server.open_item(total=1)
    buyer = Buyer(over)
    with Push(over, buyer.session) as push:
        ticket = buyer.win(item)["ticket"]
        push.until(lambda message: ticket in json.dumps(message))


@rule
def a_handshake_that_stops_half_way_is_closed_at_its_deadline():
    before = server.handshakes("late")
    hello = ssl.MemoryBIO()
    client = client_context().wrap_bio(ssl.MemoryBIO(), hello, server_hostname="a.example")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    with Connection(server.tls_port) as silent, Connection(server.tls_port) as half:
        half.send(hello.read()[:100])
        true(silent.closes() and half.closes(), "they are left open")
    eventually(lambda: server.handshakes("late") >= before + 2, "not counted as late")


def hello_start(announced, record_bytes):
    """The start of a ClientHello of so many bytes, in records of so many."""
    message = b"\x01" + announced.to_bytes(3, "big") + b"\x03\x03" + bytes(1000)
    records = [message[at:at + record_bytes] for at in range(0, len(message), record_bytes)]
    return b"".join(b"\x16\x03\x01" + len(one).to_bytes(2, "big") + one for one in records)


@rule
def a_hello_that_announces_more_than_anybody_needs_is_refused_at_once():
    for record_bytes in (16384, 3, 1):
        for announced, fits in ((16384, True), (16385, False), (131000, False)):
            before = server.handshakes("failed")
            with Connection(server.tls_port) as attacker:
                attacker.send(hello_start(announced, record_bytes)[:3000])
                if not fits:
                    eventually(lambda seen=before: server.handshakes("failed") > seen, f"{announced} in records of {record_bytes}")
                else:
                    time.sleep(0.3)
                    equal(server.handshakes("failed"), before, f"{announced} in records of {record_bytes}")


@rule
def what_is_not_tls_is_closed_and_counted():
    before = server.handshakes("failed")
    with Connection(server.tls_port) as plain:
        plain.send(request_bytes("GET", "/livez"))
        true(b"HTTP" not in plain.read_all(), "it is answered without TLS")
    with over.connect() as connection:  # and after the handshake
        os.write(connection.socket.fileno(), b"GET /livez HTTP/1.1\r\n\r\n")
        raw = socket.socket(fileno=os.dup(connection.socket.fileno()))
        raw.settimeout(60)
        while raw.recv(4096):
            pass
        raw.close()
    eventually(lambda: server.handshakes("failed") > before, "not counted as failed")
    equal(over.get("/livez").status, 200)


@rule
def requests_in_flight_are_answered_when_the_server_stops():
    other = SecureServer([first]).start()
    item = other.open_item(total=1)
    buyer = Buyer(other.over_tls())
    with other.over_tls().connect() as idle, other.over_tls().connect() as connection:
        equal(idle.request("GET", "/livez").status, 200)
        for _ in range(50):
            connection.send(request_bytes("GET", "/v1/time"))
        equal(connection.read_reply().status, 200)
        buyer.win(item)
        other.process.terminate()
        for _ in range(49):
            equal(connection.read_reply().status, 200)
        equal(other.wait(), 0)


@rule
def sockets_of_systemd_are_told_apart_by_their_names():
    other = SecureServer([first])
    plain, tls = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
    other.port, other.tls_port = plain.getsockname()[1], tls.getsockname()[1]
    script = os.path.join(temp_folder(), "activate.py")
    with open(script, "w") as file:
        file.write("import os, sys\n"
                   f"os.dup2({plain.fileno()}, 103); os.dup2({tls.fileno()}, 104)\n"
                   "os.dup2(103, 3); os.dup2(104, 4)\n"
                   "os.set_inheritable(3, True); os.set_inheritable(4, True)\n"
                   "os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='2', LISTEN_FDNAMES='http:tls')\n"
                   "os.execv(sys.argv[1], sys.argv[1:])\n")
    plain.set_inheritable(True)
    tls.set_inheritable(True)
    with open(other.log_path, "ab") as log:
        other.process = subprocess.Popen(["python3", script, other.binary, "serve", "--config", other.config], stdout=log, stderr=log,
                                         pass_fds=(plain.fileno(), tls.fileno()))

    def ready():
        try:
            return other.get("/readyz").status == 200
        except (OSError, Closed, Failure):
            return False
    eventually(ready, "it is not ready")
    equal(other.over_tls().get("/livez").status, 200)
    plain.close()
    tls.close()
    other.stop()


run()
