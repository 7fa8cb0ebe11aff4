"""Items as an administrator puts them on sale: what can only be an error is refused, what is odd is said."""
from harness import Server, equal, eventually, problem, rule, run, true

server = Server().start()


def create(sale, product, **fields):
    return server.admin("POST", "/items", {"sale": sale, "product": product, "flash_price": 1, "total": 1, **fields})


@rule
def prices_are_taken_as_text_in_the_currency():
    made = server.admin_ok("POST", "/products", {"name": "P", "list_price": "99.5", "currency": "CNY"})
    equal(made["list_price"], 9950)
    item = create(server.sale(), made["id"], flash_price="49.90").json()
    equal((item["flash_price"], item["currency"]), (4990, "CNY"))
    yen = server.product(currency="JPY")
    equal(create(server.sale(), yen, flash_price="49").json()["flash_price"], 49)
    for price in ("49.90", "", "-1", "1e3", "49,90", "1000000000001", " 1"):
        problem(create(server.sale(), yen, flash_price=price), 422, "bad-value")
    for price in ("49.901", 4.5, None, True, "99999999999999999.00"):
        problem(create(server.sale(), made["id"], flash_price=price), 422, "bad-value")


@rule
def nothing_is_added_to_a_sale_that_is_over():
    product = server.product()
    short = server.sale(start_in_ms=-1000, lasts_ms=1001 + 400)
    eventually(lambda: create(short, product).status == 409, "the sale does not end")
    problem(create(short, product), 409, "conflict")
    ended = server.sale()
    server.item(ended, product)
    server.publish(ended)
    server.admin_ok("POST", f"/sales/{ended}/end")
    eventually(lambda: create(ended, product).status == 409, "the sale does not end")
    equal(len(server.admin_ok("GET", f"/items?sale={ended}")["items"]), 1)


@rule
def what_is_odd_is_warned_about():
    product = server.product(list_price=100)
    sale = server.sale()
    plain = create(sale, product, flash_price=100)
    equal((plain.status, "warnings" in plain.json()), (201, False))
    for fields, word in (({"flash_price": 101}, "list_price"), ({"total": 0}, "total"), ({"flash_price": 0}, "given away"),
                         ({}, "same product")):
        reply = create(sale, product, **fields)
        equal(reply.status, 201)
        true(any(word in warning for warning in reply.json()["warnings"]), f"{fields}: {reply.json()}")


@rule
def an_unknown_product_or_sale_is_refused():
    problem(create(server.sale(), 99999), 422, "bad-value")
    problem(create(9999, server.product()), 404, "unknown-sale")


run()
