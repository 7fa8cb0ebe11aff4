# SPDX-License-Identifier: Apache-2.0
"""Honest users and bots in a quick form: every profile is played, every honest user is answered, and what was told is what was sold.
Nothing here depends on speed; the bars with figures are `make check-funnel`'s."""
from kit import bots
from kit.harness import equal, rule, run, true

UNITS, HONEST = 100, 300


def played(profile):
    result = bots.wins(profile, "on", UNITS, HONEST, seconds=2)
    print(f"     {profile}: honest {result['honest']}, bots {result['bots']} of {UNITS} units")
    honest = result["answers"]["honest"]
    equal(set(honest) - {"202 won", "409 sold-out", "503 too-popular"}, set(), "what honest users heard")
    equal(result["honest"] + result["bots"] + result["left"], UNITS, "units")
    return result


@rule
def who_hammers_wins_no_more_than_once_an_account():
    true(played("hammer")["bots"] <= bots.PROFILES["hammer"][0], "more wins than accounts")


@rule
def a_pass_sent_again_and_again_wins_once():
    true(played("replay")["bots"] <= bots.PROFILES["replay"][0], "more wins than passes")


@rule
def many_accounts_behind_one_address_meet_its_limit():
    true("429 too-fast" in played("many_accounts")["answers"]["bots"], "nobody was too fast")


@rule
def machines_that_ask_at_once_meet_their_limit():
    true("429 too-fast" in played("perfect")["answers"]["bots"], "nobody was too fast")


@rule
def slow_heads_bodies_and_readers_are_ended_and_honest_users_served_meanwhile():
    shop = bots.Shop("on", **{"server.head_timeout_ms": 500, "server.body_timeout_ms": 500, "server.send_timeout_ms": 500})
    item = shop.server.open_item(total=100000)
    slow = [group for group in bots.bot_groups(shop, item, 300, 300) if group["name"].startswith("slow")]
    for group in slow:
        group["every_ms"] = 200
    result = shop.play([bots.honest_group(shop, item, 200, 3), *slow], 3)["groups"]
    equal(set(result["honest"]["answers"]), {"202 won"}, "what honest users heard")
    equal((result["honest"]["lost"], result["honest"]["answered"]), (0, result["honest"]["sent"]), "honest requests")
    for name in ("slow_head", "slow_body", "slow_read"):
        true(result[name]["reopened"] > 0, f"no {name} was ended: {result[name]}")
    ended = ", ".join(f"{name} {group['reopened']}" for name, group in result.items() if name.startswith("slow"))
    print(f"     ended: {ended}")


run()
