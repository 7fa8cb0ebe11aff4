"""Who comes too fast, and who is who behind proxies: rates by address and user, PROXY protocol, X-Forwarded-For,
connections by address, and real proxies in front with the examples of deploy/."""
import os
import re
import shutil
import socket
import subprocess
import time

from harness import (REPOSITORY, Buyer, Closed, Connection, Server, equal, eventually, problem, rule, run, skip, spare_port,
                     temp_folder, true)

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
def purchases_and_other_requests_share_the_bucket_and_pages_do_not_count():
    item = plain.open_item(total=10)
    equal(times(plain, 20, "/livez", source="127.0.1.4"), [200] * 20)
    equal(times(plain, 20, "/", source="127.0.1.4"), [200] * 20)
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


# ---- real proxies ----


def gateways():
    """Two gateways behind one proxy at 127.0.0.1, as the examples have them."""
    return Server(settings={**SLOW, "proxy.trusted": "127.0.0.1"}), Server(settings={**SLOW, "proxy.trusted": "127.0.0.1"})


def example(name, port, first, second, folder):
    with open(os.path.join(REPOSITORY, "deploy", name)) as file:
        text = file.read()
    for wanted in ("127.0.0.1:8080", "127.0.0.1:8081", "8000"):
        true(wanted in text, f"{name} does not say {wanted}")
    text = text.replace("127.0.0.1:8080", f"127.0.0.1:{first.port}").replace("127.0.0.1:8081", f"127.0.0.1:{second.port}")
    text = text.replace("listen 8000", f"listen 127.0.0.1:{port}").replace("bind :8000", f"bind 127.0.0.1:{port}")
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def nginx_program():
    return shutil.which("nginx") or ("/usr/sbin/nginx" if os.path.exists("/usr/sbin/nginx") else None)


def nginx_start(name, port, first, second):
    if nginx_program() is None:
        skip("nginx is not installed")
    folder = temp_folder()
    path = example(name, port, first, second, folder)
    modules = "/usr/lib/nginx/modules/ngx_stream_module.so"
    if "stream" in name:
        if not os.path.exists(modules):
            skip("nginx has no stream module")
        with open(path) as file:
            text = file.read()
        with open(path, "w") as file:
            file.write(f"load_module {modules};\n{text}")
    directives = (f"daemon off; pid {folder}/pid; error_log {folder}/error.log;")
    command = [nginx_program(), "-p", folder, "-c", path, "-g", directives]
    tested = subprocess.run([*command[:-1], directives, "-t"], capture_output=True, text=True)
    equal(tested.returncode, 0, tested.stderr)
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Front:
    """The proxy, as far as From is concerned."""

    def __init__(self, port):
        self.port = port


def front_tested(process, port, first, second):
    front = Front(port)
    try:
        eventually(lambda: connected(front, "127.0.3.1"), "the proxy does not answer")
        # Each gateway counts for itself: between one burst and two of them are let in.
        for source in ("127.0.3.2", "127.0.3.3"):
            got = [status for _ in range(4) for status in times(front, 4, source=source,
                                                                headers={"X-Forwarded-For": "203.0.113.77"})]
            true(BURST <= got.count(200) <= 2 * BURST + 2, f"{source}: {got}")
            true(got.count(429) >= 16 - 2 * BURST - 2, f"{source}: {got}")
    finally:
        process.terminate()
        process.wait()
        first.stop()
        second.stop()


@rule
def nginx_in_front_tells_clients_apart_by_x_forwarded_for():
    first, second = gateways()
    port = spare_port()
    process = nginx_start("nginx.conf", port, first, second)
    first.start(), second.start()
    front_tested(process, port, first, second)


@rule
def nginx_in_front_tells_clients_apart_by_the_proxy_protocol():
    first, second = gateways()
    port = spare_port()
    process = nginx_start("nginx-stream.conf", port, first, second)
    for server in (first, second):
        server.write_config(proxy__protocol="on")
        server.spawn()
        eventually(lambda s=server: reachable(s), "not ready")
    front_tested(process, port, first, second)


@rule
def haproxy_in_front_tells_clients_apart_by_the_proxy_protocol():
    program = shutil.which("haproxy")
    if program is None:
        skip("haproxy is not installed")
    first, second = gateways()
    port = spare_port()
    path = example("haproxy.cfg", port, first, second, temp_folder())
    with open(path) as file:
        text = file.read().replace("maxconn 100000", "maxconn 1000")  # fewer files may be open here
    with open(path, "w") as file:
        file.write(text)
    tested = subprocess.run([program, "-c", "-f", path], capture_output=True, text=True)
    equal(tested.returncode, 0, tested.stdout + tested.stderr)
    for server in (first, second):
        server.write_config(proxy__protocol="on")
        server.spawn()
        eventually(lambda s=server: reachable(s), "not ready")
    front_tested(subprocess.Popen([program, "-db", "-f", path]), port, first, second)


@rule
def keepalived_understands_the_example_for_lvs():
    program = shutil.which("keepalived", path=os.environ["PATH"] + ":/usr/sbin")
    if program is None:
        skip("keepalived is not installed")
    path = os.path.join(REPOSITORY, "deploy", "keepalived.conf")
    tested = subprocess.run([program, "-t", "-f", path], capture_output=True, text=True)
    equal((tested.returncode, tested.stdout + tested.stderr), (0, ""))
    with open(path) as file:
        text = file.read()
    equal(text.count("path /readyz"), text.count("    real_server "), "a gateway without a check")
    broken = os.path.join(temp_folder(), "broken.conf")  # it would say so
    with open(broken, "w") as file:
        file.write(text.replace("HTTP_GET", "HTTP_GOT"))
    true(subprocess.run([program, "-t", "-f", broken], capture_output=True).returncode != 0, "anything passes")


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
