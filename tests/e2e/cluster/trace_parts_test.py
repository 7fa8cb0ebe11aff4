#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A purchase that is followed through a shop on several machines: the request at a gateway, the order and the webhook at a
worker; the collector (OTLP over HTTP) gets one whole trace from two processes or three."""
from kit import databases
from kit.harness import Buyer, Failure, equal, eventually, problem, rule, run, true
from kit.trace_collector import Collector

databases.beside("postgres", "redis")

from kit.cluster import Cluster  # noqa: E402

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
BUY = "POST /v1/items/{item}/buy"
collector = Collector()
shop = Cluster(gateways=2, workers=2, settings={**collector.settings(), "trace.sample": 0, "proxy.trusted": "127.0.0.1",
                                                "inventory.tell_ms": 5000, "inventory.timeout_ms": 5000})


of = collector.of


def headers(trace, request_id):
    return {"X-Forwarded-For": "203.0.113.7", "traceparent": f"00-{trace}-{PARENT}-01", "X-Request-Id": request_id}


@rule
def all_processes_start():
    shop.start()


def whole(item, number, tries=5):
    """(its spans by name, its request id, the reply) of a purchase whose trace is whole. What processes tell each other may come
    too late on a busy machine: then the next purchase is looked at."""
    for at in range(tries):
        trace, request_id = f"{number:x}{at:x}{TRACE[2:]}", f"front-{number}-{at}"
        reply = Buyer(shop.gateways[number % 2]).buy(item, headers=headers(trace, request_id))
        equal(reply.status, 202, reply.body)
        try:
            eventually(lambda t=trace: len(of(t)) >= 4, "the trace is not whole", patience_s=15)
        except Failure:
            continue
        equal(sorted(span["name"] for span in of(trace)), sorted((BUY, "inventory", "order", "webhook")))
        return {span["name"]: span for span in of(trace)}, trace, request_id, reply
    raise Failure(f"no trace is whole: {sorted({span['name'] for span in collector.spans})}\n{shop.log()}")


@rule
def a_trace_of_one_purchase_is_whole_from_request_to_webhook():
    """Of several items, so that each worker owns some of them, and the leader sends webhooks of orders that the other wrote."""
    items = [shop.worker.open_item(total=9) for _ in range(4)]
    shop.everywhere(*items)
    for number, item in enumerate(items):
        found, trace, request_id, reply = whole(item, number + 1)
        buy, inventory, order, webhook = (found[name] for name in (BUY, "inventory", "order", "webhook"))
        equal((buy["parentSpanId"], buy["kind"]), (PARENT, 2))
        equal((inventory["parentSpanId"], order["parentSpanId"]), (buy["spanId"], buy["spanId"]))
        equal((webhook["parentSpanId"], webhook["kind"]), (order["spanId"], 3))
        for span in found.values():
            true(0 < int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]), span)
            true({"key": "request.id", "value": {"stringValue": request_id}} in span["attributes"], span)
        ticket = reply.json()["ticket"]
        message = next(message for message in collector.receiver.messages if message.data["ticket"] == ticket)
        equal(message.headers["traceparent"], f"00-{trace}-{webhook['spanId']}-01")
        equal(message.headers["x-request-id"], request_id)


@rule
def a_purchase_that_nobody_asked_for_is_not_followed_and_a_refused_one_has_no_order():
    item = shop.worker.open_item(total=5)
    shop.everywhere(item)
    equal([worker.metrics()["stampede_traces_begun_total"] for worker in shop.workers], [0, 0], "it counts where its request is")
    begun = sum(gateway.metrics()["stampede_traces_begun_total"] for gateway in shop.gateways)
    buyer = Buyer(shop.gateways[0])
    buyer.win(item)
    trace = "e" + TRACE[1:]
    problem(buyer.buy(item, headers=headers(trace, "again")), 409, "already-bought")
    eventually(lambda: of(trace), "no trace")
    equal(sorted(span["name"] for span in of(trace)), [BUY, "inventory"])
    equal(sum(gateway.metrics()["stampede_traces_begun_total"] for gateway in shop.gateways), begun + 1)


@rule
def all_stop():
    shop.stop()


run()
