#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A purchase that is followed: its trace is whole from the request of a trusted proxy to the shop's webhook, in the log, in
the webhook's headers and at a collector (OTLP over HTTP). Nobody else can ask for that."""
from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true
from kit.trace_collector import Collector

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
collector = Collector()
SETTINGS = collector.settings()
server = Server(settings={**SETTINGS, "trace.sample": 0, "proxy.trusted": "127.0.0.1"}).start()
item = server.open_item(total=5)


def of(trace):
    return {span["name"]: span for span in collector.of(trace)}


def headers(**more):
    return {"X-Forwarded-For": "203.0.113.7", "traceparent": f"00-{TRACE}-{PARENT}-01", "X-Request-Id": "front-7.a", **more}


@rule
def a_trace_of_one_purchase_is_whole_from_request_to_webhook():
    ticket = Buyer(server).buy(item, headers=headers()).json()["ticket"]
    found = eventually(lambda: len(of(TRACE)) == 4 and of(TRACE), "the trace is not whole")
    buy, inventory, order, webhook = (found[name] for name in ("POST /v1/items/{item}/buy", "inventory", "order", "webhook"))
    equal((buy["parentSpanId"], buy["kind"]), (PARENT, 2))
    equal((inventory["parentSpanId"], order["parentSpanId"]), (buy["spanId"], buy["spanId"]))
    equal((webhook["parentSpanId"], webhook["kind"]), (order["spanId"], 3))
    equal(len({span["spanId"] for span in found.values()}), 4)
    for span in found.values():
        true(0 < int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]), span)
        true(abs(int(span["endTimeUnixNano"]) / 1e6 - server.now_ms()) < 120000, span)
        true({"key": "request.id", "value": {"stringValue": "front-7.a"}} in span["attributes"], span)
    message = next(message for message in collector.receiver.messages if message.data["ticket"] == ticket)
    equal(message.headers["traceparent"], f"00-{TRACE}-{webhook['spanId']}-01")
    equal(message.headers["x-request-id"], "front-7.a")
    lines = [line for line in server.log().splitlines() if TRACE in line and "request=front-7.a" in line]
    equal([word for word in ("purchase answered", "order written", "webhook answered") if not any(word in line for line in lines)], [])


@rule
def what_is_not_well_formed_or_not_sampled_is_not_followed():
    before = server.metrics()["stampede_traces_begun_total"]
    for wrong in (f"00-{TRACE}-{PARENT}-00", f"00-{TRACE.upper()}-{PARENT}-01", f"01-{TRACE}-{PARENT}-01", f"00-{'0' * 32}-{PARENT}-01"):
        Buyer(server).buy(item, headers=headers(traceparent=wrong))
    equal(server.metrics()["stampede_traces_begun_total"], before)


@rule
def a_refused_purchase_is_followed_without_an_order():
    one = server.open_item(total=2)
    buyer = Buyer(server)
    buyer.win(one)
    other = "5" + TRACE[1:]
    problem(buyer.buy(one, headers=headers(traceparent=f"00-{other}-{PARENT}-01", **{"X-Request-Id": "bad id"})), 409, "already-bought")
    found = eventually(lambda: of(other), "no trace")
    equal(sorted(found), ["POST /v1/items/{item}/buy", "inventory"])
    true({"key": "request.id", "value": {"stringValue": other}} in found["inventory"]["attributes"], "a bad id is taken")


@rule
def a_client_that_is_no_trusted_proxy_can_not_ask_for_a_trace():
    plain = Server(settings={**SETTINGS, "trace.sample": 0}).start()
    Buyer(plain).buy(plain.open_item(), headers=headers())
    equal(plain.metrics()["stampede_traces_begun_total"], 0)
    plain.stop()


@rule
def a_sample_of_one_follows_every_purchase_and_a_collector_that_is_away_costs_nothing():
    lone = Server(settings={**SETTINGS, "trace.sample": 1, "trace.endpoint": "http://127.0.0.1:9/v1/traces"}).start()
    thing = lone.open_item(total=3)
    for _ in range(3):
        Buyer(lone).win(thing)
    eventually(lambda: lone.metrics()['stampede_traces_total{result="failed"}'] == 3, "the failures are not counted")
    equal(lone.metrics()["stampede_traces_begun_total"], 3)
    lone.stop()


run()
