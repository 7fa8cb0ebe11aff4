#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The contract: docs/openapi.json against the real server, both ways.

Every request goes through `call`, which knows an operation by its id and checks the answer: a status that the operation
documents, its content type, its required headers, its body against the schema, and no member that the schema does not
know. At the end every operation must have been seen to succeed and, where it can, to refuse.
"""
import base64
import hashlib
import hmac
import json
import os
import re
import sqlite3
import time
import urllib.parse

from kit.harness import PATIENCE_S, PICTURES, REPOSITORY, Failure, Server, among, equal, eventually, jwt, request_bytes, rule, run, true
from kit.pictures import JPEG, png
from kit.push_client import Push

DOCUMENT_PATH = os.path.join(REPOSITORY, "docs", "openapi.json")
PROBLEMS_PATH = os.path.join(REPOSITORY, "src", "api", "problems.h")
ADMIN_PATH = os.path.join(REPOSITORY, "src", "api", "admin_endpoints.h")
CHANNEL_PATH = os.path.join(REPOSITORY, "src", "api", "channel_endpoints.h")
QUERIES_PATH = os.path.join(REPOSITORY, "src", "gateway", "request_shape.c")
METHODS = ("get", "post", "patch", "put", "delete")
SECRET = "a secret of the shop that is long enough"

with open(DOCUMENT_PATH, encoding="utf-8") as file:
    document = json.load(file)

# ---- a small JSON Schema validator: what the document uses, and nothing passes that it does not know -------------

ANNOTATIONS = {"description", "default", "examples", "format", "title"}
KEYWORDS = {"$ref", "type", "enum", "const", "required", "properties", "additionalProperties", "propertyNames", "items",
            "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength", "pattern", "allOf", "oneOf", "anyOf"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def resolve(node):
    while isinstance(node, dict) and "$ref" in node:
        target = document
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part.replace("~1", "/").replace("~0", "~")]
        node = target
    return node


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def same(left, right):
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def known_members(schema):
    """Names of the members that the schema describes, over all its parts; None if it leaves them open."""
    schema = resolve(schema)
    if "additionalProperties" in schema and schema["additionalProperties"] is not False:
        return None
    names = set(schema.get("properties", ()))
    for part in schema.get("allOf", ()):
        more = known_members(part)
        if more is None:
            return None
        names |= more
    return names


def is_open(schema):
    schema = resolve(schema)
    return not any(word in schema for word in ("properties", "allOf", "oneOf", "anyOf"))


def errors_of(value, schema, place="", strict=False, inside=False):
    """What is wrong, as a list of sentences. strict: members that no schema describes are wrong too."""
    schema = resolve(schema)
    unknown = set(schema) - KEYWORDS - ANNOTATIONS
    if unknown:
        return [f"{place}: the validator does not know {sorted(unknown)}"]
    wrong = []

    def say(what):
        wrong.append(f"{place or '/'}: {what}")

    types = schema.get("type", [])
    types = types if isinstance(types, list) else [types]
    if types and not any(is_type(value, name) for name in types):
        say(f"{value!r} is not {' or '.join(types)}")
        return wrong
    if "enum" in schema and not any(same(value, one) for one in schema["enum"]):
        say(f"{value!r} is not one of {schema['enum']}")
    if "const" in schema and not same(value, schema["const"]):
        say(f"{value!r} is not {schema['const']!r}")
    if is_type(value, "number"):
        if value < schema.get("minimum", value):
            say(f"{value} is below {schema['minimum']}")
        if value > schema.get("maximum", value):
            say(f"{value} is above {schema['maximum']}")
    if isinstance(value, str):
        if "pattern" in schema and not re.search(schema["pattern"], value):
            say(f"{value!r} does not match {schema['pattern']}")
        if len(value) < schema.get("minLength", 0) or len(value) > schema.get("maxLength", len(value)):
            say(f"{value!r} has {len(value)} characters")
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0) or len(value) > schema.get("maxItems", len(value)):
            say(f"{len(value)} elements")
        for index, element in enumerate(value):
            wrong += errors_of(element, schema.get("items", {}), f"{place}/{index}", strict)
    if isinstance(value, dict):
        wrong += object_errors(value, schema, place, strict, inside)
    for part in schema.get("allOf", ()):
        wrong += errors_of(value, part, place, strict, inside=True)
    for word in ("oneOf", "anyOf"):
        if word in schema:
            tries = [errors_of(value, part, place, strict) for part in schema[word]]
            fitting = sum(1 for one in tries if not one)
            if fitting == 0 or (word == "oneOf" and fitting > 1):
                say(f"fits {fitting} of {word}: {min(tries, key=len) if tries else ''}")
    return wrong


def object_errors(value, schema, place, strict, inside):
    wrong = [f"{place or '/'}: {name} is missing" for name in schema.get("required", ()) if name not in value]
    described = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    for name, member in value.items():
        where = f"{place}/{name}"
        if "propertyNames" in schema:
            wrong += errors_of(name, schema["propertyNames"], where)
        if name in described:
            wrong += errors_of(member, described[name], where, strict)
        elif others is False:
            wrong.append(f"{where}: there is no such member")
        elif isinstance(others, dict):
            wrong += errors_of(member, others, where, strict)
    if strict and not inside and not is_open(schema) and "oneOf" not in schema and "anyOf" not in schema:
        known = known_members(schema)
        if known is not None:
            wrong += [f"{place}/{name}: the document does not know it" for name in sorted(set(value) - known)]
    return wrong


# ---- operations ------------------------------------------------------------------------------------------------

operations = {}  # id -> (method, path, operation)
for path, path_item in document["paths"].items():
    for method in METHODS:
        if method in path_item:
            operations[path_item[method]["operationId"]] = (method.upper(), path, path_item[method])

seen = {}  # id -> statuses


def address(path, operation, values):
    query = {}
    for parameter in map(resolve, operation.get("parameters", ())):
        name = parameter["name"]
        if parameter["in"] == "path":
            path = path.replace("{%s}" % name, str(values.pop(name)))
        elif parameter["in"] == "query" and name in values:
            query[name] = values.pop(name)
    true(not values, f"{operation['operationId']} has no parameter {list(values)}")
    return path + ("?" + urllib.parse.urlencode(query) if query else "")


def response_of(operation, reply):
    """The documented response, and whether it is the one for requests that reach no route."""
    responses = operation["responses"]
    if str(reply.status) in responses:
        return resolve(responses[str(reply.status)])
    if b"/problems/malformed-request" in reply.body:
        return resolve(responses["default"])
    raise Failure(f"{operation['operationId']} does not document {reply.status}: {reply.body[:300]!r}")


def check(operation, reply, head_only=False):
    response = response_of(operation, reply)
    name = f"{operation['operationId']} {reply.status}"
    for header, described in response.get("headers", {}).items():
        value = reply.headers.get(header.lower())
        true(value is not None or not described.get("required"), f"{name}: no {header}")
        if value is not None:
            kind = resolve(described["schema"])
            wrong = errors_of(int(value) if kind.get("type") == "integer" else value, kind, header)
            true(not wrong, f"{name}: {wrong}")
    content = response.get("content")
    if content is None:
        equal(reply.body, b"", name)
        return None
    media = reply.headers.get("content-type", "").split(";")[0]
    true(media in content, f"{name}: content type {media!r}, not one of {list(content)}")
    if head_only or not media.endswith("json"):
        return None
    body = reply.json()
    wrong = errors_of(body, content[media]["schema"], strict=True)
    true(not wrong, f"{name}: {wrong}\n{json.dumps(body)[:600]}")
    if media == "application/problem+json":
        equal(body["status"], reply.status, name)
    return body


def call(operation_id, wanted, wanted_type=None, body=None, key=None, session=None, pass_=None, headers=None, **values):
    """One request; the answer is checked against the document, must have that status (and problem type), and is returned."""
    method, path, operation = operations[operation_id]
    fields = dict(headers or {})
    token = server.keys.get(key, key) if key else session
    if token:
        fields["Authorization"] = f"Bearer {token}"
    if pass_:
        fields["Stampede-Pass"] = pass_
    reply = server.request(method, address(path, operation, values), body, fields, timeout_s=PATIENCE_S + 30)
    answer = check(operation, reply)
    equal(reply.status, wanted, f"{operation_id}: {reply.body[:300]!r}")
    if wanted_type is not None:
        equal(answer["type"], "/problems/" + wanted_type, operation_id)
    seen.setdefault(operation_id, set()).add(reply.status)
    return answer


def admin(operation_id, wanted=200, wanted_type=None, role="admin", **more):
    if operation_id == "adminCreateSale" and isinstance(more.get("body"), dict):  # nothing here waits for a draw
        more["body"] = {"start_draw_ms": 0, "return_draw_ms": 0, "cooldown_s": 0, **more["body"]}
    return call(operation_id, wanted, wanted_type, key=role, **more)


def shop_token(**claims):
    return jwt({"sub": "alice", "exp": int(time.time()) + 600, **claims}, SECRET)


# ---- the document by itself ------------------------------------------------------------------------------------


def every_node(node, place=""):
    yield place, node
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for name, child in children:
        yield from every_node(child, f"{place}/{name}")


def problem_list():
    """type -> (status, title) from problems.h"""
    with open(PROBLEMS_PATH, encoding="utf-8") as source:
        text = source.read().replace("\\\n", " ")
    found = re.findall(r'X\(\w+,\s*"([^"]+)",\s*(\d+),\s*"([^"]+)",\s*"[^"]*"\)', text)
    return {name: (int(status), title) for name, status, title in found}


@rule
def the_validator_refuses_what_is_wrong():
    thing = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer", "minimum": 1, "maximum": 9},
             "b": {"type": ["string", "null"], "pattern": "^x"}, "c": {"type": "array", "maxItems": 1, "items": {"enum": [1, 2]}}}}
    closed = {**thing, "additionalProperties": False}
    either = {"oneOf": [{"type": "integer"}, {"const": "x"}]}
    both = {"allOf": [thing, {"properties": {"a": {"const": 3}}}]}
    units = {"type": "object", "additionalProperties": {"type": "integer"}, "propertyNames": {"pattern": "^[a-z]+$"}}
    for schema, good in ((thing, {"a": 1}), (thing, {"a": 9, "b": None, "c": [2]}), (thing, {"a": 1, "d": 0}), (closed, {"a": 1}),
                         (either, 4), (either, "x"), (both, {"a": 3}), (units, {"web": 1}), ({"minLength": 2}, "ab")):
        equal(errors_of(good, schema), [], str(good))
    for schema, bad in ((thing, {}), (thing, []), (thing, {"a": 0}), (thing, {"a": 10}), (thing, {"a": True}), (thing, {"a": 1.5}),
                        (thing, {"a": 1, "b": "y"}), (thing, {"a": 1, "c": [1, 1]}), (thing, {"a": 1, "c": [3]}),
                        (closed, {"a": 1, "d": 0}), (either, "y"), (either, None), (both, {"a": 4}), (units, {"web": "1"}),
                        (units, {"W": 1}), ({"minLength": 2}, "a"), ({"enum": [1]}, True), ({"minimun": 1}, 0)):
        true(errors_of(bad, schema), f"{bad} passes {schema}")
    true(errors_of({"a": 1, "d": 0}, thing, strict=True), "strict lets an unknown member pass")
    equal(errors_of({"a": 3, "b": "x"}, both, strict=True), [])


@rule
def the_document_is_whole():
    equal(document["openapi"][:4], "3.1.")
    for place, node in every_node(document):
        if isinstance(node, dict) and isinstance(node.get("$ref"), str):
            try:
                resolve(node)
            except (KeyError, TypeError):
                raise Failure(f"{place}: {node['$ref']} leads nowhere") from None
    ids = [item[method]["operationId"] for item in document["paths"].values() for method in METHODS if method in item]
    equal(len(ids), len(set(ids)), "an operationId twice")
    schemes = document["components"]["securitySchemes"]
    for name, (_, path, operation) in operations.items():
        parameters = [resolve(parameter) for parameter in operation.get("parameters", ())]
        equal(sorted(re.findall(r"{(\w+)}", path)), sorted(p["name"] for p in parameters if p["in"] == "path"), name)
        for choice in operation.get("security", ()):
            true(set(choice) <= set(schemes), f"{name}: no security scheme {choice}")
        true(any(status[0] in "12" for status in operation["responses"]), f"{name} never succeeds")


@rule
def every_example_fits_its_schema():
    checked = 0
    for place, node in every_node(document):
        if not isinstance(node, dict) or "schema" not in node:
            continue
        examples = [node["example"]] if "example" in node else []
        examples += [example["value"] for example in node.get("examples", {}).values()]
        for example in examples:
            equal(errors_of(example, node["schema"], strict=True), [], place)
            checked += 1
    true(checked > 60, f"only {checked} examples")


@rule
def every_problem_of_the_code_is_in_the_document_and_no_other():
    problems = problem_list()
    true(len(problems) > 30, "problems.h was not understood")
    enum = document["components"]["schemas"]["Problem"]["properties"]["type"]["enum"]
    equal(sorted(enum), sorted("/problems/" + name for name in problems))
    used = {}
    for place, node in every_node(document):
        if not place.endswith("/application~1problem+json") and not place.endswith("/application/problem+json"):
            continue
        for example in node.get("examples", {}).values():
            value = example["value"]
            name = value["type"].removeprefix("/problems/")
            used[name] = True
            if name != "malformed-request":  # many statuses
                equal((value["status"], value["title"]), problems[name], place)
    equal(sorted(used), sorted(problems), "problems that responses use")


@rule
def the_detail_of_each_problem_in_the_document_is_a_sentence_of_the_code():
    sentences = set()
    for folder, _, names in os.walk(os.path.join(REPOSITORY, "src")):
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as source:
                text = re.sub(r'"(?:\s|\\\n)*"', "", source.read())  # a literal in pieces
            sentences.update(re.findall(r'"((?:[^"\\\n]|\\.)+)"', text))
    for place, node in every_node(document):
        if place.endswith("application/problem+json"):
            for example in node.get("examples", {}).values():
                true(example["value"]["detail"] in sentences, f"{place}: no part of the code says {example['value']['detail']!r}")


@rule
def every_admin_route_of_the_code_is_in_the_document_and_no_other():
    with open(ADMIN_PATH, encoding="utf-8") as source:
        routes = re.findall(r'X\((\w+), (\w+), \w+,[\s\\]+"([^"]+)"', source.read())
    true(len(routes) > 20, "admin_endpoints.h was not understood")
    coded = {(method, "/admin/v1" + path.partition("?")[0].replace("@", "#")): role.lower() for method, role, path in routes}
    written = {(method, re.sub(r"{\w+}", "#", path)): re.match(r"Role: (\w+)\.", operation["description"]).group(1)
               for method, path, operation in operations.values() if path.startswith("/admin/")}
    equal(written, coded)
    with open(CHANNEL_PATH, encoding="utf-8") as source:
        routes = re.findall(r'X\((\w+), CHANNEL, \w+, "([^"]+)"', source.read())
    coded = {(method, "/channel/v1" + path.partition("?")[0].replace("@", "#")) for method, path in routes}
    equal({(method, re.sub(r"{\w+}", "#", path)) for method, path, _ in operations.values() if path.startswith("/channel/")}, coded)


@rule
def the_query_members_of_each_route_are_those_of_the_document():
    with open(ADMIN_PATH, encoding="utf-8") as source:
        coded = {"/admin/v1" + path for method, path in re.findall(r'X\((\w+), \w+, \w+,[\s\\]+"([^"]+)"', source.read()) if method == "GET"}
    with open(QUERIES_PATH, encoding="utf-8") as source:
        coded |= {"/v1" + path for path in re.findall(r'^    \{ (?:READ|"GET[^"]*"), "(/[^"]+)" \},$', source.read(), re.M)}
    coded = {path.partition("?")[0].replace("@", "#"): sorted(path.partition("?")[2].split()) for path in coded}
    written = {}
    for method, path, operation in operations.values():
        if method == "GET" and re.match("(/admin)?/v1/", path):
            asked = [resolve(one) for one in operation.get("parameters", [])]
            written[re.sub(r"{\w+}", "#", path)] = sorted(one["name"] for one in asked if one["in"] == "query")
    equal(coded, written)


# ---- the server against it -------------------------------------------------------------------------------------

server = Server(settings={**PICTURES, "channels.names": "web,app", "pass.early_ms": 60000, "payment.providers": "sandbox",
                          "payment.query_ms": 300, "orders.user_refund_ms": 600000})
keys = os.path.join(server.folder, "jwt")
os.mkdir(keys)
with open(os.path.join(keys, "shop.secret"), "w") as file:
    file.write(SECRET)
# A webhook at an address that is refused: messages wait and can be listed and replayed.
with open(os.path.join(server.folder, "webhook.secret"), "w") as file:
    file.write("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
server.write_config(session__jwt_keys=keys, webhook__url="http://127.0.0.1:1/",
                    webhook__secret_file=os.path.join(server.folder, "webhook.secret"))
server.start()
ids = {"letter": 1, "case": 1}


@rule
def administrators_make_products_sales_and_items():
    now = call("getTime", 200)["now_ms"]
    equal(call("getShop", 200)["guests"], True)
    product = {"name": "Kettle 水壶", "description": "Boils.", "images": ["/demo/watch.svg"], "list_price": 29900, "currency": "CNY",
               "texts": {"en": {"name": "Kettle", "description": "Boils."}, "zh-CN": {"name": "水壶"}}}
    ids["product"] = admin("adminCreateProduct", 201, body=product)["id"]
    admin("adminCreateProduct", 403, "admin-role", role="operator", body=product)
    admin("adminCreateProduct", 400, "bad-body", body=b"{", headers={"Content-Type": "application/json"})
    admin("adminCreateProduct", 415, "media-type", body=b"{}", headers={"Content-Type": "text/plain"})
    admin("adminCreateProduct", 422, "bad-value", body={**product, "list_price": -1})
    call("adminCreateProduct", 401, "admin-key-required", body=product)
    sale = {"title": "Now", "start_ms": now + 3600000, "end_ms": now + 7200000, "limit_per_user": 5}
    ids["sale"] = admin("adminCreateSale", 201, body=sale)["id"]
    admin("adminCreateSale", 422, "bad-value", body={**sale, "end_ms": now - 1})
    item = {"sale": ids["sale"], "product": ids["product"], "flash_price": 9900, "total": 10, "safety": 2, "channels": {"web": 5, "app": 3}}
    ids["item"] = admin("adminCreateItem", 201, body=item)["id"]
    ids["many"] = admin("adminCreateItem", 201, body={**item, "limit_per_user": 3})["id"]
    ids["timetable"] = admin("adminCreateTimetable", 201, body={"model": ids["sale"], "title": "S", "start": "00:00", "duration_s": 60,
                                                                "offset_min": 0, "ahead_s": 120, "active": False})["id"]
    ids["one"] = admin("adminCreateItem", 201, body={"sale": ids["sale"], "product": ids["product"], "flash_price": 1, "total": 1})["id"]
    admin("adminCreateItem", 422, "bad-value", body={**item, "channels": {"web": 1}})
    admin("adminCreateItem", 422, "bad-value", body={**item, "product": 999})
    admin("adminCreateItem", 404, "unknown-sale", body={**item, "sale": 999})
    for name, listed in (("adminListProducts", "products"), ("adminListSales", "sales"), ("adminListItems", "items")):
        true(admin(name, role="viewer")[listed], name)
        admin(name, 400, "bad-query", after="x")
        equal(admin(name, after=4000000000)[listed], [], name)
        call(name, 401, "admin-key-required", key="sk_nobody")
    equal(len(admin("adminListItems", sale=ids["sale"])["items"]), 3)
    equal(admin("adminGetSale", sale=ids["sale"], role="viewer")["published"], False)
    admin("adminGetSale", 404, "unknown-sale", sale=999)
    equal(admin("adminChangeSale", sale=ids["sale"], body={"title": "Soon"})["title"], "Soon")
    admin("adminChangeSale", 404, "unknown-sale", sale=999, body={})
    admin("adminChangeSale", 422, "bad-value", sale=ids["sale"], body={"end_ms": 1})


@rule
def a_body_that_is_no_object_is_400_wherever_one_is_taken():
    for name, (_, path, operation) in operations.items():
        taken = operation.get("requestBody", {}).get("content", {})
        if "application/json" in taken and path.startswith("/admin/"):
            places = {place: ids.get(place, "0" * 16) for place in re.findall(r"{(\w+)}", path)}
            nothing = [b""] if operation["requestBody"]["required"] else []
            for body in (b"{", b"[]", b'{"a":1,"a":1}', b"\xff", *nothing):
                admin(name, 400, "bad-body", body=body, headers={"Content-Type": "application/json"}, **places)


def corrections():
    """Before anything is preheated."""
    product = admin("adminGetProduct", product=ids["product"], role="viewer")
    equal(admin("adminChangeProduct", product=ids["product"], body={"name": product["name"]}), product)
    admin("adminGetProduct", 404, "not-found", product=999)
    admin("adminChangeProduct", 404, "not-found", product=999, body={"name": "x"})
    admin("adminChangeProduct", 422, "bad-value", product=ids["product"], body={"currency": "XX1"})
    admin("adminChangeProduct", 403, "admin-role", product=ids["product"], body={"name": "x"}, role="operator")
    item = admin("adminGetItem", item=ids["item"], role="viewer")
    equal(admin("adminChangeItem", item=ids["item"], body={"flash_price": item["flash_price"]})["flash_price"], item["flash_price"])
    admin("adminGetItem", 404, "unknown-item", item=999)
    admin("adminChangeItem", 404, "unknown-item", item=999, body={"flash_price": 1})
    admin("adminChangeItem", 422, "bad-value", item=ids["item"], body={"flash_price": -1})
    admin("adminChangeItem", 403, "admin-role", item=ids["item"], body={"flash_price": 1}, role="operator")
    sale = admin("adminCreateSale", 201, body={"title": "Corrected", "start_ms": 4000000000000, "end_ms": 4000000001000})["id"]
    wrong = admin("adminCreateItem", 201, body={"sale": sale, "product": ids["product"], "flash_price": 1, "total": 1})["id"]
    equal(admin("adminRemoveItem", item=wrong)["removed"], True)
    admin("adminRemoveItem", 404, "unknown-item", item=wrong)
    admin("adminRemoveItem", 403, "admin-role", item=ids["item"], role="operator")
    admin("adminEndSale", 409, "conflict", sale=sale)
    admin("adminReopenSale", 409, "conflict", sale=sale)
    admin("adminReopenSale", 404, "unknown-sale", sale=999)
    admin("adminReopenSale", 403, "admin-role", sale=sale, role="operator")


@rule
def units_are_loaded_and_the_sale_is_published():
    corrections()
    equal(admin("adminItemCounts", item=ids["item"], role="viewer")["counts"], None)
    admin("adminItemCounts", 404, "unknown-item", item=999)
    admin("adminAdjustItem", 404, "unknown-item", item=999, body={"delta": 1})
    admin("adminAdjustItem", 409, "conflict", item=ids["item"], body={"delta": 1})
    admin("adminMoveUnits", 409, "conflict", item=ids["item"], body={"from": "web", "to": "safety", "quantity": 1})
    admin("adminPauseSale", 404, "unknown-sale", sale=999)
    equal(admin("adminPreheatItem", item=ids["item"], role="operator")["result"], "preheated")
    equal(admin("adminPreheatItem", item=ids["item"])["result"], "unchanged")
    admin("adminPreheatItem", 404, "unknown-item", item=999)
    admin("adminPreheatItem", 403, "admin-role", item=ids["item"], role="viewer")
    equal([one["result"] for one in admin("adminPreheatSale", sale=ids["sale"])["items"]], ["unchanged", "preheated", "preheated"])
    admin("adminPreheatSale", 404, "unknown-sale", sale=999)
    admin("adminPreheatSale", 403, "admin-role", sale=ids["sale"], role="viewer")
    call("getSale", 404, "unknown-sale", sale=ids["sale"])
    equal(admin("adminPublishSale", sale=ids["sale"])["published"], True)
    admin("adminPublishSale", 404, "unknown-sale", sale=999)
    admin("adminPublishSale", 403, "admin-role", sale=ids["sale"], role="operator")
    eventually(lambda: call("listSales", 200)["sales"], "the sale is not shown")


@rule
def the_public_reads_sales_and_items():
    summary = call("listSales", 200)["sales"][0]
    equal((summary["id"], summary["state"], summary["item_count"]), (ids["sale"], "scheduled", 3))
    equal([item["id"] for item in summary["items"]], [ids["item"], ids["many"], ids["one"]])
    equal(call("listSales", 200, after="9999999999999.1")["sales"], [])
    equal(call("listSales", 200, ended=1)["sales"], [])
    call("listSales", 400, "bad-query", after="x")
    sale = call("getSale", 200, sale=ids["sale"])
    true("description" not in sale["items"][0]["product"], "a list carries descriptions")
    equal(len(call("getSale", 200, sale=ids["sale"], after=ids["item"])["items"]), 2)
    call("getSale", 400, "bad-query", sale=ids["sale"], after="-1")
    call("getSale", 404, "unknown-sale", sale=999)
    item = call("getItem", 200, item=ids["item"])
    equal((item["product"]["description"], item["counts"]["given"], item["accepting"]), ("Boils.", 5, False))
    call("getItem", 404, "unknown-item", item=999)


@rule
def pictures_are_added_shown_and_removed():
    kind = {"Content-Type": "image/jpeg"}
    upload = admin("adminAddMedia", 202, body=JPEG, headers=kind)["upload"]
    picture = eventually(lambda: admin("adminGetUpload", upload=upload, role="viewer").get("path"), "it is not kept", patience_s=60)
    admin("adminAddMedia", 422, "bad-value", body=b"GIF89a", headers=kind)
    admin("adminAddMedia", 400, "bad-query", body=JPEG, headers=kind, at="x")
    admin("adminAddMedia", 404, "not-found", body=JPEG, headers=kind, upload=999, at=0)
    admin("adminAddMedia", 409, "conflict", body=JPEG, headers=kind, upload=upload, at=1)
    admin("adminAddMedia", 415, "media-type", body=JPEG, headers={"Content-Type": "text/plain"})
    admin("adminAddMedia", 403, "admin-role", body=JPEG, headers=kind, role="operator")
    call("adminAddMedia", 401, "admin-key-required", body=JPEG, headers=kind)
    admin("adminGetUpload", 404, "not-found", upload=999)
    equal([one["path"] for one in admin("adminListMedia", role="viewer")["media"]], [picture])
    call("adminListMedia", 401, "admin-key-required")
    name = picture.removeprefix("/media/")
    call("getPicture", 200, name=name)
    call("getPicture", 304, name=name, headers={"If-None-Match": server.get(picture).headers["etag"]})
    call("getPicture", 404, "not-found", name="x")
    shown = admin("adminCreateProduct", 201, body={"name": "Shown", "list_price": 1, "images": [picture]})
    equal(shown["images"], [picture])
    admin("adminRemoveMedia", 409, "conflict", body={"path": picture})
    admin("adminRemoveMedia", 404, "not-found", body={"path": "/media/x"})
    admin("adminRemoveMedia", 422, "bad-value", body={"path": 7})
    admin("adminRemoveMedia", 415, "media-type", body=b"{}", headers={"Content-Type": "text/plain"})
    other = admin("adminAddMedia", 202, body=png(9, 9), headers={"Content-Type": "image/png"})["upload"]
    dropped = eventually(lambda: admin("adminGetUpload", upload=other).get("path"), "it is not kept", patience_s=60)
    equal(admin("adminRemoveMedia", body={"path": dropped})["path"], dropped)


@rule
def sales_are_cloned_hidden_and_put_away():
    now = call("getTime", 200)["now_ms"]
    times = {"start_ms": now + 7200000, "end_ms": now + 9000000}
    clone = admin("adminCloneSale", 201, sale=ids["sale"], body={**times, "totals": {str(ids["one"]): 3}})
    equal((clone["title"], clone["published"], clone["archived"]), ("Soon", False, False))
    admin("adminCloneSale", 422, "bad-value", sale=ids["sale"], body={**times, "totals": {"999": 3}})
    admin("adminCloneSale", 415, "media-type", sale=ids["sale"], body=b"{}", headers={"Content-Type": "text/plain"})
    admin("adminUnpublishSale", 415, "media-type", sale=ids["sale"], body=b"{}", headers={"Content-Type": "text/plain"})
    admin("adminPublishSale", sale=clone["id"])
    equal(admin("adminUnpublishSale", sale=clone["id"])["published"], False)
    admin("adminUnpublishSale", 422, "bad-value", sale=clone["id"], body={"force": 1})
    admin("adminPublishSale", sale=clone["id"])
    admin("adminOpenSale", sale=clone["id"])
    admin("adminUnpublishSale", 409, "conflict", sale=clone["id"], body={"force": True})
    admin("adminArchiveSale", 409, "conflict", sale=clone["id"])
    admin("adminEndSale", sale=clone["id"])
    equal([sale["id"] for sale in call("listSales", 200, ended=1)["sales"]], [clone["id"]])
    equal(admin("adminArchiveSale", sale=clone["id"])["archived"], True)
    equal([sale["id"] for sale in admin("adminListSales", archived=1)["sales"]], [clone["id"]])
    admin("adminEndSale", 409, "conflict", sale=clone["id"])
    equal(admin("adminUnarchiveSale", sale=clone["id"])["archived"], False)
    for name in ("adminCloneSale", "adminUnpublishSale", "adminArchiveSale", "adminUnarchiveSale"):
        body = times if name == "adminCloneSale" else None
        admin(name, 404, "unknown-sale", sale=999, body=body)
        admin(name, 403, "admin-role", sale=clone["id"], role="operator", body=body)
        call(name, 401, "admin-key-required", sale=clone["id"], body=body)


@rule
def a_sale_leaves_for_a_bundle_and_a_customer_is_erased():
    now = call("getTime", 200)["now_ms"]
    sale = admin("adminCreateSale", 201, body={"title": "Over", "start_ms": now - 1000, "end_ms": now + 1000})["id"]
    admin("adminBundleSale", 409, "conflict", sale=sale)
    equal([admin("adminBundle", sale=sale)[name] for name in ("step", "can")], ["none", False])
    eventually(lambda: call("getTime", 200)["now_ms"] > now + 1000, "it does not end")
    equal(admin("adminBundle", sale=sale)["can"], True)
    equal(admin("adminBundleSale", sale=sale)["sale"], sale)
    eventually(lambda: admin("adminBundle", sale=sale)["step"] == "done", "it does not leave")
    admin("adminUnarchiveSale", 409, "conflict", sale=sale)
    equal(admin("adminEraseCustomer", body={"subject": "nobody"})["rows"], 0)
    admin("adminEraseCustomer", 422, "bad-value", body={})
    equal((admin("adminBundle", sale=sale)["name"], admin("adminArchive")["failed"]), (f"sale-{sale:05d}.bundle", 0))
    equal(admin("adminArchiveDue", body={"after_days": 36500})["asked"], 0)
    admin("adminArchiveDue", 422, "bad-value", body={"after_days": 36501})
    for name in ("adminBundle", "adminBundleSale"):
        admin(name, 404, "unknown-sale", sale=999)
    admin("adminBundleSale", 403, "admin-role", sale=sale, role="operator")
    for name, values in (("adminArchiveDue", {"body": {"after_days": 9}}), ("adminEraseCustomer", {"body": {"subject": "a"}})):
        admin(name, 400, **{**values, "body": b"{"}, headers={"Content-Type": "application/json"})
        admin(name, 403, "admin-role", role="operator", **values)


@rule
def sessions_come_from_tokens_and_passes_from_sessions():
    alice = call("openSession", 201, session=shop_token())
    equal((alice["guest"], call("openSession", 201, session=shop_token())["user"]), (False, alice["user"]))
    bob = call("openSession", 201)
    equal(bob["guest"], True)
    call("openSession", 401, "token-invalid", session=shop_token(exp=1))
    call("openSession", 401, "token-invalid", session="nonsense")
    ids.update(alice=alice["session"], bob=bob["session"], bob_user=bob["user"])
    call("getPass", 401, "session-required", item=ids["item"])
    call("getPass", 401, "session-invalid", item=ids["item"], session="x" * 48)
    call("getPass", 404, "unknown-item", item=999, session=ids["alice"])
    early = call("getPass", 403, "not-started", item=ids["item"], session=ids["alice"])
    true(early["start_ms"] > 0, "no start_ms")


@rule
def the_gates_open_pause_and_resume():
    for name in ("adminOpenSale", "adminPauseSale", "adminResumeSale"):
        admin(name, 403, "admin-role", sale=ids["sale"], role="viewer")
        equal(admin(name, sale=ids["sale"], role="operator"), {"sale": ids["sale"], "changed": True})
        equal(admin(name, sale=ids["sale"])["changed"], False)
        admin(name, 404, "unknown-sale", sale=999)
        if name == "adminPauseSale":
            call("buy", 403, "paused", item=ids["item"])
    eventually(lambda: call("getItem", 200, item=ids["item"])["accepting"], "not accepting")
    now = call("getTime", 200)["now_ms"]
    admin("adminChangeSale", 409, "conflict", sale=ids["sale"], body={"start_ms": now + 1000})
    admin("adminChangeSale", 409, "conflict", sale=ids["sale"], body={"limit_per_user": 0})


@rule
def channels_and_safety_stock_are_as_documented():
    item = ids["many"]
    figures = {"units": 10, "orders": 8, "visits": 100, "value": 9900}
    equal(admin("adminTellFigures", body={"channel": "app", **figures}, role="operator")["channel"], "app")
    admin("adminTellFigures", 422, "bad-channel", body={"channel": "moon", **figures})
    admin("adminTellFigures", 403, "admin-role", body={"channel": "app", **figures}, role="viewer")
    equal([row["channel"] for row in admin("adminListChannels", role="viewer")["channels"]], ["web", "app"])
    call("adminListChannels", 401, "admin-key-required")
    equal(len(admin("adminPreviewAllocation", item=item, role="viewer")["channels"]), 2)
    admin("adminPreviewAllocation", 404, "unknown-item", item=999)
    equal(admin("adminAllocate", item=item, body={"shares": {"web": 5, "app": 3}}, role="operator")["moved"], 0)
    admin("adminAllocate", 422, "bad-value", item=item, body={"shares": {}})
    admin("adminAllocate", 404, "unknown-item", item=999, body={"shares": {"web": 1}})
    equal(admin("adminSafety", item=item, role="viewer")["safety"], 2)
    admin("adminSafety", 404, "unknown-item", item=999)
    admin("adminUseSafety", 409, "conflict", item=item, body={"quantity": 3, "reason": "loss"})
    admin("adminUseSafety", 422, "bad-value", item=item, body={"quantity": 1, "reason": "gift"})
    equal(admin("adminUseSafety", item=item, body={"quantity": 1, "reason": "loss", "note": "x"}, role="operator")["safety"], 1)
    admin("adminMoveUnits", item=item, body={"from": "web", "to": "safety", "quantity": 1})
    admin("adminAdjustItem", item=item, body={"delta": 1})  # as it was
    made = admin("adminCreateKey", 201, body={"name": "app-1", "role": "channel=app"})
    channel = {"key": made["key"]}
    equal(call("channelItem", 200, item=item, **channel)["free"], 3)
    call("channelItem", 404, "unknown-item", item=999, **channel)
    call("channelItem", 403, "admin-role", item=item, key="admin")
    key = {"Idempotency-Key": "c1"}
    won = call("channelReserve", 201, item=item, body={"buyer": "b"}, headers=key, **channel)
    equal(call("channelReserve", 200, item=item, body={"buyer": "b"}, headers=key, **channel)["order"], won["order"])
    call("channelReserve", 422, "key-reused", item=item, body={"buyer": "b", "quantity": 2}, headers=key, **channel)
    call("channelReserve", 400, "key-required", item=item, body={"buyer": "b"}, **channel)
    call("channelReserve", 409, "sold-out", item=item, body={"buyer": "c", "quantity": 3}, headers={"Idempotency-Key": "c2"}, **channel)
    order = {"order": won["order"], **channel}
    eventually(lambda: server.request("GET", f"/channel/v1/orders/{won['order']}?buyer=b", None,
                                      {"Authorization": f"Bearer {made['key']}"}).status == 200, "it is written")
    equal(call("channelOrder", 200, buyer="b", **order)["state"], "pending")
    call("channelOrder", 404, "unknown-order", buyer="x", **order)
    call("channelOrder", 400, "bad-query", **order)
    call("channelConfirm", 404, "unknown-order", body={"buyer": "x"}, **order)
    equal(call("channelConfirm", 200, body={"buyer": "b"}, **order)["state"], "paid")
    call("channelReturn", 422, "bad-value", body={"buyer": "b", "to": "moon"}, **order)
    equal(call("channelReturn", 200, body={"buyer": "b"}, **order)["state"], "refunded")
    call("channelConfirm", 409, "order-closed", body={"buyer": "b"}, **order)
    equal(call("channelReport", 201, item=item, body={"reference": "r", "quantity": 1}, **channel)["missing"], 0)
    equal(call("channelReport", 200, item=item, body={"reference": "r", "quantity": 1}, **channel)["taken"], 1)
    call("channelReport", 409, "reference-used", item=item, body={"reference": "r", "quantity": 2}, **channel)
    equal(len(admin("adminListReports", item=item, channel="app", missing=0)["reports"]), 1)
    admin("adminListReports", 400, "bad-query", item="x")
    equal(call("channelFigures", 200, body=figures, **channel)["by"], "app-1")
    call("channelFigures", 422, "bad-value", body={**figures, "channel": "web"}, **channel)
    ids["channel"] = made["key"]
    refusals_of_channels(item, channel, order)


def refusals_of_channels(item, channel, order):
    garbage = {"body": b"{", "headers": {"Content-Type": "application/json"}, **channel}
    call("channelReserve", 404, "unknown-item", item=999, body={"buyer": "b"}, headers={"Idempotency-Key": "c3"}, **channel)
    call("channelReport", 400, "bad-body", item=item, **garbage)
    call("channelReport", 404, "unknown-item", item=999, body={"reference": "r", "quantity": 1}, **channel)
    call("channelReport", 422, "bad-value", item=item, body={"reference": "a b", "quantity": 1}, **channel)
    call("channelConfirm", 400, "bad-body", order=order["order"], **garbage)
    call("channelConfirm", 422, "bad-value", body={}, **order)
    call("channelReturn", 400, "bad-body", order=order["order"], **garbage)
    call("channelReturn", 404, "unknown-order", body={"buyer": "x"}, **order)
    call("channelFigures", 400, "bad-body", **garbage)
    admin("adminListReports", 422, "bad-channel", channel="x" * 17)
    admin("adminUseSafety", 404, "unknown-item", item=999, body={"quantity": 1, "reason": "loss"})
    short = server.open_item(total=6, channels={"web": 3, "app": 3}, pay_window_ms=1000, channel_return_ms=1000000)
    late = call("channelReserve", 201, item=short, body={"buyer": "b"}, headers={"Idempotency-Key": "late"}, **channel)["order"]
    address = f"/channel/v1/orders/{late}?buyer=b"
    eventually(lambda: b"expired" in server.request("GET", address, None, {"Authorization": f"Bearer {channel['key']}"}).body, "it expires")
    call("channelReturn", 409, "order-closed", order=late, body={"buyer": "b"}, **channel)
    admin("adminChangeItem", item=short, body={"channel_return_ms": 1})
    admin("adminAllocate", 409, "conflict", item=short, body={"shares": {"app": 1}})
    admin("adminEndSale", sale=server.sale_of(short))
    call("channelReserve", 410, "ended", item=short, body={"buyer": "c"}, headers={"Idempotency-Key": "over"}, **channel)


def pass_for(item, session):
    return call("getPass", 201, item=item, session=session)["pass"]


@rule
def purchases_win_and_lose_as_documented():
    item, alice, bob = ids["item"], ids["alice"], ids["bob"]
    mine = pass_for(item, alice)
    won = call("buy", 202, item=item, pass_=mine, session=alice, headers={"Idempotency-Key": '"first"'})
    ids["ticket"], ids["order"] = won["ticket"], won["order"]
    again = call("buy", 202, item=item, pass_=mine, headers={"Idempotency-Key": "first"})
    equal(again, won, "quoted and bare keys are the same")
    equal(call("buy", 409, "already-bought", item=item, pass_=mine)["ticket"], won["ticket"])
    call("buy", 422, "key-reused", item=item, pass_=mine, body={"quantity": 2}, headers={"Idempotency-Key": "first"})
    call("buy", 403, "pass-required", item=item)
    call("buy", 403, "pass-invalid", item=item, pass_="x" * 48)
    call("buy", 403, "pass-foreign", item=ids["one"], pass_=mine)
    call("buy", 403, "pass-foreign", item=item, pass_=mine, session=bob)
    call("buy", 401, "session-invalid", item=item, pass_=mine, session="x" * 48)
    call("buy", 404, "unknown-item", item=999, pass_=mine)
    theirs = pass_for(item, bob)
    for body in (b"{", b"[]", b'{"quantity":1,"quantity":1}', b'{"size":1}'):
        call("buy", 400, "bad-body", item=item, pass_=theirs, body=body)
    for quantity in (b"0", b"-1", b"2147483648", b"18446744073709551616", b'"1e3"', b"1001"):
        call("buy", 422, "bad-quantity", item=item, pass_=theirs, body=b'{"quantity":%s}' % quantity)
    call("buy", 422, "bad-channel", item=item, pass_=theirs, body={"channel": "moon"})
    call("buy", 400, "bad-key", item=item, pass_=theirs, headers={"Idempotency-Key": "x" * 65})
    call("buy", 409, "limit-reached", item=item, pass_=theirs, body={"quantity": 2})


@rule
def quantities_above_one_need_a_key_and_obey_limits():
    item, bob = ids["many"], ids["bob"]
    ticket = pass_for(item, bob)
    call("buy", 400, "key-required", item=item, pass_=ticket)
    equal(call("buy", 202, item=item, pass_=ticket, body={"quantity": 2}, headers={"Idempotency-Key": "a"})["quantity"], 2)
    call("buy", 409, "limit-reached", item=item, pass_=ticket, body={"quantity": 2}, headers={"Idempotency-Key": "b"})
    other, third = (call("openSession", 201)["session"] for _ in range(2))
    call("buy", 202, item=item, pass_=pass_for(item, other), body={"quantity": 2}, headers={"Idempotency-Key": "a"})
    few = call("buy", 409, "sold-out", item=item, pass_=pass_for(item, third), body={"quantity": 3}, headers={"Idempotency-Key": "a"})
    equal(few["free"], 1, "5 units on the web, 4 taken")
    call("buy", 202, item=item, pass_=pass_for(item, third), body={"quantity": 1}, headers={"Idempotency-Key": "a"})
    one = ids["one"]
    call("buy", 202, item=one, pass_=pass_for(one, bob))
    equal(call("buy", 409, "sold-out", item=one, pass_=pass_for(one, third))["free"], 0)


@rule
def owners_see_their_orders_and_nobody_else_does():
    ticket, order, alice, bob = ids["ticket"], ids["order"], ids["alice"], ids["bob"]
    view = call("getTicket", 200, ticket=ticket, session=alice, wait=20)
    equal((view["state"], view["order"]), ("pending", order))
    equal(call("getOrder", 200, order=order, session=alice), view)
    equal(call("getTicket", 200, ticket=ticket, session=alice, wait=1, version=view["version"]), view)
    for name, value in (("getTicket", {"ticket": ticket}), ("getOrder", {"order": order})):
        call(name, 404, "unknown-order", session=bob, **value)
        call(name, 401, "session-required", **value)
        call(name, 400, "bad-query", session=alice, wait=31, **value)
        call(name, 404, "unknown-order", session=alice, **{next(iter(value)): "nothex"})
    equal(call("listOrders", 200, session=alice)["orders"], [view])
    call("listOrders", 401, "session-invalid", session="y" * 48)
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
               "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    call("openPush", 101, session=alice, headers=upgrade)
    call("openPush", 101, headers={**upgrade, "Sec-WebSocket-Protocol": f"stampede.v1, bearer.{alice}"}, watch=ids["item"])
    call("openPush", 400, "bad-query", session=alice, headers=upgrade, watch="x")
    call("openPush", 400, "malformed-request", session=alice, headers={**upgrade, "Sec-WebSocket-Key": "x"})
    call("openPush", 401, "session-invalid", session="y" * 48, headers=upgrade)
    call("openPush", 403, "origin-not-allowed", session=alice, headers={**upgrade, "Origin": "https://evil.example"})
    call("openPush", 426, "upgrade-required", session=alice)
    with Push(server, alice, path=f"/v1/push?watch={ids['item']}") as push:
        push.watch(ids["many"])
        for message in (push.message(), push.message()):
            schema = document["components"]["schemas"]["PushMessage"]
            equal(errors_of(message, schema, strict=True), [], json.dumps(message)[:600])
    equal(call("getMine", 200, item=ids["item"], session=alice), {"item": ids["item"], "bought": True, "quantity": 1, "ticket": ticket})
    equal(call("getMine", 200, item=ids["item"], session=bob)["bought"], False)
    call("getMine", 401, "session-required", item=ids["item"])
    call("getMine", 404, "unknown-item", item=999, session=alice)


@rule
def administrators_move_units_and_read_lists():
    item = ids["item"]
    equal(admin("adminAdjustItem", item=item, body={"delta": 5}, role="operator")["applied"], 5)
    true(-100 < admin("adminAdjustItem", item=item, body={"delta": -100, "channel": "app"})["applied"] < 0)
    admin("adminAdjustItem", 422, "bad-channel", item=item, body={"delta": 1, "channel": "moon"})
    admin("adminAdjustItem", 422, "bad-quantity", item=item, body={"delta": 100000000})
    admin("adminAdjustItem", 422, "bad-value", item=item, body={"delta": "5"})
    admin("adminAdjustItem", 400, "bad-body", item=item, body=[])
    equal(admin("adminMoveUnits", item=item, body={"from": "safety", "to": "app", "quantity": 50})["applied"], 2)
    admin("adminMoveUnits", 422, "bad-channel", item=item, body={"from": "app", "to": "app", "quantity": 1})
    admin("adminMoveUnits", 404, "unknown-item", item=999, body={"from": "web", "to": "app", "quantity": 1})
    eventually(lambda: admin("adminItemCounts", item=item)["orders"] == 1, "the order is not counted")
    orders = admin("adminListOrders", item=item, role="viewer")["orders"]
    equal([one["view"]["ticket"] for one in orders], [ids["ticket"]])
    eventually(lambda: len(admin("adminListOrders", user=ids["bob_user"])["orders"]) == 2, "orders of one user")
    page = admin("adminListOrders", limit=1)
    true(all(one["number"] < page["next"] for one in admin("adminListOrders", before=page["next"])["orders"]), "before")
    admin("adminListOrders", 400, "bad-query", limit=101)
    one = admin("adminListOrders", limit=1)["orders"][0]
    equal(admin("adminGetOrder", order=one["view"]["order"], role="viewer"), one)
    admin("adminGetOrder", 404, "unknown-order", order="0" * 16)
    admin("adminListOrders", 400, "bad-query", user="bob")
    equal(admin("adminListDeadLetters", role="viewer")["dead_letters"], [])
    call("adminListDeadLetters", 401, "admin-key-required")
    actions = [entry["action"] for entry in admin("adminListAudit", role="viewer")["audit"]]
    true({"sale.publish", "item.adjust", "sale.open"} <= set(actions), str(actions))
    admin("adminListAudit", 400, "bad-query", after="x")


@rule
def keys_are_made_and_revoked():
    made = admin("adminCreateKey", 201, body={"name": "till", "role": "operator"})
    admin("adminCreateKey", 409, "conflict", body={"name": "till", "role": "viewer"})
    admin("adminCreateKey", 422, "bad-value", body={"name": "a:b", "role": "viewer"})
    admin("adminCreateKey", 400, "bad-body", body=[])
    admin("adminCreateKey", 403, "admin-role", role="operator", body={"name": "mine", "role": "admin"})
    true(any(row["name"] == "till" for row in admin("adminGetSettings")["keys"]))
    equal(admin("adminRevokeKey", body={"name": "till"})["role"], made["role"])
    admin("adminRevokeKey", 404, "not-found", body={"name": "till", "kind": "key"})
    admin("adminRevokeKey", 409, "conflict", body={"name": "admin"})
    admin("adminRevokeKey", 422, "bad-value", body={"name": "admin", "kind": "badge"})
    admin("adminRevokeKey", 403, "admin-role", role="operator", body={"name": "admin"})


@rule
def bans_are_made_listed_and_lifted():
    good = {"minutes": 5, "reason": "guesses"}
    made = admin("adminAddBan", 201, role="operator", body={**good, "address": "203.0.113.0/24"})
    mallory = call("openSession", 201, session=shop_token(sub="mallory"))["session"]
    user = admin("adminAddBan", 201, body={**good, "user": "mallory", "sessions": False})
    equal([row["id"] for row in admin("adminListBans", role="viewer")["bans"]], [made["id"], user["id"]])
    admin("adminListBans", 400, "bad-query", all=2)
    admin("adminAddBan", 400, "bad-body", body=[])
    admin("adminAddBan", 422, "bad-value", body={**good, "address": "203.0.113.1/24"})
    admin("adminAddBan", 403, "admin-role", role="viewer", body={**good, "address": "203.0.113.1"})
    call("openSession", 403, "banned", session=shop_token(sub="mallory"))
    call("getPass", 403, "banned", session=mallory, item=ids["item"])
    for ban in (made, user):
        true(admin("adminLiftBan", ban=ban["id"], role="operator")["lifted_ms"] > 0)
    admin("adminLiftBan", 409, "conflict", ban=made["id"])
    admin("adminLiftBan", 404, "not-found", ban=4294967295)
    admin("adminLiftBan", 403, "admin-role", ban=1, role="viewer")
    equal(admin("adminListBans")["bans"], [])
    equal(len(admin("adminListBans", all=1)["bans"]), 2)
    equal(admin("adminWatch", role="viewer")["findings"], [])
    call("adminWatch", 401, "admin-key-required")


@rule
def webhooks_are_listed_and_replayed():
    equal(admin("adminListWebhooks", role="viewer", state="failed")["webhooks"], [])
    listed = eventually(lambda: admin("adminListWebhooks", after=0)["webhooks"], "nothing to tell")
    admin("adminListWebhooks", 400, "bad-query", state="lost")
    equal(admin("adminReplayWebhook", webhook=listed[0]["id"], role="operator"), {"replayed": 1})
    admin("adminReplayWebhook", 404, "not-found", webhook=4294967295)
    admin("adminReplayWebhook", 403, "admin-role", webhook=1, role="viewer")
    equal(admin("adminReplayWebhooks", body={"from_ms": 9000000000000}), {"replayed": 0})
    admin("adminReplayWebhooks", 422, "bad-value", body={"from_ms": "now"})
    admin("adminReplayWebhooks", 400, "bad-body", body=[])
    plain = Server().start()  # has nobody to tell
    for name, path, body in (("adminReplayWebhook", "/webhooks/1/replay", None),
                             ("adminReplayWebhooks", "/webhooks/replay", {"from_ms": 0})):
        reply = plain.admin("POST", path, body)
        equal((reply.status, check(operations[name][2], reply)["type"]), (409, "/problems/conflict"))
        seen[name].add(reply.status)


@rule
def orders_are_paid_cancelled_and_refunded():
    order, alice, bob, nobody = ids["order"], ids["alice"], ids["bob"], "0" * 15 + "1"
    view = call("getOrder", 200, order=order, session=alice)
    money = {"amount": view["amount"], "currency": view["currency"], "reference": "r1"}
    admin("adminRefundOrder", 409, "not-paid", order=order, body={"to": "stock"})
    admin("adminPayOrder", 409, "amount-mismatch", order=order, body={**money, "amount": 1})
    admin("adminPayOrder", 422, "bad-value", order=order, body={**money, "reference": ""})
    admin("adminPayOrder", 404, "unknown-order", order=nobody, body=money)
    equal(admin("adminPayOrder", order=order, body=money, role="operator")["state"], "paid")
    admin("adminPayOrder", 409, "already-paid", order=order, body={**money, "reference": "r2"})
    call("cancelOrder", 409, "already-paid", order=order, session=alice)
    call("cancelOrder", 404, "unknown-order", order=order, session=bob)
    call("cancelOrder", 401, "session-required", order=order)
    admin("adminCancelOrder", 409, "already-paid", order=order)
    admin("adminCancelOrder", 404, "unknown-order", order=nobody)
    equal(admin("adminNoteOrder", 201, order=order, body={"note": "called"}, role="operator")["note"], "called")
    admin("adminNoteOrder", 422, "bad-value", order=order, body={"note": ""})
    admin("adminNoteOrder", 404, "unknown-order", order=nobody, body={"note": "x"})
    admin("adminNoteOrder", 403, "admin-role", order=order, body={"note": "x"}, role="viewer")
    admin("adminRefundOrder", 422, "bad-value", order=order, body={"to": "moon"})
    admin("adminRefundOrder", 404, "unknown-order", order=nobody, body={"to": "stock"})
    admin("adminRefundOrder", 403, "admin-role", role="operator", order=order, body={"to": "stock"})
    equal(admin("adminRefundOrder", order=order, body={"to": "safety"})["state"], "refunded")
    admin("adminPayOrder", 409, "order-closed", order=order, body={**money, "reference": "r3"})
    first, second = [one["order"] for one in call("listOrders", 200, session=bob)["orders"]][:2]
    mine = call("getOrder", 200, order=first, session=bob)
    admin("adminPayOrder", 409, "reference-used", order=first, body={**money, "amount": mine["amount"]})
    equal(call("cancelOrder", 200, order=first, session=bob)["reason"], "cancelled")
    equal(admin("adminCancelOrder", order=second, role="operator")["state"], "closed")
    call("getOrder", 200, order=second, session=bob)


DETAILS = {"name": "Ada", "phone": "12345", "address": "1 Example Street"}


def open_item(**fields):
    now = call("getTime", 200)["now_ms"]
    sale = admin("adminCreateSale", 201, body={"title": "Paying", "start_ms": now, "end_ms": now + 3600000})["id"]
    item = admin("adminCreateItem", 201, body={"sale": sale, "product": ids["product"], "flash_price": 900, "total": 9, **fields})["id"]
    admin("adminPublishSale", sale=sale)
    eventually(lambda: call("getItem", 200, item=item)["accepting"], "not accepting")
    return item


def order_for(item, session):
    ticket = call("buy", 202, item=item, pass_=pass_for(item, session))["ticket"]
    return call("getTicket", 200, ticket=ticket, session=session, wait=20)["order"]


@rule
def orders_are_paid_through_a_provider_and_given_back():
    alice, bob = ids["alice"], ids["bob"]
    equal(call("listPaymentWays", 200, session=alice)["providers"], ["sandbox"])
    call("listPaymentWays", 401, "session-required")
    item = open_item()
    order = order_for(item, alice)
    call("getOrderDetails", 404, "not-found", order=order, session=alice)
    call("getOrderDetails", 404, "unknown-order", order=order, session=bob)
    call("setOrderDetails", 200, order=order, session=alice, body=DETAILS)
    call("setOrderDetails", 422, "bad-value", order=order, session=alice, body={})
    call("setOrderDetails", 400, "bad-body", order=order, session=alice, body=[])
    call("setOrderDetails", 404, "unknown-order", order=order, session=bob, body=DETAILS)
    equal(call("getOrderDetails", 200, order=order, session=alice), {**DETAILS, "note": ""})
    equal(admin("adminOrderDetails", order=order, role="operator"), {**DETAILS, "note": ""})
    admin("adminOrderDetails", 404, "not-found", order="0" * 16)
    call("refundOrder", 409, "not-paid", order=order, session=alice)
    call("refundOrder", 404, "unknown-order", order=order, session=bob)
    call("payOrder", 422, "bad-value", order=order, session=alice, body={"provider": "moon"})
    call("payOrder", 400, "bad-body", order=order, session=alice, body=[])
    call("payOrder", 404, "unknown-order", order=order, session=bob)
    paying = call("payOrder", 200, order=order, session=alice, body={"provider": "sandbox"})
    call("queryOrder", 202, order=order, session=alice)
    call("queryOrder", 404, "unknown-order", order=order, session=bob)
    payment = paying["payment"]["url"].split("id=")[1]
    equal(call("showSandboxPayment", 200, id=payment)["state"], "open")
    call("showSandboxPayment", 404, "not-found", id="sb_nothing")
    call("paySandboxPayment", 422, "bad-value", id=payment, body={"how": "gold"})
    call("paySandboxPayment", 400, "bad-body", id=payment, body=[])
    call("paySandboxPayment", 404, "not-found", id="sb_nothing", body={"how": "pay"})
    equal(call("paySandboxPayment", 200, id=payment, body={"how": "pay"})["state"], "captured")
    call("paySandboxPayment", 409, "conflict", id=payment, body={"how": "pay"})
    eventually(lambda: call("getOrder", 200, order=order, session=alice)["state"] == "paid", "not paid")
    call("payOrder", 409, "already-paid", order=order, session=alice)
    call("setOrderDetails", 409, "already-paid", order=order, session=alice, body=DETAILS)
    equal([one["use"] for one in admin("adminOrderPayments", order=order, role="viewer")["payments"]], ["order"])
    admin("adminOrderPayments", 404, "unknown-order", order="0" * 15 + "1")
    equal(call("refundOrder", 200, order=order, session=alice)["state"], "refunded")
    eventually(lambda: call("getOrder", 200, order=order, session=alice)["refund"]["state"] == "done", "no refund")
    true("order" in [one["why"] for one in admin("adminListRefunds", role="viewer")["refunds"]])
    admin("adminListRefunds", open=1)
    admin("adminListRefunds", 400, "bad-query", after="x")
    rows = [{"reference": "0123456789abcdef-1", "kind": "captured", "amount": 1, "currency": "CNY"}]
    admin("adminCompareStatement", body={"provider": "sandbox", "rows": rows}, role="operator")
    admin("adminCompareStatement", 422, "bad-value", body={"provider": "sandbox", "rows": 7})
    admin("adminListUnstated", role="viewer", provider="sandbox", of="payments")
    admin("adminListUnstated", 400, "bad-query", provider="sandbox", of="moons")
    totals = admin("adminMoneyTotals", role="viewer")
    equal(totals["captured"] - totals["refunded"], totals["paid"])
    call("adminMoneyTotals", 401, "admin-key-required")
    order = order_for(item, bob)
    call("payOrder", 200, order=order, session=bob)
    call("cancelOrder", 202, order=order, session=bob)


@rule
def what_is_taken_on_payment_is_wished_for_first():
    alice, item, one = ids["alice"], open_item(deduct_on_payment=True), open_item(deduct_on_payment=True, total=1)
    mine = pass_for(item, alice)
    call("buy", 409, "pay-first", item=item, pass_=mine)
    call("getIntent", 403, "pass-required", item=item)
    call("getIntent", 404, "unknown-item", item=999, pass_=mine)
    call("getIntent", 400, "bad-body", item=item, pass_=mine, body=b"[")
    call("getIntent", 422, "bad-quantity", item=item, pass_=mine, body={"quantity": 0})
    on_order = open_item()
    call("getIntent", 409, "conflict", item=on_order, pass_=pass_for(on_order, alice))
    intent = call("getIntent", 201, item=item, pass_=mine)["intent"]
    call("payIntent", 403, "intent-invalid", session=ids["bob"], body={"intent": intent})
    call("payIntent", 422, "bad-value", session=alice, body={"intent": "x"})
    call("payIntent", 400, "bad-body", session=alice, body=[])
    equal(call("payIntent", 200, session=alice, body={"intent": intent, "details": DETAILS})["payment"]["state"], "open")
    late = call("getIntent", 201, item=one, pass_=pass_for(one, alice))["intent"]
    bob = call("getIntent", 201, item=one, pass_=pass_for(one, ids["bob"]))["intent"]
    call("payIntent", 200, session=ids["bob"], body={"intent": bob})
    true("not charged" in call("payIntent", 409, "sold-out", session=alice, body={"intent": late})["detail"])


def bank_signed(path, body):
    with open(os.path.join(server.data, "sandbox.secret"), "rb") as secret:
        key = hashlib.sha256(secret.read().strip()).digest()
    at = int(time.time())
    text = f"{at}.POST.{path}.{hashlib.sha256(body).hexdigest()}".encode()
    return {"Sandbox-Signature": f"t={at},v1={hmac.new(key, text, hashlib.sha256).hexdigest()}",
            "Content-Type": "application/json"}


@rule
def the_sandbox_and_its_callbacks_want_signatures():
    def create(wanted, wanted_type=None, **fields):
        body = json.dumps({"reference": "r", "currency": "CNY", "amount": 1, **fields}).encode()
        call("createSandboxPayment", wanted, wanted_type, body=body, headers=bank_signed("/sandbox/v1/payments", body))

    create(200)
    create(409, amount=2)
    call("createSandboxPayment", 401, "signature-invalid", body={"reference": "r"})
    path = "/v1/payments/sandbox/callback"
    body = json.dumps({"state": "open", "reference": "r"}).encode()
    call("paymentCallback", 204, provider="sandbox", body=body, headers=bank_signed(path, body))
    call("paymentCallback", 400, provider="sandbox", body=body)
    call("paymentCallback", 404, "not-found", provider="moon", body=body)
    equal(admin("adminChangeSandbox", body={"lost": 3})["lost"], 3)
    equal(admin("adminGetSandbox", role="viewer")["lost"], 3)
    admin("adminChangeSandbox", body={"lost": 0})
    admin("adminChangeSandbox", 422, "bad-value", body={"lost": 101})
    admin("adminChangeSandbox", 403, "admin-role", role="operator", body={})
    call("adminGetSandbox", 401, "admin-key-required")


@rule
def switches_are_turned_and_shown():
    before = admin("adminGetSwitches", role="viewer")
    equal(admin("adminChangeSwitches", role="operator", body={"pow_boost": 3})["pow_boost"], 3)
    admin("adminChangeSwitches", 422, "bad-value", body={"pow_boost": 11})
    admin("adminChangeSwitches", 400, "bad-body", body=[])
    admin("adminChangeSwitches", 403, "admin-role", role="viewer", body={})
    call("adminGetSwitches", 401, "admin-key-required")
    session = call("openSession", 201)["session"]
    admin("adminChangeSwitches", body={"refuse_new": True})
    call("openSession", 503, "too-popular")
    call("getPass", 503, "too-popular", item=ids["many"], session=session)
    equal(admin("adminChangeSwitches", body={"pow_boost": 0, "refuse_new": False}), before)


def solution_of(challenge):
    """The computer's work, as a browser does it."""
    given = challenge["parameters"]
    start = bytes.fromhex(given["salt"] + given["nonce"])
    for counter in range(1 << 32):
        key = start + counter.to_bytes(4, "big")
        for _ in range(given["cost"]):
            key = hashlib.sha256(key).digest()
        if key.hex().startswith(given["keyPrefix"]):
            whole = {"challenge": challenge, "solution": {"counter": counter, "derivedKey": key.hex()}}
            return base64.b64encode(json.dumps(whole).encode()).decode()


