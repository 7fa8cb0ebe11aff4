# SPDX-License-Identifier: Apache-2.0
"""Orders go on: shipped and delivered, by the API and by a file; what the shop and the buyer see of it."""
import os
import subprocess
import tempfile

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true
from kit.webhook_receiver import Receiver, settings_for

receiver = Receiver()
server = settings_for(Server(settings={"orders.user_refund_ms": 3600000}), receiver.url).start()
DHL = {"carrier": "DHL", "tracking": "00340434161094042557"}


def paid_order(item, buyer=None):
    buyer = buyer or Buyer(server)
    won = buyer.win(item)
    eventually(lambda: server.admin("GET", f"/orders/{won['order']}").status == 200, "no order")
    view = server.admin_ok("GET", f"/orders/{won['order']}")["view"]
    server.admin_ok("POST", f"/orders/{won['order']}/paid", {"amount": view["amount"], "currency": view["currency"], "reference": f"t{won['order']}"})
    return won["order"]


def view(order):
    return server.admin_ok("GET", f"/orders/{order}")["view"]


def command(*words, status=0, given=None):
    done = subprocess.run([server.binary, "admin", *words], env={**os.environ, "STAMPEDE_URL": f"http://127.0.0.1:{server.port}",
                          "STAMPEDE_ADMIN_KEY": server.keys["admin"]}, capture_output=True, text=True, input=given, timeout=60)
    equal(done.returncode, status, done.stdout + done.stderr)
    return done.stdout if status == 0 else done.stderr


@rule
def a_paid_order_is_shipped_and_delivered_once_and_everybody_sees_it():
    buyer = Buyer(server)
    order = paid_order(server.open_item(total=1), buyer)
    before = view(order)
    problem(server.admin("POST", f"/orders/{order}/deliver"), 409, "not-shipped")
    shipped = server.admin_ok("POST", f"/orders/{order}/ship", DHL, role="operator")
    equal((shipped["state"], shipped["version"]), ("paid", before["version"] + 1))
    equal({name: shipped["shipment"][name] for name in ("state", "carrier", "tracking")}, {"state": "shipped", **DHL})
    equal(server.admin_ok("POST", f"/orders/{order}/ship", DHL)["version"], shipped["version"], "the same again changes something")
    mine = server.get(f"/v1/orders/{order}", session=buyer.session).json()
    equal(mine["shipment"], shipped["shipment"])
    done = server.admin_ok("POST", f"/orders/{order}/deliver")
    equal((done["shipment"]["state"], done["version"]), ("delivered", shipped["version"] + 1))
    equal(server.admin_ok("POST", f"/orders/{order}/deliver")["version"], done["version"])
    eventually(lambda: [m.type for m in receiver.of(order)].count("order.delivered") == 1, "the shop was not told")
    told = {m.type: m for m in receiver.of(order)}
    true(all(m.genuine for m in told.values()))
    equal(told["order.shipped"].data["shipment"]["tracking"], DHL["tracking"])
    equal((told["order.shipped"].data["version"], told["order.delivered"].data["version"]), (shipped["version"], done["version"]))
    actions = [e["action"] for e in server.admin_ok("GET", "/audit?after=0")["audit"] if order in e["detail"]]
    equal(actions.count("order.ship") + actions.count("order.deliver"), 2)


@rule
def what_may_not_be_shipped_is_refused():
    item = server.open_item(total=3)
    won = Buyer(server).win(item)
    eventually(lambda: server.admin("GET", f"/orders/{won['order']}").status == 200, "no order")
    problem(server.admin("POST", f"/orders/{won['order']}/ship", DHL), 409, "not-paid")
    problem(server.admin("POST", "/orders/00000000000000ff/ship", DHL), 404, "unknown-order")
    order = paid_order(item)
    for wrong in ({}, {"carrier": "DHL"}, {**DHL, "tracking": ""}, {**DHL, "tracking": "x" * 65}, {**DHL, "carrier": "a\nb"}, {**DHL, "more": 1}):
        problem(server.admin("POST", f"/orders/{order}/ship", wrong), 422, "bad-value")
    problem(server.admin("POST", f"/orders/{order}/ship", DHL, role="viewer"), 403, "admin-role")
    true("shipment" not in view(order))
    server.admin_ok("POST", f"/orders/{order}/ship", DHL)
    problem(server.admin("POST", f"/orders/{order}/ship", {**DHL, "tracking": "2"}), 409, "already-shipped")
    equal(server.admin_ok("POST", f"/orders/{order}/ship", {**DHL, "tracking": "2", "replace": True})["shipment"]["tracking"], "2")


@rule
def a_refund_after_shipping_is_for_the_shop_only():
    buyer = Buyer(server)
    order = paid_order(server.open_item(total=1), buyer)
    server.admin_ok("POST", f"/orders/{order}/ship", DHL)
    problem(server.request("POST", f"/v1/orders/{order}/refund", session=buyer.session), 409, "already-shipped")
    equal(view(order)["state"], "paid")
    server.admin_ok("POST", f"/orders/{order}/refund", {"to": "write-off"})
    equal((view(order)["state"], view(order)["shipment"]["state"]), ("refunded", "shipped"))
    equal(server.admin_ok("POST", f"/orders/{order}/deliver")["shipment"]["state"], "delivered")
    other = paid_order(server.open_item(total=1))
    server.admin_ok("POST", f"/orders/{other}/refund", {"to": "stock"})
    problem(server.admin("POST", f"/orders/{other}/ship", DHL), 409, "not-paid")


def file_of(text):
    file = tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False)
    file.write(text)
    file.close()
    return file.name


@rule
def a_file_is_done_as_a_whole_and_doing_it_again_changes_nothing():
    item = server.open_item(total=130)
    orders = [paid_order(item) for _ in range(120)]
    path = file_of("order,carrier,tracking\r\n" + "".join(f'{order},"SF, Express",N{at}\r\n' for at, order in enumerate(orders)))
    equal(command("order", "ship", "--file", path).strip(), "120 orders shipped, 0 were already")
    versions = [view(order)["version"] for order in orders]
    equal(view(orders[7])["shipment"]["carrier"], "SF, Express")
    equal(command("order", "ship", "--file", path).strip(), "0 orders shipped, 120 were already")
    equal([view(order)["version"] for order in orders], versions)


@rule
def all_bad_lines_are_named_and_nothing_is_done():
    item = server.open_item(total=5)
    good, unpaid = paid_order(item), Buyer(server).win(item)["order"]
    eventually(lambda: server.admin("GET", f"/orders/{unpaid}").status == 200, "no order")
    said = command("order", "ship", "--file", "-", status=1, given="\n".join(
        ["order,carrier,tracking", f"{good},DHL,1", "xyz,DHL,2", f"{good},DHL,3", '"broken', f"{'0' * 15}1,DHL", f"{good},,9", ""]))
    for line, why in ((3, "16 hex digits"), (4, "earlier line"), (5, "CSV"), (6, "three columns"), (7, "carrier")):
        true(f"line {line}: " in said and why in said, said)
    true("nothing was done" in said, said)
    true("shipment" not in view(good))
    said = command("order", "ship", "--file", "-", status=1, given=f"order,carrier,tracking\n{good},DHL,1\n{unpaid},DHL,2\n00000000000000ff,DHL,3\n")
    true("line 3: the order is not paid" in said and "line 4: there is no such order" in said, said)
    true("line 2" not in said and "shipment" not in view(good), said)
    true("state: shipped" in command("order", "ship", good, "--carrier", "DHL", "--tracking", "1").replace("shipment.", ""))
    true("delivered" in command("order", "deliver", good))


run()
