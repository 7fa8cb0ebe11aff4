# SPDX-License-Identifier: Apache-2.0
"""Bodies of the admin API: each wrong one is named, and nothing is made of it."""
from kit.harness import Server, equal, problem, rule, run, true

server = Server().start()
SALE, PRODUCT = server.sale(), server.product()
GOOD = {"/products": {"name": "P", "list_price": 1},
        "/sales": {"title": "S", "start_ms": 1, "end_ms": 4102444800000},
        "/items": {"sale": SALE, "product": PRODUCT, "flash_price": 1, "total": 10}}
JSON = {"Content-Type": "application/json"}


def rows():
    return [server.admin_ok("GET", path) for path in ("/products", "/sales", "/items", "/audit")]


def nothing_changes(test):
    def checked():
        before = rows()
        test()
        equal(rows(), before, "something changed")
    checked.__name__ = test.__name__
    return rule(checked)


@nothing_changes
def what_is_not_a_json_object_is_refused():
    for path in GOOD:
        for body in (b"{", b"[]", b"1", b"null", b'"x"', b"\xff", b"{}{}", b'{"a":1,}', b"\x00", b'{"name":"a","name":"b"}',
                     b'{"name":"a\\u0000b"}', b'{"name":"\xff"}', b'{"name":"\\ud800"}', b"[" * 60000, b'{"a":' * 10000):
            problem(server.admin("POST", path, body, headers=JSON), 400, "bad-body")
        problem(server.admin("POST", path), 400, "bad-body")


@nothing_changes
def each_field_that_is_missing_is_named():
    for path, good in GOOD.items():
        for name in good:
            body = {key: value for key, value in good.items() if key != name}
            document = problem(server.admin("POST", path, body), 422, "bad-value")
            true(name in document["detail"], document)


@nothing_changes
def unknown_fields_are_named():
    for path, good in GOOD.items():
        for name in ("id", "nothing", "Name", ""):
            document = problem(server.admin("POST", path, {**good, name: 1}), 422, "bad-value")
            true(name in document["detail"], document)
    problem(server.admin("PATCH", f"/sales/{SALE}", {"published": True}), 422, "bad-value")
    problem(server.admin("PATCH", f"/sales/{SALE}", {"gate": "open"}), 422, "bad-value")


@nothing_changes
def numbers_out_of_bounds_or_of_another_type_are_named():
    numbers = {"/products": ("list_price",), "/sales": ("start_ms", "end_ms", "limit_per_user", "preheat_at_ms"),
               "/items": ("sale", "product", "flash_price", "limit_per_user", "pay_window_ms", "total", "locked", "safety")}
    for path, names in numbers.items():
        for name in names:
            for wrong in (-1, 1.0, 1e3, "1", "1e3", None, True, [1], {}, 2 ** 63 - 1, -(2 ** 63)):
                document = problem(server.admin("POST", path, {**GOOD[path], name: wrong}), 422, "bad-value")
                true(name in document["detail"], (wrong, document))
            raw = str(GOOD[path]).replace("'", '"').replace("}", f', "{name}": 18446744073709551616}}')
            if name not in GOOD[path]:
                problem(server.admin("POST", path, raw.encode(), headers=JSON), 400, "bad-body")
    for total in (100000001, 2 ** 31, 2 ** 32, 2 ** 32 + 1):
        problem(server.admin("POST", "/items", {**GOOD["/items"], "total": total}), 422, "bad-value")


@nothing_changes
def texts_that_are_too_long_or_empty_are_named():
    for field, wrong in (("name", ""), ("name", "x" * 201), ("name", "\u624b" * 67), ("name", 7),
                         ("description", "x" * 4001), ("description", 1), ("currency", "EURO"), ("currency", "E"), ("currency", 978),
                         ("images", "x"), ("images", [1]), ("images", ["javascript:alert(1)"]), ("images", ["x"]),
                         ("images", ["/" + "x" * 2000]), ("images", {})):
        document = problem(server.admin("POST", "/products", {**GOOD["/products"], field: wrong}), 422, "bad-value")
        true(field in document["detail"], document)
    for wrong in ("", "x" * 201, None):
        problem(server.admin("POST", "/sales", {**GOOD["/sales"], "title": wrong}), 422, "bad-value")
    for wrong in (1, "yes", None):
        problem(server.admin("POST", "/sales", {**GOOD["/sales"], "eligible_only": wrong}), 422, "bad-value")


@rule
def names_at_the_bound_are_taken_and_escaped():
    for name in ("x" * 200, "\u624b" * 66, 'quote " back \\ slash / tab \t', "</script>", "\u2028", "\U0001f600"):
        made = server.admin_ok("POST", "/products", {"name": name, "list_price": 1})
        equal(made["name"], name)
        shown = [row for row in server.admin_ok("GET", f"/products?after={made['id'] - 1}")["products"] if row["id"] == made["id"]]
        equal(shown[0]["name"], name)


run()