@rule
def a_sale_may_ask_for_a_human_check_and_passes_that_are_good_once():
    now = call("getTime", 200)["now_ms"]
    sale = admin("adminCreateSale", 201, body={"title": "Checked", "start_ms": now, "end_ms": now + 3600000,
                                               "human_check": "slider", "pass_once": True, "eligible_only": True})["id"]
    item = admin("adminCreateItem", 201, body={"sale": sale, "product": ids["product"], "flash_price": 1, "total": 1})["id"]
    admin("adminPublishSale", sale=sale)
    alice = ids["alice"]
    call("getPass", 403, "human-check-required", item=item, session=alice)
    call("getPass", 400, "bad-body", item=item, session=alice, body={"solution": 1})
    call("getChallenge", 401, "session-required", item=item)
    call("getChallenge", 404, "unknown-item", item=999, session=alice)
    call("getChallenge", 400, "bad-query", item=item, session=alice, kind="image")
    call("getChallenge", 409, "conflict", item=ids["item"], session=alice)
    picture = eventually(lambda: next(filter(lambda given: "token" in given,
                                             [call("getChallenge", 200, item=item, session=alice)]), None))
    wrong = {"token": picture["token"], "x": [1, 1]}
    call("getPass", 403, "human-check-failed", item=item, session=alice, body={"solution": wrong})
    solution = solution_of(call("getChallenge", 200, item=item, session=alice, kind="pow"))
    once = call("getPass", 201, item=item, session=alice, body={"solution": solution})["pass"]
    call("getPass", 409, "human-check-spent", item=item, session=alice, body={"solution": solution})
    call("buy", 403, "not-eligible", item=item, pass_=once)
    call("buy", 403, "pass-spent", item=item, pass_=once)


