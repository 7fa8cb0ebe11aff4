# SPDX-License-Identifier: Apache-2.0
"""Who may do what in the admin API, and that every change leaves an entry in the audit trail."""
from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

server = Server(settings={"channels.names": "web,app"}).start()
PRODUCT = {"name": "P", "list_price": 1}

READS = ("/products", "/sales", "/items", "/orders", "/dead-letters", "/audit")


def writes(sale, item):
    """path: (role it needs, body)"""
    return {("POST", "/products"): ("admin", PRODUCT),
            ("POST", "/sales"): ("admin", {"title": "S", "start_ms": 1, "end_ms": 4102444800000}),
            ("PATCH", f"/sales/{sale}"): ("admin", {"title": "T"}),
            ("POST", "/items"): ("admin", {"sale": sale, "product": 1, "flash_price": 1, "total": 1}),
            ("POST", f"/sales/{sale}/publish"): ("admin", None),
            ("POST", f"/sales/{sale}/users"): ("admin", {"users": ["a"]}),
            ("POST", f"/sales/{sale}/preheat"): ("operator", None),
            ("POST", f"/items/{item}/preheat"): ("operator", None),
            ("POST", f"/sales/{sale}/open"): ("operator", None),
            ("POST", f"/sales/{sale}/pause"): ("operator", None),
            ("POST", f"/sales/{sale}/resume"): ("operator", None),
            ("POST", f"/items/{item}/adjust"): ("operator", {"delta": 1}),
            ("POST", f"/items/{item}/move"): ("operator", {"from": "web", "to": "app", "quantity": 1}),
            ("POST", f"/sales/{sale}/end"): ("operator", None)}


@rule
def without_a_key_nothing_is_said_not_even_what_exists():
    sale = server.sale()
    item = server.item(sale)
    guest = Buyer(server).session
    for authorization in (None, "Bearer wrong", "Bearer ", f"Basic {server.keys['admin']}", server.keys["admin"],
                          f"Bearer {guest}", "Bearer " + "x" * 300, f"Bearer {server.keys['admin']}x"):
        fields = {} if authorization is None else {"Authorization": authorization}
        for path in (*READS, "/nothing", f"/items/{item}/counts"):
            problem(server.request("GET", f"/admin/v1{path}", headers=fields), 401, "admin-key-required")
        for (method, path), (_, body) in writes(sale, item).items():
            problem(server.request(method, f"/admin/v1{path}", body, fields), 401, "admin-key-required")
    equal(server.counts(item), None)


@rule
def a_role_may_do_what_it_is_for_and_no_more():
    sale = server.sale()
    item = server.item(sale)
    for role in server.keys:
        for path in (*READS, f"/items/{item}/counts", f"/sales/{sale}"):
            equal(server.admin("GET", path, role=role).status, 200, f"{role} {path}")
    before = server.admin("GET", "/audit").json()
    for (method, path), (needs, body) in writes(sale, item).items():
        problem(server.admin(method, path, body, role="viewer"), 403, "admin-role")
        if needs == "admin":
            problem(server.admin(method, path, body, role="operator"), 403, "admin-role")
    equal(server.admin("GET", "/audit").json(), before, "a refused change leaves no trace in the sale")
    for (method, path), (needs, body) in writes(sale, item).items():
        reply = server.admin(method, path, body, role=needs)
        true(reply.status in (200, 201), f"{needs} {method} {path}: {reply}")


def audit():
    entries, after = [], 0
    while True:
        page = server.admin_ok("GET", f"/audit?after={after}", role="viewer")
        entries += page["audit"]
        if "next" not in page:
            return entries
        after = page["next"]


