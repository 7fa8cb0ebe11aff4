# SPDX-License-Identifier: Apache-2.0
"""An earlier win is no way round the funnel: whoever is refused hears an old answer, and wins nothing anew."""
from kit.given_back import bought_and_cancelled, cancel, gone, server
from kit.harness import Buyer, equal, eventually, problem, rule, run, true


@rule
def who_bought_and_cancelled_may_ask_as_often_as_others():
    item = server.open_item(total=5)
    buyer, _ = bought_and_cancelled(item)
    give, answers = buyer.get_pass(item), []
    for _ in range(15):
        answers.append(buyer.buy(item, give=give))
        if answers[-1].status == 202:
            cancel(buyer, answers[-1].json())
            gone(item)
    equal(answers[0].status, 202, "there are units, and nothing forbids them")
    problem(answers[-1], 429, "too-fast")
    true(sum(answer.status == 202 for answer in answers) <= 9, "wins beyond limits.user_requests")


@rule
def a_refused_repeat_still_hears_the_win():
    """The first answer was lost; whatever refuses others, the same key tells the ticket, and another key nothing new."""
    item = server.open_item(total=5, limit_per_user=2)
    sale = server.sale_of(item)
    buyer = Buyer(server)
    give = buyer.get_pass(item)
    won = buyer.win(item, key="first", give=give)
    server.admin_ok("PATCH", f"/sales/{sale}", {"drop_percent": 100})
    eventually(lambda: Buyer(server).buy(item, key="x").status == 503, "nobody is dropped")
    equal(buyer.win(item, key="first", give=give)["ticket"], won["ticket"])
    problem(buyer.buy(item, key="second", give=give), 503, "too-popular")
    server.admin_ok("PATCH", f"/sales/{sale}", {"drop_percent": 0, "pace_per_s": 0})
    server.admin_ok("POST", f"/sales/{sale}/pause")
    eventually(lambda: Buyer(server).buy(item, key="x").status == 403, "it is not paused")
    equal(buyer.win(item, key="first", give=give)["ticket"], won["ticket"])
    problem(buyer.buy(item, key="second", give=give), 403, "paused")
    server.admin_ok("POST", f"/sales/{sale}/resume")
    eventually(lambda: Buyer(server).buy(item, key="x").status == 202, "it does not go on")
    equal(buyer.win(item, key="second", give=give)["quantity"], 1)


@rule
def a_pass_that_is_good_once_opens_no_second_win():
    item = server.open_item(total=5, sale_fields={"pass_once": True})
    buyer = Buyer(server)
    give = buyer.get_pass(item)
    won = buyer.win(item, give=give, key="k")
    equal(buyer.win(item, give=give, key="k")["ticket"], won["ticket"], "the lost answer")
    cancel(buyer, won)
    gone(item)
    problem(buyer.buy(item, give=give), 403, "pass-spent")
    equal(buyer.win(item, give=give, key="k")["ticket"], won["ticket"], "an old answer is told, whatever became of it")


@rule
def an_earlier_win_is_no_way_past_the_switch_for_nobody_new():
    item = server.open_item(total=5)
    buyer, won = bought_and_cancelled(item, key="k")
    stranger = Buyer(server)
    server.admin_ok("PATCH", "/switches", {"refuse_new": True})
    try:
        eventually(lambda: stranger.ask_pass(item).status == 503, "the switch does nothing")
        give = buyer.get_pass(item)
        problem(buyer.buy(item, give=give), 503, "too-popular")
        equal(buyer.win(item, give=give, key="k")["ticket"], won["ticket"])
    finally:
        server.admin_ok("PATCH", "/switches", {"refuse_new": False})
    eventually(lambda: stranger.ask_pass(item).status == 201, "the switch stays")
    problem(buyer.buy(item, give=give), 503, "too-popular")
    equal(buyer.buy(item).status, 202, "with a pass like everybody's")


@rule
def an_earlier_win_is_no_way_past_the_waiting_room():
    item = server.open_item(total=5)
    buyer, won = bought_and_cancelled(item, key="k")
    server.admin_ok("PATCH", f"/sales/{server.sale_of(item)}", {"waiting_room": True})
    stranger = Buyer(server)
    eventually(lambda: stranger.ask_pass(item).status == 404, "there is no waiting room")
    give = buyer.get_pass(item)
    problem(buyer.buy(item, give=give), 403, "not-your-turn")
    equal(buyer.win(item, give=give, key="k")["ticket"], won["ticket"])


run()
