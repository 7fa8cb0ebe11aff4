#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A crowd at several gateways: exact, whatever way each request took (bar 3 of step 2 of check-cluster).

  tools/with-postgres tools/with-redis --cluster python3 tests/bars/cluster_crowd.py [--gateways 4] [--workers 3] [--units N] [--users N] [--shards N]

Each user buys one unit at one of the gateways, and asks again after a lost answer. In the end every told win is one order of
that user, nobody has two, all units are sold, and what was told as being decided is an order or void. Prints one line of figures,
then what is wrong; exit status 1 if something is.
"""
import argparse
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from cluster_shop import Shop  # noqa: E402
from kit import crowd  # noqa: E402
from kit.harness import eventually  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description="A crowd at several gateways.")
    parser.add_argument("--gateways", type=int, default=4)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--units", type=int, default=1000)
    parser.add_argument("--users", type=int, default=20000)
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--connections", type=int, default=100, help="at each gateway")
    return parser.parse_args()


def judge(findings, requests, orders, user_ids, units):
    """requests: of all gateways, each with the id of its user."""
    by_ticket = {order.ticket: order for order in orders}
    told, deciding, lost = set(), set(), set()
    for user, request in requests:
        order = by_ticket.get(request.ticket)
        if request.status == 202 and request.what == "won":
            told.add(request.ticket)
            if order is None:
                findings.say("told and lost", f"user {user} was told {request.ticket}, which has no order")
            elif order.user != user:
                findings.say("told to another", f"user {user} was told {order}")
        elif request.status == 202:
            deciding.add(request.ticket)
            if order is not None and order.user != user:
                findings.say("told to another", f"user {user} was told that {order} is being decided")
        elif request.status in (crowd.UNANSWERED, 503):
            lost.add(user)
    for order in orders:
        if order.ticket not in told and order.ticket not in deciding and order.user not in lost:
            findings.say("never told", f"{order}, and its user has a final answer")
    users = [order.user for order in orders]
    if len(set(users)) != len(users):
        findings.say("above the limit", f"{len(users) - len(set(users))} users have more than one unit")
    if set(users) - set(user_ids):
        findings.say("never asked", f"{len(set(users) - set(user_ids))} orders are of nobody who asked")
    if len(orders) != min(units, len(user_ids)):
        findings.say("not all sold", f"{len(orders)} orders, {units} units, {len(user_ids)} users")
    return {"told": len(told), "deciding": len(deciding), "void": len(deciding - set(by_ticket))}


def play(shop, item, given):
    """(seconds, [(user id, request)], ids of all users)"""
    each = given.users // given.gateways
    crowds = [crowd.Crowd(gateway, item, each, first=number * each, seed=number + 1, connections=given.connections)
              for number, gateway in enumerate(shop.gateways)]
    began = time.monotonic()
    for one in crowds:
        one.start()
    requests, ids = [], []
    for one in crowds:
        _, asked = one.finish()
        mine = one.user_ids()
        ids += mine
        requests += [(mine[request.user], request) for request in asked]
    return time.monotonic() - began, requests, ids


def main():
    given = arguments()
    findings = crowd.Findings()
    shop = Shop(given.gateways, given.workers, {"data.tickets_max": 2 * given.units + 1000, "server.connections_max": 1000}).start()
    item = shop.workers[0].open_item(total=given.units, sale_fields={"shards": given.shards})
    for gateway in shop.gateways:
        eventually(lambda g=gateway: (c := g.counts(item)) is not None and c["free"] == given.units, "a gateway does not see the units")
    seconds, requests, ids = play(shop, item, given)
    crowd.orders_settled(shop.workers[0], item)
    orders = crowd.orders_read(shop.workers[0], item)
    figures = judge(findings, requests, orders, ids, given.units)
    for process in (*shop.workers, *shop.gateways):
        counts = eventually(lambda p=process: (c := p.counts(item))["free"] == 0 and c, "a process still shows free units")
        crowd.check_counts(findings, counts, orders, given.units)
    shop.stop()
    print(f"{given.gateways} gateways, {given.workers} workers, {given.units} units in {given.shards} shards, {given.users} users: {len(requests)} requests in "
          f"{seconds:.1f} s ({len(requests) / seconds:.0f}/s), {len(orders)} orders, {figures['told']} told at once, "
          f"{figures['deciding']} as being decided, {figures['void']} of them void, {len(findings)} findings")
    print("\n".join(findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