@rule
def a_sold_out_item_is_waited_for():
    now = call("getTime", 200)["now_ms"]
    sale = admin("adminCreateSale", 201, body={"title": "Few", "start_ms": now, "end_ms": now + 3600000})["id"]
    item = admin("adminCreateItem", 201, body={"sale": sale, "product": ids["product"], "flash_price": 1, "total": 1})["id"]
    admin("adminPublishSale", sale=sale)
    alice, bob = ids["alice"], ids["bob"]
    of_alice, of_bob = pass_for(item, alice), pass_for(item, bob)
    call("joinWaitlist", 409, "not-sold-out", item=item, session=bob, pass_=of_bob)
    call("getWaitlistPlace", 404, "not-waiting", item=item, session=bob)
    order = call("buy", 202, item=item, pass_=pass_for(item, alice))["order"]
    call("joinWaitlist", 409, "already-bought", item=item, session=alice, pass_=of_alice)
    call("joinWaitlist", 409, "limit-reached", item=item, session=bob, pass_=of_bob, body={"quantity": 2})
    call("joinWaitlist", 422, "bad-value", item=item, session=bob, pass_=of_bob, body={"quantity": 0})
    call("joinWaitlist", 400, "bad-body", item=item, session=bob, pass_=of_bob, body=[1])
    call("joinWaitlist", 403, "pass-foreign", item=999, session=bob, pass_=of_bob)
    call("joinWaitlist", 403, "pass-required", item=item, session=bob)
    call("joinWaitlist", 401, "session-required", item=item)
    equal(call("joinWaitlist", 201, item=item, session=bob, pass_=of_bob)["position"], 1)
    equal(call("joinWaitlist", 200, item=item, session=bob, pass_=of_bob)["position"], 1)
    equal(len(admin("adminItemWaitlist", item=item, role="viewer")["waitlist"]), 1)
    admin("adminItemWaitlist", 404, "unknown-item", item=999)
    admin("adminItemWaitlist", 400, "bad-query", item=item, after="x")
    equal(call("leaveWaitlist", 200, item=item, session=bob)["state"], "left")
    call("joinWaitlist", 201, item=item, session=bob, pass_=of_bob)
    eventually(lambda: call("getOrder", 200, order=order, session=alice)["state"] == "pending")
    call("cancelOrder", 200, order=order, session=alice)
    eventually(lambda: call("getWaitlistPlace", 200, item=item, session=bob)["state"] == "offered")
    call("leaveWaitlist", 409, "conflict", item=item, session=bob)
    call("leaveWaitlist", 404, "not-waiting", item=item, session=alice)
    admin("adminEndSale", sale=sale)
    eventually(lambda: call("getItem", 200, item=item)["state"] == "ended")
    call("joinWaitlist", 410, "ended", item=item, session=alice, pass_=of_alice)