@rule
def every_change_is_in_the_audit_trail_with_who_and_when():
    begin = server.now_ms()
    seen = len(audit())
    product = server.product(name="Kettle")
    sale = server.sale(title="Tea time", start_in_ms=60000)
    item = server.item(sale, product)
    server.admin_ok("PATCH", f"/sales/{sale}", {"title": "Tea at five"})
    server.admin_ok("POST", f"/sales/{sale}/publish")
    server.admin_ok("POST", f"/sales/{sale}/users", {"users": ["a", "b"]})
    for move in ("open", "pause", "resume"):
        server.admin_ok("POST", f"/sales/{sale}/{move}", role="operator")
    server.admin_ok("POST", f"/items/{item}/adjust", {"delta": -100}, role="operator")
    server.admin_ok("POST", f"/items/{item}/adjust", {"delta": 5}, role="operator")
    server.admin_ok("POST", f"/items/{item}/move", {"from": "web", "to": "app", "quantity": 2}, role="operator")
    server.admin_ok("POST", f"/sales/{sale}/end", role="operator")
    wanted = {("product.create", "admin"), ("sale.create", "admin"), ("item.create", "admin"), ("sale.change", "admin"),
              ("sale.terms", "admin"), ("item.preheat", "admin"), ("sale.publish", "admin"), ("sale.users", "admin"),
              ("sale.open", "operator"), ("sale.pause", "operator"), ("sale.resume", "operator"),
              ("item.adjust", "operator"), ("item.move", "operator"), ("sale.end", "operator")}
    # What is in the log has its entry when its record is written to the database.
    ours = {f"product {product}", f"sale {sale}", f"item {item}"}

    def mine():
        return [entry for entry in audit()[seen:] if " ".join(entry["detail"].split()[:2]) in ours]
    eventually(lambda: any(entry["action"] == "sale.end" for entry in mine()), "the last entry")
    entries = mine()
    equal(len(entries), len(wanted) + 1)  # two adjustments
    equal({(entry["action"], entry["actor"]) for entry in entries}, wanted)
    true(all(begin - 100 <= entry["time_ms"] <= server.now_ms() + 100 for entry in entries), entries)  # a turn of the worker
    true("Kettle" in entries[0]["detail"])
    details = [entry["detail"] for entry in entries if entry["action"] == "item.adjust"]
    equal([f"item {item} web asked -100 applied -10", f"item {item} web asked 5 applied 5"], details)
    ids = [entry["id"] for entry in audit()]
    equal(ids, sorted(set(ids)))


@rule
def what_changes_nothing_leaves_no_entry():
    sale = server.sale()
    item = server.item(sale)
    server.publish(sale)
    server.admin_ok("POST", f"/sales/{sale}/pause")
    eventually(lambda: audit()[-1]["action"] == "sale.pause")
    seen = len(audit())
    server.admin_ok("POST", f"/sales/{sale}/preheat")
    server.admin_ok("POST", f"/items/{item}/preheat")
    equal(server.admin_ok("POST", f"/sales/{sale}/pause")["changed"], False)
    server.admin_ok("POST", f"/items/{item}/adjust", {"delta": 0})
    server.admin("POST", "/products", {"name": 7})
    server.admin_ok("POST", f"/sales/{sale}/resume")
    eventually(lambda: len(audit()) > seen)
    equal([entry["action"] for entry in audit()[seen:]], ["sale.resume"])


@rule
def unknown_addresses_and_methods_are_told_apart():
    for path in ("/nothing", "/sales/1/nothing", "/sales/x", "/items/1/counts/2", "/sales/99999999999/open", "/"):
        problem(server.admin("GET", path), 404, "not-found")
    for method, path in (("DELETE", "/sales"), ("PUT", "/sales/1"), ("POST", "/orders"), ("GET", "/sales/1/open"),
                         ("PATCH", "/items/1/adjust")):
        problem(server.admin(method, path), 405, "method-not-allowed")
    for path in ("/sales/999/open", "/sales/999/publish", "/sales/999/preheat", "/sales/0/end"):
        problem(server.admin("POST", path), 404, "unknown-sale")
    problem(server.admin("GET", "/sales/999"), 404, "unknown-sale")
    problem(server.admin("PATCH", "/sales/999", {"title": "x"}), 404, "unknown-sale")
    problem(server.admin("POST", "/sales/999/users", {"users": []}), 404, "unknown-sale")
    problem(server.admin("POST", "/items", {"sale": 999, "product": 1, "flash_price": 1, "total": 1}), 404, "unknown-sale")
    for path, body in (("/items/999/preheat", None), ("/items/999/adjust", {"delta": 1}),
                       ("/items/999/move", {"from": "web", "to": "app", "quantity": 1})):
        problem(server.admin("POST", path, body), 404, "unknown-item")
    problem(server.admin("GET", "/items/999/counts"), 404, "unknown-item")


@rule
def bodies_must_be_json_and_say_so():
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx", "multipart/form-data", ""):
        problem(server.admin("POST", "/products", b'{"name":"P","list_price":1}', headers={"Content-Type": kind}), 415, "media-type")
    reply = server.request("POST", "/admin/v1/products", b"{}", {"Authorization": f"Bearer {server.keys['admin']}"})
    problem(reply, 415, "media-type")
    for kind in ("application/json", "application/json; charset=utf-8", "Application/JSON;x=y"):
        reply = server.admin("POST", "/products", b'{"name":"P","list_price":1}', headers={"Content-Type": kind})
        equal(reply.status, 201, kind)


run()
