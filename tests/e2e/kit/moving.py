# SPDX-License-Identifier: Apache-2.0
"""What the tests of `stampede migrate` share: running it, killed after a number of its changes, and what buyers and the shop do before and after."""
import os
import subprocess

from kit.harness import Buyer, binary_path, equal, true


def migrate(source, target, page, kill=0):
    """page: rows in a transaction. kill: after which change it is killed."""
    environment = {**os.environ, "STAMPEDE_TEST_MIGRATE_ROWS": str(page), **({"STAMPEDE_TEST_MIGRATE_KILL": str(kill)} if kill else {})}
    return subprocess.run([binary_path(), "migrate", "--from", source, "--to", target], capture_output=True, text=True, timeout=300,
                          env=environment)


def refused(done, *words):
    equal(done.returncode, 1, done.stdout + done.stderr)
    for word in words:
        true(word in done.stderr, done.stderr)


def verified(*words):
    done = subprocess.run([binary_path(), "verify", *words], capture_output=True, text=True, timeout=300)
    equal(done.returncode, 0, done.stdout + done.stderr)


def pay(server, order):
    return server.admin("POST", f"/orders/{order['order']}/paid", {
        "reference": f"outside-{order['order']}", "amount": order["amount"], "currency": order["currency"]})


def enter(server, sale, buyer):
    """Into the waiting room. True: the buyer has a place."""
    return server.request("POST", f"/v1/sales/{sale}/room", session=buyer.session).status in (200, 202)


def three_buy(server, item):
    """name: (buyer, what was told, order), one of each state."""
    bought = {}
    for name in ("holder", "payer", "refunded"):
        buyer = Buyer(server)
        won = buyer.win(item, key=f"the-key-of-the-{name}")
        bought[name] = buyer, won, buyer.order(won["ticket"])
    return bought


def two_pay(operator, bought):
    """The payer keeps the unit, the other one gives it back."""
    for name in ("payer", "refunded"):
        equal(pay(operator, bought[name][2]).status, 200)
    operator.admin_ok("POST", f"/orders/{bought['refunded'][2]['order']}/refund", {"to": "stock"})
