# SPDX-License-Identifier: Apache-2.0
"""The anomaly rules at the real server: banned with a reason and lifted, or only reported."""
import time

from kit.bans import bans, findings, guess, lift, shop, try_
from kit.harness import equal, eventually, problem, rule, run, true


@rule
def who_guesses_is_banned_with_a_reason_and_can_be_lifted():
    strict = shop(**{"watch.failures": "ban", "watch.failures_per_minute": 100, "watch.ban_minutes": 7})
    goods = strict.open_item(total=10)
    guess(strict, goods, "203.0.113.50", 300)
    guess(strict, goods, "203.0.113.51", 20)  # a hand that slips
    problem(eventually(lambda: (lambda reply: reply if reply.json()["type"] == "/problems/banned" else None)(
        try_(strict, goods, "203.0.113.50")), "never banned"), 403, "banned")
    problem(try_(strict, goods, "203.0.113.51"), 403, "pass-invalid")
    made, = bans(strict)
    equal((made["kind"], made["address"], made["by"]), ("address", "203.0.113.50", "rule failures"))
    true("failed checks" in made["reason"] and made["until_ms"] - made["created_ms"] == 7 * 60000, made)
    found, = findings(strict)
    equal((found["rule"], found["outcome"], found["ban"], found["address"]),
          ("failures", "banned", made["id"], "203.0.113.50"))
    equal(strict.metrics()['stampede_watch_banned_total{rule="failures"}'], 1)
    true(any(row["action"] == "ban.add" and row["actor"] == "rule failures"
             for row in strict.admin("GET", "/audit").json()["audit"]), "not audited")
    lift(strict, made["id"])
    problem(try_(strict, goods, "203.0.113.50"), 403, "pass-invalid")
    time.sleep(2.5)  # the rules look again: what is forgiven is not found again
    problem(try_(strict, goods, "203.0.113.50"), 403, "pass-invalid")
    guess(strict, goods, "127.0.0.1", 300)  # the proxy itself: found, never banned
    eventually(lambda: len(findings(strict)) == 2, "the proxy is not found")
    equal(findings(strict)[0]["outcome"], "protected")
    equal(bans(strict), [])


@rule
def report_bans_nobody():
    mild = shop(**{"watch.failures": "report", "watch.failures_per_minute": 100})
    goods = mild.open_item(total=10)
    guess(mild, goods, "2001:db8:5:6::1", 150)
    guess(mild, goods, "2001:db8:5:6:ffff::2", 150)  # the same customer
    found = eventually(lambda: findings(mild), "nothing is found")
    equal(len(found), 1)
    equal((found[0]["outcome"], found[0]["address"], found[0]["ban"]), ("reported", "2001:db8:5:6::/64", 0))
    equal(bans(mild, "?all=1"), [])
    problem(try_(mild, goods, "2001:db8:5:6::1"), 403, "pass-invalid")


run()