@rule
def sessions_and_presales_are_as_the_document_says():
    now = call("getTime", 200)["now_ms"]
    model = admin("adminCreateSale", 201, body={"title": "Model", "start_ms": now - 1000, "end_ms": now + 3600000})["id"]
    item = admin("adminCreateItem", 201, body={"sale": model, "product": ids["product"], "flash_price": 1, "total": 0})["id"]
    other = admin("adminCreateItem", 201, body={"sale": model, "product": ids["product"], "flash_price": 1, "total": 9})["id"]
    start = time.strftime("%H:%M", time.gmtime(now / 1000 + 120))
    wish = {"model": model, "title": "Session", "start": start, "duration_s": 3600, "offset_min": 0, "ahead_s": 600}
    table = admin("adminCreateTimetable", 201, body=wish)["id"]
    admin("adminCreateTimetable", 422, "bad-value", body={**wish, "start": "25:00"})
    admin("adminCreateTimetable", 400, "bad-body", body=[1])
    admin("adminCreateTimetable", 404, "unknown-sale", body={**wish, "model": 9999})
    empty = admin("adminCreateSale", 201, body={"title": "Empty", "start_ms": now, "end_ms": now + 3600000})["id"]
    admin("adminCreateTimetable", 409, "conflict", body={**wish, "model": empty})
    equal(len(admin("adminTimetables", role="viewer")["timetables"]), 2)
    eventually(lambda: any(day["state"] == "made" for day in admin("adminTimetable", timetable=table, role="viewer")["days"]), "no session")
    made = next(day["day"] for day in admin("adminTimetable", timetable=table)["days"] if day["state"] == "made")
    admin("adminTimetable", 404, "not-found", timetable=999)
    call("listSessions", 200)
    far = time.strftime("%Y-%m-%d", time.gmtime(now / 1000 + 5 * 86400))
    admin("adminTimetableDay", timetable=table, body={"day": far, "skip": True}, role="operator")
    for status, name, body in ((422, "bad-value", {"day": "x"}), (400, "bad-body", [1]), (409, "conflict", {"day": made, "skip": True})):
        admin("adminTimetableDay", status, name, timetable=table, body=body)
    admin("adminTimetableDay", 404, "not-found", timetable=999, body={"day": far, "skip": True})
    admin("adminChangeTimetable", timetable=table, body={"active": False})
    for status, name, body in ((422, "bad-value", {"weekdays": [9]}), (400, "bad-body", [1]), (409, "conflict", {"model": empty})):
        admin("adminChangeTimetable", status, name, timetable=table, body=body)
    admin("adminChangeTimetable", 404, "not-found", timetable=999, body={})
    admin("adminItemSoldOut", item=item, body={"when_sold_out": "presale", "presale_cap": 1})
    admin("adminItemSoldOut", 422, "bad-value", item=item, body={"when_sold_out": "never"})
    admin("adminItemSoldOut", 400, "bad-body", item=item, body=[1])
    admin("adminItemSoldOut", 404, "unknown-item", item=999, body={"when_sold_out": "end"})
    admin("adminPublishSale", sale=model)
    alice, bob = ids["alice"], ids["bob"]
    eventually(lambda: call("getItem", 200, item=item).get("offers"), "nothing is offered")
    passes = {who: call("getPass", 201, item=item, session=who)["pass"] for who in (alice, bob)}
    equal(call("bookItem", 201, item=item, session=alice, pass_=passes[alice])["state"], "booked")
    call("bookItem", 200, item=item, session=alice, pass_=passes[alice], body={"quantity": 1})
    call("bookItem", 409, "waitlist-full", item=item, session=bob, pass_=passes[bob])
    call("bookItem", 422, "bad-value", item=item, session=bob, pass_=passes[bob], body={"quantity": 0})
    call("bookItem", 400, "bad-body", item=item, session=bob, pass_=passes[bob], body=[1])
    call("bookItem", 404, "not-found", item=other, session=bob, pass_=call("getPass", 201, item=other, session=bob)["pass"])
    call("joinWaitlist", 409, "conflict", item=item, session=bob, pass_=passes[bob])
    call("showBooking", 200, item=item, session=alice)
    call("showBooking", 404, "not-waiting", item=item, session=bob)
    equal(len(admin("adminItemPresale", item=item, role="viewer")["bookings"]), 1)
    admin("adminItemPresale", 404, "unknown-item", item=999)
    equal(admin("adminPurchases", role="viewer")["purchases"][0]["units"], 1)
    admin("adminItemArrive", item=item, body={"units": 1}, role="operator")
    admin("adminItemArrive", 422, "bad-value", item=item, body={"units": 0})
    admin("adminItemArrive", 400, "bad-body", item=item, body=[1])
    admin("adminItemArrive", 404, "unknown-item", item=999, body={"units": 1})
    admin("adminItemArrive", 409, "conflict", item=other, body={"units": 1})
    eventually(lambda: call("showBooking", 200, item=item, session=alice)["state"] == "offered", "no offer")
    call("leaveBooking", 409, "conflict", item=item, session=alice)
    call("leaveBooking", 404, "not-waiting", item=item, session=bob)
    admin("adminItemSoldOut", item=item, body={"when_sold_out": "presale", "presale_cap": 2})
    call("bookItem", 201, item=item, session=bob, pass_=passes[bob])
    call("leaveBooking", 200, item=item, session=bob)
    admin("adminEndSale", sale=model)
    eventually(lambda: call("getItem", 200, item=item)["state"] == "ended")
    call("bookItem", 410, "ended", item=item, session=bob, pass_=passes[bob])


