# SPDX-License-Identifier: Apache-2.0
"""`stampede demo`: a working sale from one command, and it goes on where it was. `make demo` brings visitors."""
import os
import re
import signal
import subprocess

from kit.harness import REPOSITORY, Buyer, Server, equal, eventually, problem, rule, run, true

server = Server()
server.data = os.path.join(server.folder, "demo")


def start():
    log = open(server.log_path, "wb")
    server.process = subprocess.Popen([server.binary, "demo", "--data", server.data, "--port", str(server.port)],
                                      stdout=log, stderr=log)
    log.close()

    def ready():
        try:
            return server.get("/readyz").status == 200
        except OSError:
            return False
    eventually(ready, "the demo is ready")
    said = eventually(lambda: re.search(r"admin key: (sk_\S+)", server.log()), "it tells its admin key").group(1)
    server.keys["admin"] = said


start()


@rule
def it_shows_where_to_go_and_a_sale_that_opens_in_half_a_minute():
    true(f"http://127.0.0.1:{server.port}/" in server.log())
    sales = server.get("/v1/sales").json()
    equal(len(sales["sales"]), 1)
    sale = sales["sales"][0]
    equal(sale["state"], "scheduled")
    true(0 < sale["start_ms"] - sales["now_ms"] <= 30000)
    items = eventually(lambda: [row for row in [server.get(f"/v1/sales/{sale['id']}").json()["items"]]
                                if all(item["counts"]["given"] for item in row)], "preheated")[0]
    equal([item["counts"]["free"] for item in items], [100, 20, 1])
    for item in items:
        equal(server.get(item["product"]["images"][0]).headers["content-type"], "image/svg+xml")
    equal(server.get("/").status, 200)


@rule
def its_key_is_an_administrators_and_the_sale_can_be_opened_and_bought():
    sale = server.admin_ok("GET", "/sales")["sales"][0]["id"]
    buyer, other = Buyer(server), Buyer(server)
    problem(buyer.ask_pass(3), 403, "not-started")
    server.admin_ok("POST", f"/sales/{sale}/open")
    won = buyer.win(3)
    equal(buyer.order(won["ticket"])["state"], "pending")
    problem(other.buy(3), 409, "sold-out", free=0)


@rule
def it_is_paid_at_the_sandbox_and_goes_back():
    buyer = Buyer(server)
    order = buyer.order(buyer.win(1)["ticket"])
    equal(server.get("/v1/payments", session=buyer.session).json()["providers"], ["sandbox"])
    address = f"/v1/orders/{order['order']}"
    paying = server.request("POST", address + "/pay", {"provider": "sandbox"}, session=buyer.session)
    page = paying.json()["payment"]["url"]
    true(page.startswith(f"http://127.0.0.1:{server.port}/sandbox/pay.html?id="), page)
    shown = server.get(page[page.index("/sandbox"):])
    equal(shown.status, 200)
    equal(shown.headers["content-security-policy"].split("; "),
          ["default-src 'self'", "img-src 'self' data:", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"])
    payment = "/sandbox/v1/pay/" + page.split("id=")[1]
    equal(server.get(payment).json()["return_url"], f"http://127.0.0.1:{server.port}/?orders")
    equal(server.request("POST", payment, {"how": "pay"}).status, 200)
    eventually(lambda: buyer.order(order["ticket"])["state"] == "paid", "not paid")
    equal(server.request("POST", address + "/refund", session=buyer.session).json()["state"], "refunded")
    true("without real money" in server.log())


@rule
def started_again_it_goes_on_with_the_same_sale():
    server.stop()
    start()
    equal(len(server.get("/v1/sales").json()["sales"]), 1)
    equal(server.get("/v1/items/3").json()["counts"]["held"], 1)


@rule
def options_that_it_does_not_know_are_told():
    for words in ((), ("--data",), ("--nothing", "x"), ("--data", "/x", "--port", "x"), ("--config", "/x"),
                  ("--data", "/x", "--set", "room.turn_ms"), ("--data", "/x", "--set", "room.turn_ms=0")):
        done = subprocess.run([server.binary, "demo", *words], capture_output=True, text=True, timeout=20)
        equal(done.returncode, 2, done.stderr)
        true(done.stderr)


def visited(shop):
    """Visitors have come to the shop that tools/demo started."""
    shop.keys["admin"] = eventually(lambda: re.search(r"admin key: (sk_\S+)", shop.log()), "no key").group(1)
    eventually(lambda: shop.get("/v1/sales/1").status == 200, "the sale is not shown")
    eventually(lambda: shop.admin("POST", "/sales/1/open").status == 200, "the sale does not open")
    eventually(lambda: shop.admin_ok("GET", "/orders?state=paid")["orders"], "nobody paid", patience_s=60)
    true(shop.get("/v1/items/1").json()["counts"]["free"] < 100, "no phone was bought")
    answers = shop.metrics()
    for answer in ("pass-required", "pass-invalid"):
        true(answers[f'stampede_door_total{{answer="{answer}"}}'] > 0, f"no bot heard {answer}")
    line = [sale for sale in shop.get("/v1/sales").json()["sales"] if sale["waiting_room"]][0]["id"]
    newcomer = Buyer(shop).session
    place = shop.request("POST", f"/v1/sales/{line}/room", session=newcomer).json()
    true(place["number"] > 3, f"no line: {place}")
    equal(shop.get("/v1/items/3").json()["counts"]["free"], 1, "the one watch is left to the newcomer")


@rule
def its_visitors_buy_pay_and_wait_in_line_and_its_bots_win_nothing():
    shop = Server()
    scratch = os.path.join(shop.folder, "tmp")
    os.mkdir(scratch)
    with open(shop.log_path, "wb") as log:
        demo = subprocess.Popen([os.path.join(REPOSITORY, "tools", "demo"), shop.binary, str(shop.port)], stdout=log,
                                stderr=log, env={**os.environ, "TMPDIR": scratch})
    try:
        visited(shop)
    finally:
        demo.send_signal(signal.SIGINT)
        ended = demo.wait(30)
    equal(ended, 0)
    equal(os.listdir(scratch), [], "it leaves nothing behind")
    true(not answers_at(shop), "the server still answers")


def answers_at(shop):
    try:
        return shop.get("/livez").status == 200
    except OSError:
        return False


run()
