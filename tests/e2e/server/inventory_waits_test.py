# SPDX-License-Identifier: Apache-2.0
"""The journal's disk stands still: whoever waits for the inventory waits alone, the rest of the worker goes on."""
import threading
import time

from kit.disks import SlowServer
from kit.harness import Buyer, equal, eventually, problem, rule, run, true

SOON_S = 2  # well below the 5 s that an answer of the inventory is waited for
server = SlowServer(settings={"payment.providers": "sandbox"}).start()


class Asked(threading.Thread):
    """A request of an operator, on a thread of its own."""

    def __init__(self, method, path, body=None):
        super().__init__(daemon=True)
        self.ask, self.answer = (method, path, body), None
        self.start()

    def run(self):
        method, path, body = self.ask
        self.answer = server.admin(method, path, body, timeout_s=30)

    def ended(self):
        self.join(30)
        true(self.answer is not None, "no answer")
        return self.answer


def soon(what, ask):
    began = time.monotonic()
    answer = ask()
    seconds = time.monotonic() - began
    true(seconds < SOON_S, f"{what} took {seconds:.1f} s")
    return answer


def bought(item):
    buyer = Buyer(server)
    ticket = buyer.win(item)["ticket"]
    eventually(lambda: buyer.order(ticket)["state"] == "pending", "no order")
    return buyer, ticket


@rule
def orders_are_shown_while_an_operators_command_waits():
    item = server.open_item(total=10)
    buyer, ticket = bought(item)
    with server.held():
        asked = Asked("POST", f"/items/{item}/adjust", {"delta": 5})
        time.sleep(0.3)  # it is with the inventory by now
        for _ in range(3):
            shown = soon("the buyer's orders", lambda: buyer.get("/v1/orders")).json()["orders"]
            equal([(order["ticket"], order["state"]) for order in shown], [(ticket, "pending")])
        paying = soon("starting to pay", lambda: server.request("POST", f"/v1/orders/{shown[0]['order']}/pay", {}, session=buyer.session))
        true(paying.status in (200, 202), paying.body)
        equal(soon("an operator's look", lambda: server.admin("GET", f"/items/{item}/counts")).status, 200)
        true(asked.answer is None, "it did not wait")
    equal(asked.ended().status, 200)
    equal(server.admin_ok("GET", f"/items/{item}/counts")["counts"]["given"], 15)


@rule
def a_change_that_is_not_durable_in_time_is_unknown_and_holds_up_only_other_changes():
    item = server.open_item(total=10)
    with server.held():
        first = Asked("POST", f"/items/{item}/adjust", {"delta": 1})
        time.sleep(0.3)
        second = Asked("POST", "/products", {"name": "waits its turn", "list_price": 1000})
        time.sleep(0.3)
        equal(soon("a list", lambda: server.admin("GET", "/products")).status, 200)
        true(second.answer is None, "changes of operators interleave")
        problem(first.ended(), 504, "outcome-unknown")
        equal(second.ended().status, 201)


@rule
def a_change_of_a_sale_keeps_row_audit_and_inventory_together_over_the_wait():
    item = server.open_item(total=10)
    sale = server.admin_ok("GET", f"/items/{item}")["sale"]
    end_ms = server.admin_ok("GET", f"/sales/{sale}")["end_ms"] + 60000
    with server.held():
        asked = Asked("PATCH", f"/sales/{sale}", {"end_ms": end_ms})
        time.sleep(0.3)
        equal(server.admin_ok("GET", f"/sales/{sale}")["end_ms"], end_ms - 60000)
    equal(asked.ended().status, 200)
    equal(server.admin_ok("GET", f"/sales/{sale}")["end_ms"], end_ms)
    details = [entry["detail"] for entry in server.admin_ok("GET", "/audit")["audit"] if entry["action"] == "sale.change"]
    true(any(str(end_ms) in detail for detail in details), f"no audit entry: {details}")


run()