@rule
def a_waiting_room_is_entered_drawn_and_checked():
    now = call("getTime", 200)["now_ms"]
    wish = {"title": "Room", "start_ms": now + 600000, "end_ms": now + 3600000, "waiting_room": True, "beacon_name": "index"}
    sale = admin("adminCreateSale", 201, body=wish)["id"]
    item = admin("adminCreateItem", 201, body={"sale": sale, "product": ids["product"], "flash_price": 1, "total": 1})["id"]
    admin("adminPublishSale", sale=sale)
    far = admin("adminCreateSale", 201, body={**wish, "title": "Far", "start_ms": now + 3000000})["id"]
    admin("adminCreateItem", 201, body={"sale": far, "product": ids["product"], "flash_price": 1, "total": 1})
    admin("adminPublishSale", sale=far)
    alice, bob = ids["alice"], ids["bob"]
    call("enterRoom", 403, "room-not-open", sale=far, session=bob)
    call("enterRoom", 401, "session-required", sale=sale)
    call("enterRoom", 400, "bad-body", sale=sale, session=bob, body={})
    call("enterRoom", 404, "unknown-sale", sale=999, session=bob)
    call("enterRoom", 404, "no-room", sale=ids["sale"], session=bob)
    call("getRoom", 401, "session-required", sale=sale)
    call("getRoom", 404, "not-in-room", sale=sale, session=bob)
    call("getDraw", 404, "no-room", sale=ids["sale"])
    call("getDrawArrivals", 404, "unknown-sale", sale=999)
    call("getDrawArrivals", 400, "bad-query", sale=sale, after="x")
    call("getDrawArrivals", 403, "not-started", sale=sale)
    eventually(lambda: server.request("POST", f"/v1/sales/{sale}/room", session=alice).status == 202)
    equal(call("enterRoom", 202, sale=sale, session=bob)["number"], 1)
    equal(call("getDraw", 200, sale=sale)["state"], "open")
    equal(call("getSale", 200, sale=sale)["beacon_name"], "index")
    admin("adminChangeSale", 409, "conflict", sale=sale, body={"beacon_name": "another"})
    admin("adminGiveBeacon", 409, "conflict", sale=sale, body={"value": "42"})
    equal(admin("adminTellRoom", sale=sale, role="operator", body={"message": "Soon."})["room_message"], "Soon.")
    admin("adminTellRoom", 409, "conflict", sale=ids["sale"], body={"message": "Soon."})
    admin("adminTellRoom", 404, "unknown-sale", sale=999, body={"message": "Soon."})
    admin("adminTellRoom", 403, "admin-role", sale=sale, role="viewer", body={"message": "Soon."})
    admin("adminTellRoom", 422, "bad-value", sale=sale, body={"message": "two\nlines"})
    eventually(lambda: call("getRoom", 200, sale=sale, session=bob).get("message") == "Soon.")
    admin("adminPreheatSale", sale=sale)
    admin("adminOpenSale", sale=sale)
    eventually(lambda: call("getDraw", 200, sale=sale)["beacon_state"] == "waiting")
    equal(call("getRoom", 200, sale=sale, session=bob)["waits_for_beacon"], True)
    admin("adminGiveBeacon", 404, "unknown-sale", sale=999, body={"value": "42"})
    admin("adminGiveBeacon", 403, "admin-role", sale=sale, role="viewer", body={"value": "42"})
    admin("adminGiveBeacon", 422, "bad-value", sale=sale, body={"value": ""})
    equal(admin("adminGiveBeacon", sale=sale, role="operator", body={"value": "42"})["changed"], True)
    eventually(lambda: call("getDraw", 200, sale=sale).get("head", 0) >= 1)
    equal(call("getDraw", 200, sale=sale)["beacon_state"], "used")
    equal(call("getDrawArrivals", 200, sale=sale)["count"], 2)
    standing = [call("getRoom", 200, sale=sale, session=session)["state"] for session in (alice, bob)]
    if "waiting" in standing:
        call("getPass", 403, "not-your-turn", item=item, session=(alice, bob)[standing.index("waiting")])
    call("getPass", 404, "not-in-room", item=item, session=call("openSession", 201)["session"])
    with Push(server, alice, path=f"/v1/push?room={sale}") as push:
        message = push.message()
        while message["type"] != "room":
            message = push.message()
        equal(errors_of(message, document["components"]["schemas"]["PushMessage"], strict=True), [])
    admin("adminEndSale", sale=sale)
    over = call("getTime", 200)["now_ms"] + 2000
    ended = admin("adminCreateSale", 201, body={**wish, "title": "Over", "start_ms": over - 5000, "end_ms": over})["id"]
    admin("adminCreateItem", 201, body={"sale": ended, "product": ids["product"], "flash_price": 1, "total": 1})
    admin("adminPublishSale", sale=ended)
    eventually(lambda: call("getTime", 200)["now_ms"] > over + 100)
    call("enterRoom", 410, "ended", sale=ended, session=bob)


