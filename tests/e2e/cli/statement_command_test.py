#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`stampede admin statement import`: the sandbox's own books and providers' files from the command line."""
import json
import os
import subprocess

from kit.harness import equal, rule, run, true
from kit.paying import at_bank, at_rest, becomes, bought, order_do, server

BILL = ("#支付宝业务明细查询\n#起始日期：[2026年11月14日 00:00:00]   终止日期：[2026年11月15日 00:00:00]\n"
        "商户订单号,业务类型,完成时间,订单金额（元）\n%s#结束\n")


def imported(path, *words, provider="sandbox"):
    environment = {**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["operator"], "STAMPEDE_URL": f"http://127.0.0.1:{server.port}"}
    done = subprocess.run([server.binary, "admin", "statement", "import", path, "--provider", provider, *words],
                          env=environment, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def written(name, text):
    path = os.path.join(server.data, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def books():
    return os.path.join(server.data, "sandbox", "payments")



def audit():
    rows, after = [], 0
    while True:
        page = server.admin_ok("GET", f"/audit?after={after}")
        rows += next(value for value in page.values() if isinstance(value, list))
        if "next" not in page:
            return rows
        after = page["next"]


@rule
def the_sandboxs_books_agree_with_ours():
    item = server.open_item(total=3)
    for back in (False, False, True):
        buyer, order = bought(item)
        at_bank(buyer, order)
        becomes(buyer, order, "paid")
        if back:
            equal(order_do(buyer, order, "refund").status, 200)
    at_rest()
    code, out, errors = imported(books(), "--json")
    equal(code, 0, out + errors)
    report = json.loads(out)
    equal((report["rows"], report["agree"], report["differences"]), (4, 4, []))


@rule
def a_payment_that_the_statement_lacks_is_told():
    server.admin("PATCH", "/sandbox", {"lost": 0})
    buyer, order = bought(server.open_item(total=1))
    at_bank(buyer, order)
    becomes(buyer, order, "paid")
    empty = written("empty.csv", BILL % "")
    equal(imported(empty, provider="alipay")[0], 0)  # nothing was paid through it
    code, out, _ = imported(books())
    equal(code, 0, out)
    buyer, order = bought(server.open_item(total=1))
    before = open(books(), "rb").read()
    at_bank(buyer, order)
    becomes(buyer, order, "paid")
    path = os.path.join(server.data, "yesterday")
    with open(path, "wb") as out:
        out.write(before)
    code, out, _ = imported(path)
    equal(code, 1, out)
    true("payment-missing-there" in out and f"{order['order']}-1" in out, out)
    equal(imported(books())[0], 0)


@rule
def money_of_nobody_in_alipays_bill_is_told_in_parts_of_a_hundred_rows():
    rows = "".join(f"{number:016x}-1\t,交易\t,2026-11-14 12:00:00,1.50\n" for number in range(250))
    code, out, errors = imported(written("bill.csv", BILL % (rows + "洗衣 7,交易,2026-11-14 12:00:00,9.90\n")), "--json", provider="alipay")
    equal(code, 1, out + errors)
    report = json.loads(out)
    equal((report["rows"], report["agree"], report["of_others"], len(report["differences"])), (251, 0, 1, 250))
    equal({one["difference"] for one in report["differences"]}, {"unknown-payment"})
    true(next(row for row in server.admin_ok("GET", "/alarms")["alarms"] if row["name"] == "statement")["up"], "no alarm")


@rule
def a_file_that_is_not_understood_is_refused_as_a_whole():
    before = audit()[-1]
    bad = written("bad.csv", BILL % ("a,交易,2026-11-14 12:00:00,1.50\n" * 3 + "a,交易,2026-11-14 12:00:00,one\n"))
    code, out, errors = imported(bad, provider="alipay")
    equal((code, out), (2, ""))
    true("line 7: the amount of a row can't be read; nothing was imported" in errors, errors)
    equal(imported(bad, provider="paypal")[0], 2)
    equal(imported(os.path.join(server.data, "nowhere"))[0], 2)
    equal(audit()[-1], before)


run()
