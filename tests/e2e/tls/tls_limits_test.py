# SPDX-License-Identifier: Apache-2.0
"""The redirection to TLS, limits of handshakes, and the PROXY protocol before TLS."""
import itertools
import time

from kit.harness import Connection, equal, eventually, rule, run, true
from kit.secure import Certificate, SecureServer, refused

certificate = Certificate("a.example")


@rule
def what_comes_without_tls_is_sent_there_with_the_same_path():
    server = SecureServer([certificate], {"tls.redirect": "yes"}).start()
    to = f"https://shop.test:{server.tls_port}"
    for method, path in (("GET", "/"), ("GET", "/v1/items/7?x=1&y=%20"), ("POST", "/v1/items/7/buy"), ("DELETE", "/admin/v1/keys/1"),
                         ("HEAD", "/console")):
        reply = server.request(method, path, b"{}" if method == "POST" else None)
        equal(reply.status, 308, path)
        equal(reply.headers["location"], to + path)
    for host, location in ((f"shop.test:{server.port}", to), ("[2001:db8::1]:80", f"https://[2001:db8::1]:{server.tls_port}")):
        equal(server.request("GET", "/a", headers={"Host": host}).headers.get("location"), location + "/a", host)
    for path in ("/livez", "/readyz", "/metrics"):
        equal(server.get(path).status, 200, path)
    for host in ("127.0.0.1", f"localhost:{server.port}", "[::1]:8080"):
        equal(server.request("GET", "/v1/time", headers={"Host": host}).status, 200, f"{host} is this machine")
    with server.connect() as connection:  # pipelined: one after the other
        for _ in range(20):
            connection.send(b"POST /v1/items/7/buy HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 0\r\n\r\n")
        for _ in range(20):
            equal(connection.read_reply().status, 308)
    equal(server.over_tls().get("/v1/time").status, 200)
    server.stop()


@rule
def a_proxy_that_is_trusted_is_not_sent_elsewhere():
    server = SecureServer([certificate], {"tls.redirect": "yes", "proxy.trusted": "127.0.0.1"}).start()
    equal(server.request("GET", "/v1/time", headers={"X-Forwarded-For": "192.0.2.7"}).status, 200)
    server.stop()


@rule
def an_address_has_so_many_handshakes_at_a_time():
    server = SecureServer([certificate], {"tls.handshakes_per_address": 3, "server.threads": 1}).start()
    silent = [Connection(server.tls_port) for _ in range(3)]
    over = server.over_tls()
    eventually(lambda: refused(over), "a fourth is let in")
    equal(server.over_tls().connect(source="127.0.0.9").request("GET", "/livez").status, 200)
    true(server.handshakes("refused") >= 1, "not counted as refused")
    for connection in silent:
        connection.close()
    eventually(lambda: not refused(over), "nobody is let in again")
    open_now = [over.connect() for _ in range(5)]  # those that are done count no more
    for connection in open_now:
        equal(connection.request("GET", "/livez").status, 200)
        connection.close()
    server.stop()


@rule
def an_address_has_so_many_handshakes_a_second():
    server = SecureServer([certificate], {"tls.handshakes_per_s": 1}).start()
    over = server.over_tls()
    eventually(lambda: refused(over), "there is no limit", every_s=0)
    equal(server.over_tls().connect(source="127.0.0.9").request("GET", "/livez").status, 200, "others are let in")
    eventually(lambda: not refused(over), "it stays shut")
    server.stop()


def taken(server):
    """Connections that edges have taken, those of asking included."""
    time.sleep(0.3)  # edges count every 100 ms
    return server.metrics()["stampede_edge_connections_accepted_total"]


@rule
def who_connects_and_asks_for_nothing_meets_those_that_sell_after_a_second_only():
    server = SecureServer([certificate]).start()
    over, before, done = server.over_tls(), taken(server), server.handshakes("done")
    for _ in range(50):
        over.connect().close()
    eventually(lambda: server.handshakes("done") >= done + 50, "the handshakes are not done")
    true(taken(server) < before + 25, "edges have taken connections that nobody asked anything on")
    before = taken(server)
    quiet = [over.connect() for _ in range(30)]
    asked = itertools.count()  # each look is a connection, too; the last one may not be counted yet
    eventually(lambda: taken(server) >= before + 30 + next(asked), "edges do not take those that stay")
    for connection in quiet:
        equal(connection.request("GET", "/livez").status, 200)
        connection.close()
    server.stop()


@rule
def the_proxy_header_comes_before_tls_and_names_the_client():
    server = SecureServer([certificate], {"proxy.protocol": "on", "proxy.trusted": "127.0.0.1", "limits.address_per_s": 1,
                                          "limits.address_burst": 1, "tls.handshakes_per_address": 100})
    server.settings["limits.connections_per_address"] = 0
    server.write_config()
    server.spawn()
    over = server.over_tls()

    def header(client):
        return f"PROXY TCP4 {client} 127.0.0.1 40000 443\r\n".encode()

    def ready():
        try:
            with over.connect(first=header("192.0.2.1")) as connection:
                return connection.request("GET", "/readyz").status == 200
        except OSError:
            return False
    eventually(ready, "it is not ready")

    def status(client):
        with over.connect(first=header(client)) as connection:
            return connection.request("GET", "/v1/time").status
    equal(status("192.0.2.8"), 200)
    eventually(lambda: status("192.0.2.8") == 429, "the client of the header has no limit")
    equal(status("192.0.2.9"), 200, "another client")
    true(refused(over, timeout_s=20), "a peer that must send the header may leave it out")
    with over.connect(first=b"PROXY UNKNOWN\r\n") as connection:
        equal(connection.request("GET", "/livez").status, 200)
    server.stop()


run()