@rule
def a_sale_for_invited_users_refuses_the_others():
    now = call("getTime", 200)["now_ms"]
    sale = admin("adminCreateSale", 201, body={"title": "Invited", "start_ms": now, "end_ms": now + 3600000, "eligible_only": True})["id"]
    item = admin("adminCreateItem", 201, body={"sale": sale, "product": ids["product"], "flash_price": 1, "total": 5})["id"]
    equal(admin("adminLoadUsers", sale=sale, body={"users": ["alice", "carol"]})["loaded"], 2)
    equal(admin("adminLoadUsers", sale=sale, body={"users": ["alice"]})["loaded"], 0)
    equal(admin("adminRemoveUsers", sale=sale, body={"users": ["carol"]})["removed"], 1)
    eventually(lambda: len(admin("adminListUsers", sale=sale, role="viewer")["users"]) == 1, "one user stays")
    admin("adminListUsers", 404, "unknown-sale", sale=999)
    admin("adminRemoveUsers", 404, "unknown-sale", sale=999, body={"users": ["carol"]})
    admin("adminRemoveUsers", 422, "bad-value", sale=sale, body={})
    admin("adminRemoveUsers", 403, "admin-role", sale=sale, body={"users": []}, role="operator")
    equal(admin("adminLoadUsers", sale=sale, body={"users": ["carol"]})["loaded"], 1)
    admin("adminLoadUsers", 422, "bad-value", sale=sale, body={"users": [1]})
    admin("adminLoadUsers", 404, "unknown-sale", sale=999, body={"users": []})
    admin("adminLoadUsers", 403, "admin-role", sale=sale, body={"users": []}, role="operator")
    admin("adminOpenSale", 409, "conflict", sale=sale)
    admin("adminPublishSale", sale=sale)
    call("buy", 403, "not-eligible", item=item, pass_=pass_for(item, ids["bob"]))
    call("buy", 202, item=item, pass_=pass_for(item, ids["alice"]))


