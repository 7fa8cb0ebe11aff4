# SPDX-License-Identifier: Apache-2.0
"""Sold out: substitutes, waitlist, presale. Bookings with and without a deposit become orders in order when units arrive; deposits go
back once."""
from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, true

PRICE, DEPOSIT = 99900, 1000
server = Server(settings={"orders.grace_ms": 100}).start()


class Booker(Buyer):
    def book(self, item, body=None):
        return server.request("POST", f"/v1/items/{item}/presale", body, {"Stampede-Pass": self.get_pass(item)}, self.session)

    def booking(self, item):
        return self.get(f"/v1/items/{item}/presale").json()

    def leave(self, item):
        return server.request("DELETE", f"/v1/items/{item}/presale", session=self.session)

    def reaches(self, item, state):
        return eventually(lambda: (lambda now: now if now["state"] == state else None)(self.booking(item)),
                          f"the booking does not become {state}: {self.booking(item)}")


def offer(item, **fields):
    return server.admin_ok("PUT", f"/items/{item}/sold-out", fields)


def pay(buyer, ticket):
    order = buyer.order(ticket)
    return server.admin_ok("POST", f"/orders/{order['order']}/paid",
                           {"amount": order["amount"], "currency": "CNY", "reference": f"p-{order['order']}"}, "operator")


def arrive(item, units):
    return server.admin_ok("POST", f"/items/{item}/presale/arrive", {"units": units}, "operator")


def presale(deposit=False, **fields):
    """An item without units that takes bookings; with a deposit: (item, item of the deposit)."""
    sale = server.sale()
    item = server.item(sale, total=0)
    deposits = 0
    if deposit:  # its sale is not published: nobody can buy it without booking
        hidden = server.sale()
        deposits = server.item(hidden, total=100, flash_price=DEPOSIT)
        server.admin_ok("POST", f"/sales/{hidden}/preheat")
    server.publish(sale)
    offer(item, when_sold_out="presale", deposit_item=deposits, **fields)
    return (item, deposits) if deposit else item


@rule
def the_sold_out_answer_and_the_item_say_what_is_offered():
    other = server.open_item()
    item = server.open_item(total=1)
    for fields, wanted in (({"when_sold_out": "end"}, None),
                           ({"when_sold_out": "waitlist"}, {"kind": "waitlist", "waitlist": f"/v1/items/{item}/waitlist"}),
                           ({"when_sold_out": "substitutes", "substitutes": [other]},
                            {"kind": "substitutes", "substitutes": [other]}),
                           ({"when_sold_out": "presale"},
                            {"kind": "presale", "item": item, "presale": f"/v1/items/{item}/presale"})):
        offer(item, **fields)
        true("offers" not in server.get(f"/v1/items/{item}").json(), "there are units")
        buyer = Buyer(server)
        ticket = buyer.win(item)["ticket"]
        eventually(lambda: server.get(f"/v1/items/{item}").json().get("offers") == wanted, f"not {wanted}")
        for headers in (None, {"Accept-Language": "zh-CN"}):
            answer = problem(Buyer(server).buy(item, headers=headers), 409, "sold-out", free=0)
            equal(answer.get("offers"), wanted)
        order = buyer.order(ticket)
        equal(server.request("POST", f"/v1/orders/{order['order']}/cancel", session=buyer.session).status, 200)
        eventually(lambda: not server.get(f"/v1/items/{item}").json()["sold_out"], "the unit is not back")
        true("offers" not in server.get(f"/v1/items/{item}").json(), "it turns back by itself")


@rule
def bad_offers_are_refused_and_change_nothing():
    item, other = server.open_item(), server.open_item()
    eventually(lambda: server.admin_ok("GET", f"/items/{item}")["preheated"], "the preheat is not written")
    before = server.admin_ok("GET", f"/items/{item}")
    for wrong in ({}, {"when_sold_out": "never"}, {"when_sold_out": "substitutes"},
                  {"when_sold_out": "substitutes", "substitutes": [item]},
                  {"when_sold_out": "substitutes", "substitutes": [60000]},
                  {"when_sold_out": "substitutes", "substitutes": [other] * 7},
                  {"when_sold_out": "presale", "presale_item": other}, {"when_sold_out": "presale", "presale_item": item},
                  {"when_sold_out": "presale", "deposit_item": item}, {"when_sold_out": "presale", "deposit_item": other}, {"when_sold_out": "end", "presale_cap": 3},
                  {"when_sold_out": "presale", "balance_ms": 10}, {"when_sold_out": "presale", "deposit_kept": "unpaid"},
                  {"when_sold_out": "presale", "deposit_kept": "perhaps"}):
        problem(server.admin("PUT", f"/items/{item}/sold-out", wrong), 422, "bad-value")
    equal(server.admin_ok("GET", f"/items/{item}"), before)
    equal(server.admin("PUT", f"/items/{item}/sold-out", {"when_sold_out": "end"}, "operator").status, 403)
    problem(server.admin("POST", f"/items/{item}/presale/arrive", {"units": 1}), 409, "conflict")


