# SPDX-License-Identifier: Apache-2.0
"""What edges note: who is too fast, and how many people are behind an address."""
import threading
import time

from kit.bans import bans, from_, lift, shop, token, try_
from kit.harness import equal, problem, request_bytes, rule, run, true


@rule
def who_hammers_is_banned_and_a_crowd_behind_one_address_is_not():
    strict = shop(**{"watch.rate": "ban", "watch.rate_per_s": 20, "watch.rate_for_s": 2,
                     "limits.address_per_s": 50, "limits.address_burst": 50})
    goods = strict.open_item(total=1000)
    for number in range(40):  # people of one office, with a pass each
        session = strict.request("POST", "/v1/session", session=token(f"colleague-{number}"),
                                 headers=from_(f"198.51.100.{number}")).json()["session"]
        equal(strict.request("POST", f"/v1/items/{goods}/pass", session=session,
                             headers=from_("198.51.100.200")).status, 201)
    stop = time.monotonic() + 6

    def hammer(address, pause_s):
        with strict.connect() as connection:
            while time.monotonic() < stop:
                connection.send(request_bytes("POST", f"/v1/items/{goods}/buy", None,
                                              {"Stampede-Pass": "x" * 48, **from_(address)}))
                connection.read_reply()
                time.sleep(pause_s)

    both = [threading.Thread(target=hammer, args=(address, 0.005)) for address in ("198.51.100.200", "198.51.100.201")]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    made, = bans(strict)
    equal((made["address"], made["by"]), ("198.51.100.201", "rule rate"))
    true("times a second" in made["reason"], made["reason"])
    problem(try_(strict, goods, "198.51.100.201"), 403, "banned")
    true(try_(strict, goods, "198.51.100.200").json()["type"] != "/problems/banned", "the office is banned")
    lift(strict, made["id"])
    true(try_(strict, goods, "198.51.100.201").json()["type"] != "/problems/banned", "still banned")


run()
