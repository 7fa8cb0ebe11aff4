# SPDX-License-Identifier: Apache-2.0
"""The command line as people use it: local times, prices, corrections, short hints."""
import json
import os
import subprocess

from kit.harness import Server, equal, eventually, rule, run, true

server = Server().start()


def cli(*words, zone="CST-8", stdin=None):
    return subprocess.run([server.binary, "admin", "--url", f"http://127.0.0.1:{server.port}", *words], capture_output=True, text=True,
                          timeout=60, input=stdin, env={**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["admin"], "TZ": zone})


def done(*words, **more):
    answer = cli("--json", *words, **more)
    equal(answer.returncode, 0, answer.stderr)
    return json.loads(answer.stdout)


@rule
def times_are_local_or_have_an_offset_and_prices_are_in_the_currency():
    product = done("product", "create", "--name", "Phone", "--list-price", "199.00", "--currency", "CNY")
    equal(product["list_price"], 19900)
    sale = done("sale", "create", "--title", "S", "--start", "2036-11-16T20:00", "--end", "2036-11-16T22:00+09:00")
    equal((sale["start_ms"], sale["end_ms"]), (2110449600000, 2110449600000 + 3600000))
    item = done("item", "create", "--sale", str(sale["id"]), "--product", str(product["id"]), "--price", "99.5", "--total", "5")
    equal(item["flash_price"], 9950)
    shown = cli("item", "list", "--sale", str(sale["id"])).stdout
    true("99.50" in shown and "9950" not in shown, shown)
    true("2036-11-16T20:00:00.000+08:00" in cli("sale", "show", str(sale["id"])).stdout)
    wrong = cli("item", "change", str(item["id"]), "--price", "1.005")
    true(wrong.returncode == 1 and "CNY" in wrong.stderr, wrong)


@rule
def what_was_made_can_be_corrected_and_removed():
    product = done("product", "create", "--name", "Phone", "--list-price", "199.00", "--currency", "CNY")["id"]
    equal(done("product", "change", str(product), "--name", "Phone 2")["name"], "Phone 2")
    sale = server.sale()
    item = server.item(sale, product)
    equal(done("item", "change", str(item), "--price", "12.00", "--total", "3")["flash_price"], 1200)
    spare = server.item(sale, product)
    equal(done("item", "remove", str(spare)), {"item": spare, "removed": True})
    document = done("sale", "show", str(sale))
    equal((document["id"], [row["id"] for row in document["items"]]), (sale, [item]), "one document")
    server.publish(sale)
    done("sale", "end", str(sale))
    equal(done("sale", "reopen", str(sale))["changed"], True)


@rule
def invited_users_are_listed_over_pages_and_removed():
    sale = server.sale(eligible_only=True)
    server.item(sale)
    server.publish(sale)
    equal(cli("sale", "users", str(sale), "-", stdin="".join(f"user {number}\n" for number in range(600))).returncode, 0)
    eventually(lambda: len(done("users", "list", str(sale))["users"]) == 600, "not all are listed")
    equal(cli("users", "remove", str(sale), "-", stdin="user 1\nuser 2\n").returncode, 0)
    eventually(lambda: len(done("users", "list", str(sale))["users"]) == 598, "they are still listed")


@rule
def a_typing_error_gets_a_short_hint():
    for words, hint in ((("sale", "opn", "3"), "sale open"), (("nothing",), "unknown verb 'nothing'"), ((), "missing verb"),
                        (("sale", "change", "1"), "nothing to change"), (("item", "create", "--prize", "1"), "--prize")):
        answer = cli(*words)
        equal(answer.returncode, 2, words)
        true(hint in answer.stderr and "--help" in answer.stderr, answer.stderr)
        true(len(answer.stderr.splitlines()) <= 3, answer.stderr)


@rule
def a_data_folder_that_is_not_there_is_told_in_a_sentence():
    code, words = Server(data="/nonexist/x").start_refused()
    true(code != 0 and "its parent folder does not exist" in words and "not_found" not in words, words)


run()