@rule
def before_the_start_and_after_the_end_nothing_is_sold_but_wins_are_told():
    now = call("getTime", 200)["now_ms"]
    sale = admin("adminCreateSale", 201, body={"title": "Later", "start_ms": now + 30000, "end_ms": now + 60000})["id"]
    item = admin("adminCreateItem", 201, body={"sale": sale, "product": ids["product"], "flash_price": 1, "total": 5})["id"]
    admin("adminPublishSale", sale=sale)
    early = pass_for(item, ids["bob"])
    equal(call("buy", 403, "not-started", item=item, pass_=early)["start_ms"], now + 30000)
    late = pass_for(ids["item"], ids["bob"])
    kept = pass_for(ids["item"], ids["alice"])
    admin("adminEndSale", 403, "admin-role", sale=ids["sale"], role="viewer")
    admin("adminPauseSale", sale=ids["sale"])
    new = admin("adminCreateItem", 201, body={"sale": ids["sale"], "product": ids["product"], "flash_price": 1, "total": 5})["id"]
    equal(admin("adminEndSale", sale=ids["sale"], role="operator")["changed"], True)
    equal(admin("adminReopenSale", sale=ids["sale"])["changed"], True)
    admin("adminRemoveItem", 409, "conflict", item=ids["item"])
    admin("adminChangeItem", 409, "conflict", item=ids["item"], body={"total": 1})
    admin("adminChangeProduct", 409, "conflict", product=ids["product"], body={"currency": "EUR"})
    equal(admin("adminEndSale", sale=ids["sale"], role="operator")["changed"], True)
    equal(admin("adminEndSale", sale=ids["sale"])["changed"], False)
    for name in ("adminOpenSale", "adminResumeSale"):
        admin(name, 409, "conflict", sale=ids["sale"])
    admin("adminEndSale", 404, "unknown-sale", sale=999)
    ended = admin("adminCreateSale", 201, body={"title": "Over", "start_ms": now, "end_ms": now + 3600000})["id"]
    admin("adminPreheatItem", item=admin("adminCreateItem", 201, body={"sale": ended, "product": ids["product"], "flash_price": 1, "total": 1})["id"])
    admin("adminCreateItem", 201, body={"sale": ended, "product": ids["product"], "flash_price": 1, "total": 1})
    admin("adminEndSale", sale=ended)
    admin("adminPauseSale", 409, "conflict", sale=ended)
    equal(admin("adminPublishSale", 409, sale=ended)["published"], False)
    eventually(lambda: call("getItem", 200, item=ids["item"])["state"] == "ended", "the end does not show")
    call("buy", 410, "ended", item=ids["item"], pass_=late)
    equal(call("buy", 202, item=ids["item"], pass_=kept, headers={"Idempotency-Key": "first"})["ticket"], ids["ticket"])
    admin("adminCreateItem", 409, "conflict", body={"sale": ids["sale"], "product": ids["product"], "flash_price": 1, "total": 5})
    admin("adminPreheatItem", 409, item=new)
    admin("adminPreheatSale", 409, sale=ids["sale"])
    admin("adminPublishSale", 409, sale=ids["sale"])


def total_set(item, units):
    """The database of the stopped server gets another total than the inventory: it refuses what was won."""
    server.stop()
    with sqlite3.connect(os.path.join(server.data, "stampede.db")) as database:
        database.execute("UPDATE items SET total = ?, version = version + 1 WHERE id = ?", (units, item))
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    server.start()


@rule
def dead_letters_are_shown_and_decided():
    now = call("getTime", 200)["now_ms"]
    sale = admin("adminCreateSale", 201, body={"title": "Refused", "start_ms": now, "end_ms": now + 3600000})["id"]
    item = admin("adminCreateItem", 201, body={"sale": sale, "product": ids["product"], "flash_price": 1, "total": 9,
                                               "limit_per_user": 0})["id"]
    admin("adminPublishSale", sale=sale)
    eventually(lambda: admin("adminItemCounts", item=item)["preheated"], "not preheated")
    total_set(item, 0)
    for key in ("one", "two", "three"):
        call("buy", 202, item=item, session=ids["bob"], pass_=pass_for(item, ids["bob"]), headers={"Idempotency-Key": key})
    letters = eventually(lambda: (admin("adminListDeadLetters", state="open")["dead_letters"] + [None] * 3)[2]
                         and admin("adminListDeadLetters")["dead_letters"], "no dead letters")
    first, second, third = (letter["id"] for letter in letters)
    admin("adminListDeadLetters", 400, "bad-query", state="lost")
    equal(admin("adminShowDeadLetter", letter=first, role="viewer")["record"]["item"], item)
    admin("adminShowDeadLetter", 404, "not-found", letter=999)
    admin("adminRetryDeadLetter", 409, "conflict", letter=first)
    equal(admin("adminReturnDeadLetter", letter=second, role="operator")["state"], "returned")
    admin("adminReturnDeadLetter", 409, "conflict", letter=second)
    admin("adminDismissDeadLetter", 422, "bad-value", letter=third, body={})
    admin("adminDismissDeadLetter", 400, "bad-body", letter=third, body=[])
    equal(admin("adminDismissDeadLetter", letter=third, body={"note": "a test"})["note"], "a test")
    admin("adminDismissDeadLetter", 409, "conflict", letter=third, body={"note": "again"})
    for name, body in (("adminRetryDeadLetter", None), ("adminReturnDeadLetter", None), ("adminDismissDeadLetter", {"note": "x"})):
        admin(name, 404, "not-found", letter=999, body=body)
        admin(name, 403, "admin-role", letter=first, body=body, role="viewer")
    true(next(row for row in admin("adminListAlarms")["alarms"] if row["name"] == "dead-letters")["up"], "no alarm")
    call("adminListAlarms", 401, "admin-key-required")
    equal(admin("adminListMembers", role="viewer")["members"], [], "one machine")
    call("adminListMembers", 401, "admin-key-required")
    equal(admin("adminListPartitions", role="viewer")["partitions"], [], "one machine")
    admin("adminListPartitions", 400, "bad-query", after="x")
    call("adminListPartitions", 401, "admin-key-required")
    true(admin("adminLive", role="viewer")["sales"], "no sale in the live view")
    call("adminLive", 401, "admin-key-required")
    true(admin("adminGetSettings", role="admin")["settings"], "no setting")
    admin("adminGetSettings", 403, "admin-role", role="viewer")
    call("adminGetSettings", 401, "admin-key-required")
    true(admin("adminLiveHistory", role="viewer", step_s=60)["rows"], "no row of the start")
    admin("adminLiveHistory", 400, "bad-query", step_s=7)
    call("adminLiveHistory", 401, "admin-key-required")
    total_set(item, 9)
    equal(admin("adminRetryDeadLetter", letter=first)["state"], "retried")
    admin("adminSaleReport", sale=sale, role="viewer")
    admin("adminSaleReport", 404, "unknown-sale", sale=999)


