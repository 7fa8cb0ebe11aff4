# SPDX-License-Identifier: Apache-2.0
"""Payments, cancels and joins of the waitlist that come together share a commit, and nothing is told before it."""
import json
import socket
import threading

from kit.databases import orders_locked
from kit.harness import Buyer, Closed, NO_LIMITS, Server, equal, eventually, problem, request_bytes, rule, run, true

MANY = 80
PRICE = 999
server = Server(settings={**NO_LIMITS, "server.threads": 1}).start()


def item_with(total):
    return server.open_item(total=total, flash_price=PRICE, sale_fields={"cooldown_s": 0, "return_draw_ms": 0}, limit_per_user=1)


def orders_of(item, count):
    """[(buyer, order id)]: written, not paid."""
    won = [(buyer, buyer.win(item)) for buyer in [Buyer(server) for _ in range(count)]]
    for buyer, win in won:
        eventually(lambda: buyer.order(win["ticket"])["state"] == "pending")  # pylint: disable=cell-var-from-loop
    return [(buyer, win["order"]) for buyer, win in won]


def pay_bytes(order):
    body = {"amount": PRICE, "currency": "CNY", "reference": f"group-{order}"}
    return request_bytes("POST", f"/admin/v1/orders/{order}/paid", body, {"Authorization": f"Bearer {server.keys['admin']}"})


def cancel_bytes(buyer, order):
    return request_bytes("POST", f"/v1/orders/{order}/cancel", None, {"Authorization": f"Bearer {buyer.session}"})


def all_at_once(requests):
    """Their replies: all are sent before the first is read."""
    lines = [server.connect() for _ in requests]
    for line, data in zip(lines, requests):
        line.send(data)
    replies = [line.read_reply() for line in lines]
    for line in lines:
        line.close()
    return replies


def state_of(order):
    return server.admin_ok("GET", f"/orders/{order}")["view"]["state"]


def groups():
    values = server.metrics()
    return values["stampede_job_groups_total"], values["stampede_job_group_jobs_total"]


@rule
def what_comes_together_shares_commits():
    orders = orders_of(item_with(MANY), MANY)
    before = groups()
    replies = all_at_once([pay_bytes(order) if i % 2 else cancel_bytes(buyer, order)
                           for i, (buyer, order) in enumerate(orders)])
    after = groups()
    equal([reply.status for reply in replies], [200] * MANY)
    for i, (_, order) in enumerate(orders):
        equal(state_of(order), "paid" if i % 2 else "closed")
    commits, jobs = after[0] - before[0], after[1] - before[1]
    true(jobs >= MANY and commits < jobs, f"{commits} commits for {jobs} requests")


@rule
def a_request_alone_waits_for_nobody():
    [(_, order)] = orders_of(item_with(1), 1)
    before = groups()
    with server.connect() as line:
        line.send(pay_bytes(order))
        equal(line.read_reply().status, 200)
    equal(groups()[0] - before[0], 1)


@rule
def the_waitlist_gives_places_one_by_one():
    item = item_with(1)
    Buyer(server).win(item)
    buyers = [Buyer(server) for _ in range(MANY)]
    requests = [request_bytes("POST", f"/v1/items/{item}/waitlist", None,
                              {"Authorization": f"Bearer {buyer.session}", "Stampede-Pass": buyer.get_pass(item)})
                for buyer in buyers]
    replies = all_at_once(requests)
    equal([reply.status for reply in replies], [201] * MANY)
    equal(sorted(reply.json()["position"] for reply in replies), list(range(1, MANY + 1)))
    for buyer, reply in zip(buyers, replies):
        equal(buyer.get(f"/v1/items/{item}/waitlist").json()["position"], reply.json()["position"])


@rule
def one_that_is_refused_takes_nobody_with_it():
    orders = orders_of(item_with(20), 20)
    requests = [pay_bytes(order).replace(b"999", b"998") if i % 4 == 0 else pay_bytes(order)
                for i, (_, order) in enumerate(orders)]
    replies = all_at_once(requests)
    for i, reply in enumerate(replies):
        if i % 4 == 0:
            problem(reply, 409, "amount-mismatch")
        else:
            equal(reply.status, 200)
    for i, (_, order) in enumerate(orders):
        equal(state_of(order), "pending" if i % 4 == 0 else "paid")


@rule
def while_the_database_is_locked_nothing_is_done_and_all_hear_so():
    orders = orders_of(item_with(10), 10)
    with orders_locked(server):
        replies = all_at_once([pay_bytes(order) for _, order in orders])
    for reply in replies:
        problem(reply, 503, "unavailable")
    for _, order in orders:
        equal(state_of(order), "pending")
    equal({reply.status for reply in all_at_once([pay_bytes(order) for _, order in orders])}, {200})


@rule
def what_was_told_before_the_process_died_is_there():
    orders = orders_of(item_with(3 * MANY), 3 * MANY)
    told = []

    def client(mine):
        try:
            with server.connect() as line:
                for i, (buyer, order) in mine:
                    line.send(pay_bytes(order) if i % 2 else cancel_bytes(buyer, order))
                    reply = line.read_reply()
                    if reply.status == 200:
                        told.append((order, json.loads(reply.body)["state"]))
        except (Closed, OSError, socket.timeout):
            pass
    numbered = list(enumerate(orders))
    threads = [threading.Thread(target=client, args=(numbered[at::24],)) for at in range(24)]
    for thread in threads:
        thread.start()
    eventually(lambda: len(told) >= MANY, every_s=0.001)
    server.kill()
    for thread in threads:
        thread.join()
    server.start()
    for order, state in told:
        equal(state_of(order), state)


run()
