"""How much work the human check asks for, through HTTP: by the switch, by what failed at an address, and less again."""
from clocks import WrongServer
from harness import Buyer, equal, problem, rule, run, true
from solving import payload, solve, work

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


def answer(solved, buyer=ann, source=None):
    with server.connect(source=source) as connection:
        return connection.request("POST", f"/v1/items/{items['pow']}/pass", payload(solved),
                                  {"Authorization": f"Bearer {buyer.session}"})


def boost(steps):
    equal(server.admin_ok("PATCH", "/switches", {"pow_boost": steps}, role="operator")["pow_boost"], steps)


@rule
def each_step_of_the_switch_doubles_the_work_and_turning_it_back_halves_it():
    for steps in (0, 1, 2, 5, 10, 3, 0):
        boost(steps)
        equal(asked(), BASE << steps, f"pow_boost {steps}")
        equal(asked("image"), BASE << steps + 2, f"instead of a picture, pow_boost {steps}")


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
    wrong = solve(given(source=near))
    wrong["solution"]["counter"] += 1
    minute_begins()
    wrong["challenge"] = given(source=near)  # the old one has had its time
    for failures, doublings in ((1, 0), (1, 1), (2, 2), (2, 3), (2, 4), (2, 5), (2, 5)):
        for _ in range(failures):
            problem(answer(wrong, source=near), 403, "human-check-failed")
        equal(asked(source=near), BASE << doublings)
    equal(asked(buyer=bob, source=near), BASE << 5)  # whoever comes from there
    equal(asked(source=far), BASE)
    boost(3)
    equal((asked(source=near), asked(source=far)), (BASE << 8, BASE << 3))
    boost(0)
    for doublings in (3, 1, 0, 0):  # of 120 points 60, 30, 15, 7 are left
        server.time_pass(MINUTE_MS)
        equal(asked(source=near), BASE << doublings)
    equal(answer(solve(given(source=near)), source=near).status, 201)


@rule
def the_work_never_exceeds_what_a_browser_can_do():
    minute_begins()
    item = items["image"]
    for _ in range(10):
        with server.connect(source="127.60.0.3") as connection:
            wrong = solve(given())
            wrong["challenge"]["signature"] = "0" * 64
            problem(connection.request("POST", f"/v1/items/{item}/pass", payload(wrong),
                                       {"Authorization": f"Bearer {ann.session}"}), 403, "human-check-failed")
    boost(10)
    equal(asked("image", source="127.60.0.3"), MOST)  # 2^8 hashes, doubled 5 + 10 + 2 times
    true(BASE << 17 > MOST, "the bound is not reached")
    boost(0)


run()
