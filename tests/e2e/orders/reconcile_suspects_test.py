#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing is found where nothing is wrong, however much is in motion. RUNS=N: so many reconciliations beside a crowd (20)."""
import json
import os
import random
import threading

from kit.harness import Buyer, equal, eventually, rule, run
from kit.reconcile_shop import codes, pay, reconcile, server

RUNS = int(os.environ.get("RUNS", "20"))

@rule
def nothing_is_found_beside_a_crowd_that_buys_pays_and_cancels():
    sale = server.sale(limit_per_user=6)
    items = [server.item(sale, total=3000, limit_per_user=limit, pay_window_ms=2000) for limit in (1, 3, 0)]
    server.publish(sale)
    stop = threading.Event()
    done, wrong = [0] * 4, []

    def crowd(index):
        try:
            while not stop.is_set():
                buyer = Buyer(server)
                for item in items:
                    reply = buyer.buy(item, key=f"{index}-{done[index]}-{item}")
                    if reply.status != 202:
                        continue
                    order = buyer.order(reply.json()["ticket"])["order"]
                    chance = random.random()
                    if chance < 0.5:
                        pay(order, f"crowd-{order}")
                    elif chance < 0.8:
                        server.request("POST", f"/v1/orders/{order}/cancel", session=buyer.session)
                    if chance < 0.1:
                        server.admin("POST", f"/orders/{order}/refund", {"to": random.choice(("stock", "write-off"))})
                    done[index] += 1
        except Exception as trouble:  # tell it in the rule
            wrong.append(trouble)
    threads = [threading.Thread(target=crowd, args=(index,)) for index in range(len(done))]
    for thread in threads:
        thread.start()
    skipped = 0
    for _ in range(RUNS):
        code, report = reconcile()
        skipped += report["skipped"]
        if (code, codes(report)) != (0, []):
            stop.set()
        equal((code, codes(report)), (0, []), json.dumps(report["findings"], indent=1))
    stop.set()
    for thread in threads:
        thread.join()
    equal(wrong, [])
    print(f"     {sum(done)} orders, {RUNS} runs, {skipped} comparisons skipped")

    def rests():
        code, report = reconcile()
        equal((code, codes(report)), (0, []), json.dumps(report["findings"], indent=1))
        return report["skipped"] == 0
    eventually(rests, "it never rests")


run()
