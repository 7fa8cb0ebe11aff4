# SPDX-License-Identifier: Apache-2.0
"""How much work the human check asks for, through HTTP: by the switch, by what failed at an address, and less again."""
from kit.clocks import WrongServer
from kit.harness import Buyer, equal, problem, rule, run, true
from kit.solving import payload, solve, work

BASE = 256
MOST = 16777216
MINUTE_MS = 60 * 1000
server = WrongServer(settings={"human.pow_hashes": BASE, "human.pictures": 0})
server.start()
items = {check: server.open_item(total=5, sale_fields={"human_check": check}) for check in ("pow", "image")}
ann, bob = Buyer(server), Buyer(server)


def given(check="pow", buyer=ann, source=None):
    with server.connect(source=source) as connection:
        return connection.request("GET", f"/v1/items/{items[check]}/challenge?kind=pow", None,
                                  {"Authorization": f"Bearer {buyer.session}"}).json()


def asked(check="pow", buyer=ann, source=None):
    return work(given(check, buyer, source))


def answer(solved, buyer=ann, source=None, check="pow"):
    with server.connect(source=source) as connection:
        return connection.request("POST", f"/v1/items/{items[check]}/pass", payload(solved),
                                  {"Authorization": f"Bearer {buyer.session}"})


def fail(times, source, buyer=None):
    """Fails, each time as somebody else unless a buyer is named."""
    for _ in range(times):
        who = buyer or Buyer(server)
        challenge = given(buyer=who, source=source)
        wrong = {"challenge": challenge, "solution": {"counter": 0, "derivedKey": "ff" * 32}}
        problem(answer(wrong, who, source), 403, "human-check-failed")


def boost(steps):
    equal(server.admin_ok("PATCH", "/switches", {"pow_boost": steps}, role="operator")["pow_boost"], steps)


@rule
def each_step_of_the_switch_doubles_the_work_and_turning_it_back_halves_it():
    for steps in (0, 1, 2, 5, 10, 3, 0):
        boost(steps)
        equal(asked(), BASE << steps, f"pow_boost {steps}")
        equal(asked("image"), BASE << steps + 4, f"instead of a picture, pow_boost {steps}")


@rule
def more_work_is_really_asked_for():
    boost(4)
    lazy = {"derivedKey": "00"}
    while lazy["derivedKey"].startswith("00"):  # one zero is what it was before
        challenge = given()
        equal((challenge["parameters"]["cost"], challenge["parameters"]["keyPrefix"]), (16, "00"))
        lazy = solve({"parameters": {**challenge["parameters"], "keyPrefix": "0"}})["solution"]
    with server.connect(source="127.60.0.9") as connection:
        problem(connection.request("POST", f"/v1/items/{items['pow']}/pass",
                                   payload({"challenge": challenge, "solution": lazy}),
                                   {"Authorization": f"Bearer {ann.session}"}), 403, "human-check-failed")
    equal(answer(solve(challenge)).status, 201)
    boost(0)
    equal(answer(solve(given())).status, 201)


def minute_begins():
    """The points of an address fade with the minutes of the server's time: at the beginning of one there is time."""
    server.time_pass(MINUTE_MS - server.now_ms() % MINUTE_MS + 500)


@rule
def failures_of_an_address_raise_its_work_and_only_its_and_each_minute_takes_half_of_it_back():
    near, far = "127.60.0.1", "127.60.0.2"
    minute_begins()
    for failures, doublings in ((1, 0), (1, 1), (2, 2), (2, 3), (2, 4), (2, 5), (4, 6)):
        fail(failures, near)
        equal(asked(source=near), BASE << doublings)
    equal(asked(buyer=bob, source=near), BASE << 6)  # whoever comes from there
    equal(asked(source=far), BASE)
    boost(3)
    equal((asked(source=near), asked(source=far)), (BASE << 9, BASE << 3))
    boost(0)
    for doublings in (3, 1, 0, 0):  # of 140 points 70, 35, 17, 8 are left
        server.time_pass(MINUTE_MS)
        equal(asked(source=near), BASE << doublings)
    equal(answer(solve(given(source=near)), source=near).status, 201)


@rule
def failures_of_a_user_raise_the_work_wherever_it_comes_from_until_nothing_is_given():
    minute_begins()
    eve, homes = Buyer(server), [f"127.61.0.{home}" for home in range(1, 10)]
    for failures in range(1, 9):
        fail(1, homes[failures - 1], eve)
        if failures < 8:
            equal(asked(buyer=eve, source=homes[8]), BASE << min(failures, 6), failures)
    challenge = given(buyer=eve, source=homes[8])
    equal(challenge["type"], "/problems/human-check-refused")
    equal(asked(source=homes[8]), BASE)  # others at that address are left alone
    server.time_pass(MINUTE_MS)
    solved = solve(given(buyer=eve, source=homes[8]))
    equal(work(solved["challenge"]), BASE << 4)
    equal(answer(solved, eve, homes[8]).status, 201)


@rule
def the_work_grows_with_the_passes_that_an_address_took_and_only_there():
    near, far = "127.62.0.1", "127.62.0.2"
    for passes in range(8 + 16):
        equal(asked(source=near), BASE << (0 if passes < 8 else 1), passes)
        who = Buyer(server)
        equal(answer(solve(given(buyer=who, source=near)), who, near).status, 201)
    equal(asked(source=near), BASE << 2)
    equal(asked(source=far), BASE)
    server.time_pass(10 * MINUTE_MS)
    equal(asked(source=near), BASE << 1)


@rule
def the_work_never_exceeds_what_a_browser_can_do():
    minute_begins()
    fail(12, "127.60.0.3")
    boost(10)
    equal(asked("image", source="127.60.0.3"), MOST)  # 2^8 hashes, doubled 6 + 10 + 4 times
    true(BASE << 20 > MOST, "the bound is not reached")
    boost(0)


run()
