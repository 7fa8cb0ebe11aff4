# SPDX-License-Identifier: Apache-2.0
"""Early drop: a share of the users is told "too popular" for the whole sale, always the same ones, and nobody who has bought."""
from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

USERS = 400
server = Server(settings={"pass.life_s": 600}).start()


def drop(sale, percent, witness):
    """Sets the share and waits until the edges have the catalog that says so: until `witness` is answered with that status."""
    server.admin_ok("PATCH", f"/sales/{sale}", {"drop_percent": percent})
    buyer, item, status = witness
    eventually(lambda: buyer.buy(item).status == status, f"drop_percent {percent} is not seen")


def door(answer):
    line = f'stampede_door_total{{answer="{answer}"}} '
    return next(int(row[len(line):]) for row in server.get("/metrics").body.decode().splitlines() if row.startswith(line))


@rule
def the_share_is_dropped_and_asking_again_gives_the_same_answer():
    item = server.open_item(total=USERS, limit_per_user=0, sale_fields={"drop_percent": 30})
    users = [Buyer(server) for _ in range(USERS)]
    passes = [user.get_pass(item) for user in users]
    before = door("go")
    first = [user.buy(item, give=one, key="a").status for user, one in zip(users, passes)]
    equal(set(first), {202, 503})
    out = first.count(503)
    true(USERS * 15 // 100 < out < USERS * 45 // 100, f"{out} of {USERS}")  # six deviations
    for _ in range(2):
        equal([user.buy(item, key="a").status for user in users[:60]], first[:60], "another pass is another try, not another draw")
    refused = users[first.index(503)].buy(item, key="b")
    problem(refused, 503, "too-popular")
    true(int(refused.headers["retry-after"]) >= 1)
    equal(server.counts(item)["held"], USERS - out)
    equal(door("go") - before, USERS - out + 2 * first[:60].count(202), "who is dropped never reaches the inventory")


@rule
def everybody_at_100_except_who_may_have_bought():
    item = server.open_item()
    sale = server.sale_of(item)
    winner, other = Buyer(server), Buyer(server)
    ticket = winner.win(item)["ticket"]
    drop(sale, 100, (other, item, 503))
    for _ in range(10):
        problem(Buyer(server).buy(item), 503, "too-popular")
    equal(problem(winner.buy(item), 409, "already-bought")["ticket"], ticket)
    equal(server.counts(item)["held"], 1)
    drop(sale, 0, (other, item, 202))
    Buyer(server).win(item)


@rule
def sold_out_is_said_before_anything_is_drawn():
    item = server.open_item(total=1, sale_fields={"drop_percent": 0})
    Buyer(server).win(item)
    server.admin_ok("PATCH", f"/sales/{server.sale_of(item)}", {"drop_percent": 100})
    for _ in range(5):
        problem(Buyer(server).buy(item), 409, "sold-out")


run()
