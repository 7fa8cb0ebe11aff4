# SPDX-License-Identifier: Apache-2.0
"""A channel reports more than it had: case, refund and coupon, notice by a real SMTP server and a webhook receiver, closed; the books balance."""
import os
import time

from bars import BUILD_ROOT
from kit.harness import Buyer, Server, eventually
from kit.smtp_receiver import MailReceiver
from kit.webhook_receiver import Receiver, settings_for

ORDERS = int(os.environ.get("REMEDY_ORDERS", "40"))
MISSING = ORDERS // 2


def order_made(server, item, number):
    buyer = Buyer(server)
    order = buyer.win(item)["order"]
    eventually(lambda: server.admin("GET", f"/orders/{order}").status == 200, "no order")
    server.request("PUT", f"/v1/orders/{order}/details", {"name": "Li", "phone": "13800138000", "address": "Street 1", "note": "",
                                                          "email": f"buyer{number}@example.org"}, session=buyer.session)
    payment = server.request("POST", f"/v1/orders/{order}/pay", {}, session=buyer.session).json()["payment"]["url"].split("id=")[1]
    server.request("POST", f"/sandbox/v1/pay/{payment}", {"how": "pay"})
    eventually(lambda: server.admin_ok("GET", f"/orders/{order}")["view"]["state"] == "paid", "not paid")
    return order


def remedies():
    hooks, post = Receiver(), MailReceiver()
    server = Server(settings={"payment.providers": "sandbox", "payment.query_ms": 300}, binary=os.path.join(BUILD_ROOT, "release", "stampede"))
    settings_for(server, hooks.url, mail__server=post.url, mail__from="shop@example.org").start()
    item = server.open_item(total=ORDERS, flash_price=9900)
    orders = [order_made(server, item, number) for number in range(ORDERS)]
    began = time.monotonic()
    case = server.admin_ok("POST", "/cases", {"item": item, "channel": "tmall", "reference": "report", "missing": MISSING, "reason": "over-report"})
    affected = [row["order"] for row in server.admin_ok("GET", f"/cases/{case['id']}")["rows"]]
    for order in affected:
        for _ in range(2):  # the second time changes nothing
            server.admin_ok("POST", f"/cases/{case['id']}/apply", {"order": order, "remedy": "refund-coupon"})

    def noticed():
        whole = server.admin_ok("GET", f"/cases/{case['id']}")
        return all(mail["state"] == "sent" for mail in whole["mails"]) and len([m for m in hooks.messages if m.type == "order.remedy"]) >= MISSING
    eventually(noticed, "not everybody was told")
    closed = server.admin_ok("POST", f"/cases/{case['id']}/close", {"outcome": "refunded"})["state"]

    def at_rest():
        money = server.admin_ok("GET", "/payments/totals")
        return money["wanted"] == 0 and money["captured"] - money["refunded"] == money["paid"] and money
    money = eventually(at_rest, "the books do not balance")
    seconds = time.monotonic() - began
    costs = server.admin_ok("GET", "/cases/costs")["costs"][0]
    coupons = {row["done"]["coupon"]["code"] for row in server.admin_ok("GET", f"/cases/{case['id']}")["rows"]}
    server.stop()
    server.verify()
    good = (set(affected) == set(orders[-MISSING:]) and closed == "closed" and len(post.mails) == MISSING and len(coupons) == MISSING
            and money["refunded"] == MISSING * 9900 == costs["refunds"] and costs["coupons"] == MISSING * 990)
    return (f"{MISSING} of {ORDERS} orders: {len(post.mails)} mails, {len(coupons)} coupons, {money['refunded']:,} given back, {closed} in {seconds:.1f} s, "
            f"captured − refunded = paid = {money['paid']:,}", good)


def parts(bars):
    bars.part("2", "over-report, case, refund and coupon, notice by SMTP and webhook, closed; the books balance", remedies)