@rule
def bookings_become_orders_in_order_when_units_arrive():
    item = presale(presale_cap=3, balance_ms=1234567)
    bookers = [Booker(server) for _ in range(3)]
    for booker in bookers:
        reply = booker.book(item)
        equal((reply.status, reply.json()["state"]), (201, "booked"))
        equal(booker.book(item).status, 200, "one for each user")
    problem(Booker(server).book(item), 409, "waitlist-full")
    problem(Booker(server).wait(item), 409, "conflict")
    problem(Buyer(server).buy(item), 409, "sold-out")
    row = next(line for line in server.admin_ok("GET", "/purchases")["purchases"] if line["item"] == item)
    equal((row["bookings"], row["units"], row["deposits"]), (3, 3, 0))
    csv = server.admin("GET", "/purchases?csv=1")
    equal(csv.headers["content-type"], "text/csv; charset=utf-8")
    true(f"\r\n{item},{row['product']},\"Phone\",3,3,0,0,CNY,0,0,0,0\r\n" in csv.body.decode(), csv.body)
    equal(arrive(item, 2)["arrived"], 2)
    offers = [booker.reaches(item, "offered") for booker in bookers[:2]]
    equal(bookers[2].booking(item)["state"], "booked")
    problem(Buyer(server).buy(item), 409, "sold-out")
    order = bookers[0].order(offers[0]["ticket"])
    equal((order["amount"], order["pay_by_ms"] - order["created_ms"]), (PRICE, 1234567))
    pay(bookers[0], offers[0]["ticket"])
    bookers[0].reaches(item, "bought")
    second = bookers[1].order(offers[1]["ticket"])
    equal(server.request("POST", f"/v1/orders/{second['order']}/cancel", session=bookers[1].session).status, 200)
    bookers[2].reaches(item, "offered")
    bookers[1].reaches(item, "ended")
    equal(bookers[1].book(item).status, 201, "who gave up may book again, at the end")


@rule
def what_nobody_booked_is_sold_to_walk_ins():
    item = presale()
    arrive(item, 1)
    eventually(lambda: not server.get(f"/v1/items/{item}").json()["sold_out"], "the unit is not for sale")
    equal(Buyer(server).buy(item).status, 202)


@rule
def a_deposit_is_paid_first_counts_toward_the_price_and_goes_back_once():
    item, deposits = presale(deposit=True)
    kept, cancelled, unpaid = (Booker(server) for _ in range(3))
    tickets = {}
    for booker in (kept, cancelled, unpaid):
        reply = booker.book(item)
        equal((reply.status, reply.json()["state"]), (201, "deposit-due"))
        tickets[booker] = reply.json()["deposit"]["ticket"]
        equal(eventually(lambda: booker.booking(item).get("deposit"))["ticket"], tickets[booker])
        equal(booker.book(item).json()["deposit"]["ticket"], tickets[booker], "asked twice, one deposit")
        equal(booker.order(tickets[booker])["amount"], DEPOSIT)
    problem(unpaid.leave(item), 409, "conflict")
    problem(unpaid.ask_pass(deposits), 404, "unknown-item")
    for booker in (kept, cancelled):
        pay(booker, tickets[booker])
        booker.reaches(item, "booked")
    order = unpaid.order(tickets[unpaid])
    server.request("POST", f"/v1/orders/{order['order']}/cancel", session=unpaid.session)
    unpaid.reaches(item, "ended")
    row = next(line for line in server.admin_ok("GET", "/purchases")["purchases"] if line["item"] == item)
    equal((row["bookings"], row["deposits"], row["deposits_amount"]), (2, 2, 2 * DEPOSIT))
    server.restart(kill=True)
    equal(cancelled.leave(item).status, 200)
    cancelled.reaches(item, "refunded")
    equal(cancelled.leave(item).status, 200, "again")
    eventually(lambda: cancelled.order(tickets[cancelled])["state"] == "refunded")
    equal(cancelled.order(tickets[cancelled])["version"], cancelled.order(tickets[cancelled])["version"])
    arrive(item, 1)
    ticket = kept.reaches(item, "offered")["ticket"]
    pay(kept, ticket)
    kept.reaches(item, "bought")
    equal(kept.order(tickets[kept])["state"], "paid", "the deposit is part of the price")
    eventually(lambda: server.counts(deposits)["free"] == 99, "units of deposits that went back")
    server.stop()
    server.verify()
    server.start()


