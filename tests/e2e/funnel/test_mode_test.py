#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The sandbox moves no real money, and nobody can take it for a provider that does: it stands alone, on this machine unless
the operator says otherwise, and operators see that it is on."""
from kit.harness import Server, equal, rule, run, true

server = Server(settings={"payment.providers": "sandbox"}).start()


def refused(words, **settings):
    other = Server(settings={name.replace("__", "."): value for name, value in settings.items()})
    code, said = other.start_refused()
    equal(code, 2, said)
    true(words in said, said)


def alarm(of):
    return next(row for row in of.admin_ok("GET", "/alarms")["alarms"] if row["name"] == "test-mode")


@rule
def the_sandbox_does_not_start_beside_a_real_provider():
    refused("can't be used beside another provider", payment__providers="stripe,sandbox", sandbox__allow_public="yes")
    refused("can't be used beside another provider", payment__providers="sandbox,alipay")


@rule
def other_machines_reach_it_only_if_the_operator_says_so():
    refused("sandbox.allow_public = yes", payment__providers="sandbox", server__address="0.0.0.0")
    refused("sandbox.allow_public = yes", payment__providers="sandbox", payment__public_url="https://shop.example")
    told = Server(settings={"payment.providers": "sandbox", "server.address": "0.0.0.0", "sandbox.allow_public": "yes"}).start()
    equal(told.get("/v1/time").json()["test"], True)
    told.stop()


@rule
def an_operator_sees_that_it_is_on():
    equal((alarm(server)["up"], "no real money" in alarm(server)["detail"]), (True, True))
    equal(server.metrics()["stampede_sandbox"], 1)


@rule
def a_buyer_sees_it_from_the_first_paint_on():
    item = server.open_item()
    plain = Server(settings={"payment.providers": ""}).start()
    for path in ("/", f"/items/{item}/"):
        true('data-words="page.test">' in server.get(path).body.decode(), path)
    true('data-words="page.test" hidden>' in plain.get("/").body.decode())
    plain.stop()


@rule
def the_alarm_ends_with_the_sandbox():
    server.stop()
    server.write_config(payment__providers="")
    server.start()
    equal((alarm(server)["up"], server.metrics()["stampede_sandbox"]), (False, 0))


run()
