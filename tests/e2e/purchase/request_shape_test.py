# SPDX-License-Identifier: Apache-2.0
"""405 and 401 as HTTP wants them: which methods an address takes, and how to prove who one is. By docs/openapi.json."""
import json
import os
import re

from kit.harness import REPOSITORY, Server, equal, rule, run, true

server = Server(settings={"payment.providers": "sandbox"}).start()
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
with open(os.path.join(REPOSITORY, "docs", "openapi.json")) as file:
    PATHS = json.load(file)["paths"]


def address(path):
    """An address that fits the pattern."""
    path = path.replace("{provider}", "sandbox")
    path = re.sub(r"\{(order|ticket|payment|reference|name|hash|file)\w*\}", "0123456789abcdef", path)
    return re.sub(r"\{\w+\}", "1", path)


def operations(path):
    return {name.upper() for name in PATHS[path] if name.upper() in METHODS}


def wanted(path):
    taken = operations(path)
    return taken | {"OPTIONS"} | ({"HEAD"} if "GET" in taken and path != "/v1/push" else set())


@rule
def another_method_is_405_and_hears_which_there_are():
    asked = 0
    for path in PATHS:
        for method in METHODS:
            if method in operations(path):
                continue
            if path.startswith("/channel/"):
                continue  # a key of a channel is asked for first: purchase/channel_api_test.py
            headers = {"Authorization": f"Bearer {server.keys['admin']}"} if path.startswith("/admin/") else {}
            reply = server.request(method, address(path), headers=headers)
            equal(reply.status, 405, f"{method} {path}: {reply}")
            given = set(reply.headers.get("allow", "").split(", "))
            equal(given, wanted(path), f"Allow of {method} {path}")
            asked += 1
    true(asked > 100, f"only {asked} were asked")


@rule
def an_address_that_there_is_not_is_404_whatever_the_method():
    for path in ("/v1/nothing", "/v1/items/1/nothing", "/v1/sales/1/nothing"):
        for method in METHODS:
            equal(server.request(method, path).status, 404, f"{method} {path}")


@rule
def each_401_says_how_to_prove_who_one_is():
    asked = 0
    for path in PATHS:
        for method in operations(path):
            reply = server.request(method, address(path))
            if reply.status != 401:
                continue
            realm = "admin" if path.startswith(("/admin/", "/channel/")) else "shop"
            true(reply.headers.get("www-authenticate") in (f'Bearer realm="{realm}"', "Signature"),
                 f"{method} {path}: {reply.headers}")
            asked += 1
    true(asked > 40, f"only {asked} answered 401")
    item = server.open_item()
    reply = server.request("POST", f"/v1/items/{item}/buy", headers={"Authorization": "Bearer wrong", "Stampede-Pass": "x"})
    if reply.status == 401:  # a ready-made answer of the buy path
        equal(reply.headers.get("www-authenticate"), 'Bearer realm="shop"')


run()
