# SPDX-License-Identifier: Apache-2.0
"""What the tests of units that are given back share: a shop with the default limits, and buyers who cancel."""
from kit.harness import Buyer, Server, equal, eventually

# As a shop runs it, but for the connections: all people of a test come from one address.
server = Server(settings={"limits.address_per_s": 0, "limits.user_requests": 10, "limits.user_window_ms": 60000}).start()


def cancel(buyer, won):
    buyer.order(won["ticket"])
    equal(server.request("POST", f"/v1/orders/{won['order']}/cancel", session=buyer.session).status, 200)


def gone(item, units=0):
    """Until the board shows what came back."""
    eventually(lambda: server.counts(item)["held"] == units, "the unit does not come back")


def bought_and_cancelled(item, **wish):
    buyer = Buyer(server)
    won = buyer.win(item, **wish)
    cancel(buyer, won)
    gone(item)
    return buyer, won
