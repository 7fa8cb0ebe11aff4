# SPDX-License-Identifier: Apache-2.0
"""A folder of many years: how long a server that starts on it takes to be ready, and what its front page costs. Its sales but one are over."""
import time

from bars import several
from growth_kit import spent, told
from growth_orders import SIZES, used_for_years

STARTS = 5
PAGES = 3000
FRONT = "/v1/sales"  # what the list of sales asks for


def start_s(server):
    """The quickest of some: what else the machine does only makes one slower."""
    took = []
    for _ in range(STARTS):
        server.stop()
        began = time.monotonic()
        server.start()
        took.append(time.monotonic() - began)
    return min(took)


def front_us(server):
    def pages():
        with server.connect() as connection:
            for _ in range(PAGES):
                reply = connection.request("GET", FRONT)
                if reply.status != 200 or len(reply.json()["sales"]) != 1:
                    raise ValueError(f"{reply.status}: {reply.body[:200]!r}")
    return spent(server, "edge-0", pages) / PAGES * 1e6


def costs(sizes=SIZES):
    """Two for growth_kit.told."""
    starting, showing = [], []
    for size in sizes:
        with used_for_years(size, server__threads=1) as (server, _):
            starting.append(start_s(server))
            showing.append(front_us(server))
    return ((sizes, starting, "s", "start with so many past items, a tenth as many sales"),
            (sizes, showing, "µs of the edge", "front page with so many past items"))


def parts(bars):
    bars.part("4 start", "exponents ≤ 0.2 with 100 to 100,000 past items and 10 to 10,000 past sales",
              lambda: several([told(*one) for one in costs()]))