@rule
def reconciliation_is_asked_for_and_told():
    call("adminShowReconciliation", 401, "admin-key-required")
    admin("adminReconcile", 403, "admin-role", body={}, role="viewer")
    admin("adminReconcile", 403, "admin-role", body={"repair": True}, role="operator")
    admin("adminReconcile", 422, "bad-value", body={"repair": 1})
    admin("adminReconcile", 400, "bad-body", body=[])
    method, path, operation = operations["adminReconcile"]
    data = request_bytes(method, path, {}, {"Authorization": f"Bearer {server.keys['operator']}"})

    def both():
        with server.connect() as connection:
            connection.send(data * 4)
            for _ in range(4):
                reply = connection.read_reply()
                check(operation, reply)
                seen.setdefault("adminReconcile", set()).add(reply.status)
        return {202, 409} <= seen["adminReconcile"]
    eventually(both, "two at once")
    report = eventually(lambda: admin("adminShowReconciliation")["state"] == "done" and admin("adminShowReconciliation"),
                        "it does not end")
    equal(report["findings"], [])


@rule
def operators_sign_in_to_the_console_and_out():
    ours = {"Stampede-Console": "1"}
    call("consoleGetSession", 204, headers=ours)
    call("consoleGetSession", 403, "origin-not-allowed")
    equal(call("consoleSignIn", 201, key="operator", headers=ours)["role"], "operator")
    call("consoleSignIn", 401, "admin-key-required", headers=ours)
    call("consoleSignIn", 403, "origin-not-allowed", key="operator")
    reply = server.request("POST", "/console/session", None, {**ours, "Authorization": f"Bearer {server.keys['viewer']}"})
    cookie = {**ours, "Cookie": reply.headers["set-cookie"].partition(";")[0]}
    equal(call("consoleGetSession", 200, headers=cookie)["role"], "viewer")
    call("consoleSignOut", 204, headers=cookie)
    call("consoleSignOut", 403, "origin-not-allowed")


@rule
def health_metrics_document_and_page_are_served():
    call("getLive", 200)
    call("getReady", 200)
    call("getMetrics", 200)
    call("getPage", 200)
    equal(call("getDocument", 200), document, "the binary carries another openapi.json: build it again")
    etag = server.get("/openapi.json").headers["etag"]
    call("getDocument", 304, headers={"If-None-Match": etag})
    call("getPage", 304, headers={"If-None-Match": server.get("/").headers["etag"]})


def documented_path(path):
    path = path.replace("{provider}", "sandbox").replace("{id}", "sb_" + "0" * 24)
    return re.sub(r"{(sale|item|product|webhook|letter|ban|upload|name|timetable|case)}", "1", re.sub(r"{(ticket|order)}", "0" * 16, path))


@rule
def other_methods_are_405_and_other_addresses_404():
    problems = problem_list()
    common = document["components"]["responses"]
    elsewhere = {"operationId": "elsewhere", "responses": {"404": common["NotFound"], "405": common["MethodNotAllowed"]}}
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                continue
            key = ids["channel"] if path.startswith("/channel/") else server.keys["admin"]
            reply = server.request(method.upper(), documented_path(path), headers={"Authorization": f"Bearer {key}"})
            equal(reply.status, 405, f"{method} {path}: {reply.body[:200]!r}")
            body = check(elsewhere, reply)
            equal(body["title"], problems[body["type"].removeprefix("/problems/")][1])
    for path in ("/v1", "/v1/", "/v1/nothing", "/v1/items/1/nothing", "/v2/time", "/admin", "/admin/v1/nothing", "/admin/v1/sales/1/nothing",
                 "/nothing", "/v1/time/", "/openapi.yaml"):
        reply = server.get(path, session=server.keys["admin"])
        equal(reply.status, 404, f"{path}: {reply.body[:200]!r}")
        check(elsewhere, reply)


@rule
def head_answers_like_get_and_options_everywhere():
    for name, (method, path, operation) in operations.items():
        options = server.request("OPTIONS", documented_path(path))
        equal(options.status, 204, f"OPTIONS {path}")
        if method == "GET" and "security" in operation and not operation["security"]:
            get, head = (server.request(verb, documented_path(path)) for verb in ("GET", "HEAD"))
            equal(head.status, get.status, f"HEAD {path}")
            equal(head.body, b"", f"HEAD {path}")
            check(operation, head, head_only=True)


def order_made(item):
    session = call("openSession", 201)["session"]
    ticket = call("buy", 202, item=item, session=session, pass_=pass_for(item, session))["ticket"]
    eventually(lambda: server.get(f"/v1/tickets/{ticket}", session=session).json()["state"] == "pending", "not written")
    return server.get(f"/v1/tickets/{ticket}", session=session).json()


@rule
def orders_go_on():
    nobody, parcel = "0" * 15 + "1", {"carrier": "SF", "tracking": "SF1"}
    item = server.open_item(total=5, sale_fields={"start_draw_ms": 0, "return_draw_ms": 0})
    view = order_made(item)
    order, money = view["order"], {"amount": 100, "currency": view["currency"], "key": "k"}
    admin("adminShipOrder", 409, "not-paid", order=order, body=parcel)
    admin("adminRefundPart", 409, "not-paid", order=order, body=money)
    admin("adminPayOrder", order=order, body={"amount": view["amount"], "currency": view["currency"], "reference": "go-on"})
    admin("adminDeliverOrder", 409, "not-shipped", order=order)
    equal(admin("adminRefundPart", order=order, body={**money, "reason": "scratched"})["partly_refunded"], 100)
    admin("adminRefundPart", 422, "key-reused", order=order, body={**money, "amount": 101})
    admin("adminRefundPart", 409, "amount-mismatch", order=order, body={**money, "key": "l", "amount": view["amount"]})
    admin("adminRefundPart", 404, "unknown-order", order=nobody, body=money)
    admin("adminRefundPart", 400, "bad-body", order=order, body=[])
    equal(admin("adminListRefunds", after=0)["refunds"][-1]["why"], "part")
    equal(admin("adminShipOrder", order=order, body=parcel, role="operator")["shipment"]["state"], "shipped")
    admin("adminShipOrder", 409, "already-shipped", order=order, body={**parcel, "tracking": "2"})
    admin("adminShipOrder", 404, "unknown-order", order=nobody, body=parcel)
    admin("adminShipOrder", 422, "bad-value", order=order, body={})
    admin("adminShipOrder", 400, "bad-body", order=order, body=[])
    equal(admin("adminShipOrders", body={"rows": [{"order": order, **parcel}, {"order": nobody, **parcel}], "check": True})["rows"][0]["answer"], "repeated")
    admin("adminShipOrders", 422, "bad-value", body={"rows": []})
    admin("adminShipOrders", 400, "bad-body", body=[])
    equal(admin("adminDeliverOrder", order=order)["shipment"]["state"], "delivered")
    admin("adminDeliverOrder", 404, "unknown-order", order=nobody)
    admin("adminExportOrders", role="operator", item=item)
    admin("adminExportOrders", 403, "admin-role", role="viewer")


@rule
def units_that_were_sold_twice_are_a_case():
    nobody = "0" * 15 + "1"
    item = server.open_item(total=5, sale_fields={"start_draw_ms": 0, "return_draw_ms": 0})
    first, second = order_made(item)["order"], order_made(item)["order"]
    body = {"item": item, "channel": "tmall", "reference": "r", "missing": 1, "reason": "late report"}
    made = admin("adminOpenCase", 201, body=body, role="operator")
    admin("adminOpenCase", body=body)
    admin("adminOpenCase", 404, "unknown-item", body={**body, "item": 65000})
    admin("adminOpenCase", 422, "bad-value", body={})
    admin("adminOpenCase", 400, "bad-body", body=[])
    number, unknown = made["id"], 4294967295
    equal(len(admin("adminListCases", role="viewer", state="open")["cases"]), 1)
    equal([row["order"] for row in admin("adminGetCase", case=number)["rows"]], [second])
    admin("adminGetCase", 404, "not-found", case=unknown)
    admin("adminAddCaseOrders", case=number, body={"orders": [first]})
    for name, good in (("adminAddCaseOrders", {"orders": []}), ("adminAssignCase", {"assignee": "Wang"}), ("adminAddCaseNote", {"way": "call", "text": "x"}),
                       ("adminApplyRemedy", {"order": first, "remedy": "dismiss"}), ("adminCloseCase", {"outcome": "x"})):
        admin(name, 404, "not-found", case=unknown, body=good)
        admin(name, 422, "bad-value", case=number, body={})
        admin(name, 400, "bad-body", case=number, body=[])
    admin("adminAssignCase", case=number, body={"assignee": "Wang"})
    admin("adminAddCaseNote", 201, case=number, body={"way": "call", "text": "no answer", "order": first})
    admin("adminAddCaseNote", 404, "unknown-order", case=number, body={"way": "call", "text": "x", "order": nobody})
    true(admin("adminListCaseNotes", case=number, role="operator")["notes"])
    admin("adminListCaseNotes", 404, "not-found", case=unknown)
    admin("adminCloseCase", 409, "conflict", case=number, body={"outcome": "x"})
    admin("adminApplyRemedy", 409, "conflict", case=number, body={"order": first, "remedy": "substitute"})
    admin("adminApplyRemedy", case=number, body={"order": first, "remedy": "dismiss"})
    admin("adminApplyRemedy", case=number, body={"order": second, "remedy": "refund-coupon"})
    equal(admin("adminGetOrder", order=second)["view"]["remedy"]["remedy"], "refund-coupon")
    equal(admin("adminCloseCase", case=number, body={"outcome": "closed one"})["state"], "closed")
    admin("adminAssignCase", 409, "conflict", case=number, body={"assignee": "Li"})
    admin("adminAddCaseOrders", 409, "conflict", case=number, body={"orders": [first]})
    true(admin("adminCaseCosts")["costs"])


@rule
def what_is_not_http_gets_the_default_response():
    default = {"operationId": "malformed", "responses": {"default": document["components"]["responses"]["Malformed"]}}
    for status, data in ((400, b"GET /v1/time HTTP/1.1\r\n\r\n"), (413, b"POST /v1/session HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n"),
                         (414, b"GET /" + b"a" * 3000 + b" HTTP/1.1\r\nHost: a\r\n\r\n"), (505, b"GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
                         (431, request_bytes("GET", "/v1/time", headers={f"X-{i}": "1" for i in range(80)})),
                         (417, request_bytes("POST", "/v1/session", b"", {"Expect": "cake"}))):
        with server.connect() as connection:
            connection.send(data)
            reply = connection.read_reply()
            equal(reply.status, status, data[:60])
            check(default, reply)
            true(connection.closes(), f"{status}: the connection stays open")


@rule
def an_unknown_query_member_is_refused_and_named_by_every_get():
    for name, (method, path, operation) in operations.items():
        if method != "GET" or not re.match("(/admin|/channel)?/v1/", path):
            continue
        filled = re.sub(r"{(order|ticket|id)}", "0" * 16, path)
        key = {"/admin/": server.keys["admin"], "/channe": ids["channel"]}.get(path[:7])
        fields = {"Authorization": f"Bearer {key}"} if key else {}
        reply = server.request(method, re.sub(r"{\w+}", "1", filled) + "?nonsense=1", None, fields)
        answer = check(operation, reply)
        equal((reply.status, answer["type"]), (400, "/problems/bad-query"), name)
        true("nonsense" in answer["detail"], f"{name}: {answer}")
        seen.setdefault(name, set()).add(400)


# 401, 403 and 415 are decided before the operation is known: one of each is enough. 5xx need a broken disk or database.
DECIDED_BEFORE = {"401", "403", "415"}
# The tables would have to be full.
NOT_PROVOKED = {("adminCreateItem", "409"), ("adminLoadUsers", "409"), ("adminRemoveUsers", "409"), ("adminCreateProduct", "409"),
                ("adminAddBan", "409"),
                # An order would have to be caught while it is written, a sale end between intent and payment.
                ("queryOrder", "409"), ("getOrderDetails", "409"), ("payIntent", "410"), ("getIntent", "410"),
                # A pass for an item that is none, or a shop without waitlists: waitlist_test.py has one.
                ("joinWaitlist", "404"),
                # There is a sandbox here; public_api_test.py has a server without.
                ("adminGetSandbox", "404"), ("adminChangeSandbox", "404"),
                # Many machines without a folder for bundles: cluster/archive_test.py.
                ("adminArchiveDue", "409")}


@rule
def every_operation_succeeded_and_gave_every_refusal():
    missing = []
    for name, (_, _, operation) in operations.items():
        statuses = {str(status) for status in seen.get(name, ())}
        refusals = {status for status in operation["responses"] if status[0] == "4" and status != "429"}  # limits_test.py
        if not any(status[0] in "12" for status in statuses):
            missing.append(f"{name} never succeeded")
        if refusals and not refusals & statuses:
            missing.append(f"{name} never refused")
        missing += [f"{name} never answered {status}" for status in sorted(refusals - statuses - DECIDED_BEFORE)
                    if (name, status) not in NOT_PROVOKED]
    true(not missing, "; ".join(missing))


run()
