# SPDX-License-Identifier: Apache-2.0
"""What the tests of bans and rules share: a shop behind a proxy of its own, so that a request can come from any address."""
import os
import time

from kit.harness import Server, equal, jwt, request_bytes

SECRET = "a secret of the shop that is long enough"
PROXIES = "127.0.0.1"


def shop(**settings):
    """A shop with tokens, behind a proxy on this machine that says who the client is."""
    server = Server(settings={"proxy.trusted": PROXIES, "limits.address_per_s": 0, "limits.user_requests": 0,
                              "watch.rate": "off", "watch.failures": "off",
                              "watch.crowd": "off", "watch.roaming": "off", "watch.timing": "off", **settings})
    keys = os.path.join(server.folder, "keys")
    os.mkdir(keys)
    with open(os.path.join(keys, "shop.secret"), "w") as file:
        file.write(SECRET)
    server.write_config(session__jwt_keys=keys)
    server.start()
    return server


def from_(address):
    return {"X-Forwarded-For": address}


def token(subject):
    return jwt({"sub": subject, "exp": int(time.time()) + 600}, SECRET)


def buy(buyer, item, give, address):
    return buyer.buy(item, give=give, headers=from_(address))


def ban(server, minutes=10, reason="by hand", role="operator", status=201, **whom):
    reply = server.admin("POST", "/bans", {"minutes": minutes, "reason": reason, **whom}, role=role)
    equal(reply.status, status, reply.body)
    return reply.json()


def lift(server, number):
    reply = server.admin("POST", f"/bans/{number}/lift")
    equal(reply.status, 200, reply.body)
    return reply.json()


def bans(server, more=""):
    return server.admin("GET", f"/bans{more}").json()["bans"]


def findings(server):
    return server.admin("GET", "/watch").json()["findings"]


def try_(server, item, address, give="x" * 48):
    """A purchase with a made-up pass: tells a ban from everything else."""
    return server.request("POST", f"/v1/items/{item}/buy", headers={"Stampede-Pass": give, **from_(address)})


def guess(server, item, address, count):
    """Made-up passes, one connection."""
    with server.connect() as connection:
        for _ in range(count):
            connection.send(request_bytes("POST", f"/v1/items/{item}/buy", None,
                                          {"Stampede-Pass": "x" * 48, **from_(address)}))
            connection.read_reply()