def cancel(buyer, ticket):
    return server.request("POST", f"/v1/orders/{buyer.order(ticket)['order']}/cancel", session=buyer.session)


def booked(item):
    """Who has paid the deposit, and its ticket."""
    booker = Booker(server)
    ticket = booker.book(item).json()["deposit"]["ticket"]
    eventually(lambda: booker.get(f"/v1/tickets/{ticket}").json().get("order"))
    pay(booker, ticket)
    booker.reaches(item, "booked")
    return booker, ticket


@rule
def the_shop_keeps_a_deposit_only_by_the_terms_that_the_buyer_was_shown():
    item, _ = presale(deposit=True, deposit_kept="unpaid", balance_ms=1000)
    equal(eventually(lambda: server.get(f"/v1/items/{item}").json().get("offers"))["deposit_kept"], "unpaid")
    equal(server.admin_ok("GET", f"/items/{item}")["deposit_kept"], "unpaid")
    early, early_ticket = booked(item)
    late, late_ticket = booked(item)
    offer(item, when_sold_out="presale", deposit_item=server.admin_ok("GET", f"/items/{item}")["deposit_item"],
          deposit_kept="never", balance_ms=1000)
    equal(late.booking(item)["deposit_kept"], "unpaid", "the terms are those of the day of booking")
    equal(early.leave(item).status, 200)
    early.reaches(item, "refunded")
    arrive(item, 1)
    ticket = late.reaches(item, "offered")["ticket"]
    late.reaches(item, "deposit-kept")
    equal((late.order(ticket)["state"], late.order(late_ticket)["state"]), ("closed", "paid"))
    row = next(line for line in server.admin_ok("GET", "/purchases")["purchases"] if line["item"] == item)
    equal((row["deposits"], row["kept"], row["kept_amount"]), (1, 1, DEPOSIT))
    equal(server.admin_ok("GET", f"/items/{item}/presale")["bookings"][1]["state"], "deposit-kept")


@rule
def who_gives_a_booking_up_loses_the_deposit_if_the_terms_say_so_and_not_if_the_shop_ends_it():
    item, _ = presale(deposit=True, deposit_kept="given-up")
    gone, gone_ticket = booked(item)
    dropped, dropped_ticket = booked(item)
    cancelled, cancelled_ticket = booked(item)
    equal(gone.leave(item).status, 200)
    gone.reaches(item, "deposit-kept")
    equal(gone.order(gone_ticket)["state"], "paid")
    server.admin_ok("POST", f"/orders/{dropped.order(dropped_ticket)['order']}/refund", {"to": "stock"})
    dropped.reaches(item, "refunded")
    arrive(item, 1)
    ticket = cancelled.reaches(item, "offered")["ticket"]  # whose deposit was refunded has left the line
    server.admin_ok("POST", f"/orders/{cancelled.order(ticket)['order']}/cancel", None, "operator")
    cancelled.reaches(item, "refunded")
    eventually(lambda: cancelled.order(cancelled_ticket)["state"] == "refunded")


@rule
def an_offer_ends_when_the_shop_refunds_its_deposit():
    item, _ = presale(deposit=True)
    booker, deposit = booked(item)
    arrive(item, 1)
    ticket = booker.reaches(item, "offered")["ticket"]
    server.admin_ok("POST", f"/orders/{booker.order(deposit)['order']}/refund", {"to": "stock"})
    booker.reaches(item, "refunded")
    equal(booker.order(ticket)["state"], "closed", "nobody pays the balance only")


@rule
def units_that_a_walk_in_returns_give_a_booked_place_its_own_time_to_pay():
    item = presale(balance_ms=1234567)
    arrive(item, 1)
    eventually(lambda: not server.get(f"/v1/items/{item}").json()["sold_out"], "the unit is not for sale")
    walker, booker = Buyer(server), Booker(server)
    ticket = walker.win(item)["ticket"]
    eventually(lambda: booker.book(item).status == 201, "no booking")
    equal(cancel(walker, ticket).status, 200)
    order = booker.order(booker.reaches(item, "offered")["ticket"])
    equal(order["pay_by_ms"] - order["created_ms"], 1234567)


run()
