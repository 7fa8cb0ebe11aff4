# SPDX-License-Identifier: Apache-2.0
"""Alipay and WeChat Pay against stand-ins whose signatures are made and checked by public SDKs: create, pay, callback,
query, close and refund over real HTTP; then every way to forge, replay or change what they say."""
import random
import urllib.parse

from kit.harness import among, equal, rule, run, true
from kit.providers import Shop, now_ms, packages, send

shops = {}
HOUR_S = 3600
WINDOW_S = {"alipay": 25 * HOUR_S + 300, "wechat": 300}
FORGERIES = 10000
SIGNED_HEADERS = ("wechatpay-signature", "wechatpay-timestamp", "wechatpay-nonce", "wechatpay-serial")


def shop_of(name):
    packages()
    if name not in shops:
        shops[name] = Shop(name)
    return shops[name]


def for_each(test):
    """One rule for each provider."""
    for name in ("alipay", "wechat"):
        def one(name=name):
            test(shop_of(name))
        one.__name__ = f"{test.__name__}_{name}"
        rule(one)
    return test


def paid(shop, amount=129901):
    """A payment that somebody has paid, and its callback."""
    payment = shop.payment(amount)
    equal(shop.ask("create", payment)["word"], "open")
    return payment, shop.standin.callback("pay", reference=payment["reference"])


# ---- the way of the money ----------------------------------------------------------------------------


@for_each
def the_stand_in_is_one_that_the_sdk_itself_can_work_with(shop):
    among(shop.standin.test("sdk")["asked"], ("ACQ.TRADE_NOT_EXIST", "NOTPAY"))


@for_each
def created_paid_called_back_and_queried(shop):
    payment = shop.payment()
    said = shop.ask("create", payment)
    equal(said["word"], "open", said["error"])
    true(payment["reference"] in said["url"], said["url"])
    equal(shop.ask("create", payment)["url"], said["url"], "again is the same payment")
    among(shop.ask("query", payment)["word"], ("open", "unknown"))
    made = shop.standin.test("pay", reference=payment["reference"], send=1)
    among(made["receipt"], ({"status": 200, "body": "success"}, {"status": 200, "body": ""}))
    for said in (shop.receiver.said[-1], shop.ask("query", payment)):
        equal((said["word"], said["reference"], said["amount"], said["currency"]),
              ("captured", payment["reference"], 129901, "CNY"), said["error"])
        true(len(said["provider_id"]) > 20, said)


@for_each
def amounts_are_exact_to_the_smallest_unit(shop):
    for amount in (1, 9, 10, 99, 100, 101, 1010, 999999999, 100000000001):
        payment, (head, body) = paid(shop, amount)
        equal(shop.probe.callback(head, body)["amount"], amount)
        equal(shop.ask("query", payment)["amount"], amount)


@for_each
def another_amount_is_told_as_it_is(shop):
    payment = shop.payment(500)
    shop.ask("create", payment)
    shop.standin.test("pay", reference=payment["reference"], amount=501)
    equal(shop.ask("query", payment)["amount"], 501)


@for_each
def an_open_payment_closes_and_a_paid_one_does_not(shop):
    payment = shop.payment()
    shop.ask("create", payment)
    if shop.name == "alipay":
        equal(shop.ask("close", payment)["word"], "unknown", "nobody has scanned it")
        shop.standin.test("scan", reference=payment["reference"])
        equal(shop.ask("query", payment)["word"], "open")
    equal(shop.ask("close", payment)["word"], "closed")
    equal(shop.ask("query", payment)["word"], "closed")
    among(shop.ask("close", payment)["word"], ("closed", "refused"))
    payment, _ = paid(shop)
    equal(shop.ask("close", payment)["word"], "refused")
    equal(shop.ask("query", payment)["word"], "captured", "the query after a refused close tells why")
    unknown = shop.payment()
    equal(shop.ask("query", unknown)["word"], "unknown")
    equal(shop.ask("close", unknown)["word"], "unknown")


@for_each
def a_refund_happens_once_for_its_key(shop):
    payment, _ = paid(shop)
    refund = {"refund_key": "r" + payment["reference"][-20:], "refund_amount": payment["amount"], "captured": payment["amount"]}
    equal(shop.ask("refund_query", payment, **refund)["word"], "unknown")
    among(shop.ask("refund", payment, **refund)["word"], ("refunded", "refund_pending"))
    among(shop.ask("refund", payment, **refund)["word"], ("refunded", "refund_pending"))
    said = shop.ask("refund_query", payment, **refund)
    equal(said["word"], "refunded", said["error"])
    equal(shop.ask("refund", payment, **{**refund, "refund_key": "r2"})["word"], "refused", "there is nothing left")
    equal(shop.ask("refund_query", payment, **{**refund, "refund_amount": 1})["word"], "refused", "another amount")
    equal(shop.ask("query", payment)["word"], "closed", "all money is back")


@for_each
def a_refund_of_what_was_never_paid_is_refused(shop):
    payment = shop.payment()
    shop.ask("create", payment)
    equal(shop.ask("refund", payment, refund_key="r3", refund_amount=1)["word"], "refused")


@for_each
def trouble_means_again(shop):
    payment = shop.payment()
    for status in (500, 502, 503, 429):
        shop.standin.test("trouble", status=status)
        equal(shop.ask("create", payment)["word"], "again")
    task = shop.task("create", payment)
    equal(shop.probe.read(task, 0, b"", b"", failed=True)["word"], "again")
    equal(shop.ask("create", payment)["word"], "open")


@for_each
def another_currency_is_refused_without_a_call(shop):
    equal(shop.ask("create", shop.payment(), currency="USD")["word"], "refused")


@for_each
def a_request_that_was_changed_on_its_way_is_refused_by_the_sdk(shop):
    payment = shop.payment()
    task = shop.task("create", payment)
    request = shop.probe.do(do="ask", **task)
    changed = {**request, "body": request["body"].replace("129901", "1").replace("1299.01", "0.01")}
    true(changed["body"] != request["body"], "nothing to change")
    said = shop.probe.read(task, *send(changed))
    equal(said["word"], "forged", "its refusal is not signed")
    equal(shop.ask("query", payment)["word"], "unknown", "nothing was created")
    equal(shop.probe.read(task, *send(request))["word"], "open", "unchanged it is taken")


@rule
def alipay_pages_are_signed_addresses_that_the_sdk_takes():
    shop = shop_of("alipay")
    equal(shop.open(method="page"), {"ok": True})
    try:
        payment = shop.payment()
        said = shop.ask("create", payment)
        equal(said["word"], "open")
        status, _, body = send({"method": "GET", "url": said["url"], "headers": "", "body": ""})
        equal((status, body.decode()), (200, f"page for {payment['reference']}"))
        equal(shop.ask("query", payment)["word"], "open")
    finally:
        shop.open()


@rule
def wechat_h5_gives_an_address_that_leads_back():
    shop = shop_of("wechat")
    equal(shop.open(kind="h5"), {"ok": True})
    try:
        said = shop.ask("create", shop.payment())
        equal(said["word"], "open", said["error"])
        true(said["url"].endswith("&redirect_url=https%3A%2F%2Fshop.example%2Fback%3Fa%3D1%26b%3D2"), said["url"])
    finally:
        shop.open()


@for_each
def wrong_settings_are_named(shop):
    for setting in list(shop.standin.settings):
        if setting.endswith("_file"):
            among(setting.split("_file")[0] in shop.open(**{setting: "/nowhere"})["error"], (True,), setting)
            true("is n" in shop.open(**{setting: __file__})["error"] or "must" in shop.open(**{setting: __file__})["error"], setting)
    for setting, value in (("gateway", "http://example.com/x"), ("base", "http://example.com"), ("app_id", "x" * 33), ("mchid", 'a"b'),
                           ("kind", "x"), ("method", "x")):
        if setting in shop.standin.settings or (setting, shop.name) in (("kind", "wechat"), ("method", "alipay")):
            true(setting in shop.open(**{setting: value}).get("error", ""), setting)
    equal(shop.open(), {"ok": True})


# ---- forgeries ---------------------------------------------------------------------------------------


def flipped(data, at, bit):
    changed = bytearray(data)
    changed[at] ^= 1 << bit
    return bytes(changed)


def means_the_same(shop, body, changed):
    """%2B and %2b, or + and %20, are one message in a form; anything else is another."""
    if shop.name != "alipay":
        return body == changed
    read = lambda text: urllib.parse.parse_qsl(text.decode("latin-1"), keep_blank_values=True, encoding="latin-1")
    return read(body) == read(changed)


def value_ranges(shop, head):
    """Where the values of the signed headers are."""
    at = 0
    for line in head.split(b"\r\n"):
        name = line.split(b":")[0].decode().lower()
        if name in SIGNED_HEADERS:
            yield range(at + len(name) + 2, at + len(line))
        at += len(line) + 2


@for_each
def every_flipped_bit_of_a_callback_is_refused(shop):
    _, (head, body) = paid(shop)
    tried = 0
    for at in range(len(body)):
        for bit in range(8):
            changed = flipped(body, at, bit)
            if not means_the_same(shop, body, changed):
                equal(shop.probe.callback(head, changed)["word"], "forged", f"byte {at} bit {bit}")
                tried += 1
    for values in value_ranges(shop, head):
        for at in values:
            for bit in range(8):
                equal(shop.probe.callback(flipped(head, at, bit), body)["word"], "forged", f"head {at} {bit}")
                tried += 1
    equal(shop.probe.callback(head, body)["word"], "captured")
    print(f"     {shop.name}: {tried} callbacks with one flipped bit, none accepted")


@for_each
def every_flipped_bit_of_an_answer_is_refused(shop):
    payment, _ = paid(shop)
    equal(shop.ask("query", payment)["word"], "captured")
    task, _, status, head, body = shop.last
    tried = 0
    for at in range(len(body)):
        for bit in range(8):
            equal(shop.probe.read(task, status, head, flipped(body, at, bit))["word"], "forged", f"{at} {bit}")
            tried += 1
    for values in value_ranges(shop, head):
        for at in values:
            for bit in range(8):
                equal(shop.probe.read(task, status, flipped(head, at, bit), body)["word"], "forged", f"head {at} {bit}")
                tried += 1
    equal(shop.probe.read(task, status, head, body)["word"], "captured")
    print(f"     {shop.name}: {tried} answers with one flipped bit, none accepted")


@for_each
def an_answer_about_another_payment_is_refused(shop):
    first, _ = paid(shop)
    second, _ = paid(shop)
    shop.ask("query", first)
    task, _, status, head, body = shop.last
    other = shop.task("query", second)
    equal(shop.probe.read(other, status, head, body)["word"], "forged")
    equal(shop.probe.read(task, status, head, body)["word"], "captured")


@rule
def wechat_signs_empty_answers_too_and_stale_ones_are_refused():
    shop = shop_of("wechat")
    payment = shop.payment()
    shop.ask("create", payment)
    equal(shop.ask("close", payment)["word"], "closed")
    task, _, status, head, body = shop.last
    equal((status, body), (204, b""))
    equal(shop.probe.read(task, status, b"", body)["word"], "forged", "without a signature")
    equal(shop.probe.read(task, status, head, b"x")["word"], "forged")
    equal(shop.probe.read(task, status, head, body, now_ms=now_ms(301))["word"], "forged", "stale")
    equal(shop.probe.read(task, status, head, body, now_ms=now_ms(-302))["word"], "forged", "in the future")
    equal(shop.probe.read(task, status, head, body)["word"], "closed")


@for_each
def callbacks_are_good_for_their_time_only(shop):
    _, (head, body) = paid(shop)
    window = WINDOW_S[shop.name]
    equal(shop.probe.callback(head, body, window - 30)["word"], "captured")
    equal(shop.probe.callback(head, body, -270)["word"], "captured", "clocks differ")
    equal(shop.probe.callback(head, body, window + 30)["word"], "forged")
    equal(shop.probe.callback(head, body, -330)["word"], "forged")


@for_each
def what_is_of_no_interest_is_taken_and_changes_nothing(shop):
    payment, _ = paid(shop)
    query = {"status": "WAIT_BUYER_PAY"} if shop.name == "alipay" else {"event": "REFUND.SUCCESS"}
    equal(shop.probe.callback(*shop.standin.callback(reference=payment["reference"], **query))["word"], "open")


@rule
def alipay_tells_of_a_closed_trade():
    shop = shop_of("alipay")
    payment = shop.payment()
    shop.ask("create", payment)
    shop.standin.test("scan", reference=payment["reference"])
    shop.ask("close", payment)
    said = shop.probe.callback(*shop.standin.callback(reference=payment["reference"]))
    equal((said["word"], said["reference"]), ("closed", payment["reference"]))


def forgery_makers(shop, dice):
    """Each makes (head, body, shift_s) of a callback that must not be accepted."""
    genuine = [paid(shop)[1] for _ in range(12)]
    window = WINDOW_S[shop.name]
    payment = paid(shop)[0]["reference"]
    signed = lambda **query: shop.standin.callback(reference=payment, **query)
    foreign_ids = ("app_id", "seller_id") if shop.name == "alipay" else ("mchid", "appid")
    foreign = [signed(**{name: f"190000{i}"}) for name in foreign_ids for i in range(10)]
    stale = [signed(shift_s=-window - 60 - 1000 * i) for i in range(10)] + [signed(shift_s=400 + 1000 * i) for i in range(10)]
    if shop.name == "wechat":
        foreign += [signed(key=f"{i:032x}") for i in range(10)]
    other = Shop(shop.name)  # keys of its own: a stranger who knows the form
    strangers = [paid(other)[1] for _ in range(10)]
    other.standin.end()
    equal(other.probe.end(), 0)

    def bits():
        head, body = dice.choice(genuine)
        while True:
            changed = body
            for _ in range(dice.choice((1, 1, 2, 5, 50))):
                changed = flipped(changed, dice.randrange(len(changed)), dice.randrange(8))
            if not means_the_same(shop, body, changed):
                return head, changed, 0

    def replayed():
        return *dice.choice(genuine), window + dice.randrange(60, 10**7)

    def cut():
        head, body = dice.choice(genuine)
        return head, body[:dice.randrange(len(body))], 0

    def spliced():
        """The head, or the signature, of one with the rest of another."""
        (head, body), (other_head, other_body) = dice.sample(genuine, 2)
        if shop.name == "wechat":
            return other_head, body, 0
        sign = dict(urllib.parse.parse_qsl(other_body.decode()))["sign"]
        pairs = [(k, sign if k == "sign" else v) for k, v in urllib.parse.parse_qsl(body.decode())]
        return head, urllib.parse.urlencode(pairs).encode(), 0

    def added():
        head, body = dice.choice(genuine)
        more = dice.choice((b"&x=1", b"&trade_status=TRADE_SUCCESS", b"&total_amount=0.01", b" ", b"{}", b"&"))
        return (head, body + more, 0) if shop.name == "wechat" or more != b"&" else (head, b"&" + body, 0)

    def unsigned():
        head, body = dice.choice(genuine)
        if shop.name == "wechat":
            lines = head.split(b"\r\n")
            wanted = dice.choice(SIGNED_HEADERS).encode()
            return b"\r\n".join(line for line in lines if not line.lower().startswith(wanted)), body, 0
        without = dice.choice(("sign", "sign_type"))
        pairs = [(k, v) for k, v in urllib.parse.parse_qsl(body.decode()) if k != without]
        return head, urllib.parse.urlencode(pairs).encode(), 0

    return {"bits": bits, "replayed": replayed, "cut": cut, "spliced": spliced, "added": added, "unsigned": unsigned,
            "foreign": lambda: (*dice.choice(foreign), 0), "stale": lambda: (*dice.choice(stale), 0),
            "strangers": lambda: (*dice.choice(strangers), 0)}


@for_each
def ten_thousand_forged_replayed_stale_or_foreign_callbacks_are_refused(shop):
    dice = random.Random(20261111)
    makers = forgery_makers(shop, dice)
    names = list(makers)
    refused = 0
    while refused < FORGERIES:
        name = names[refused % len(names)]
        head, body, shift_s = makers[name]()
        said = shop.probe.callback(head, body, shift_s)
        equal(said["word"], "forged", f"{name}: {body[:2000]}")
        equal((said["amount"], said["reference"]), (0, ""), "nothing of it is passed on")
        refused += 1
    print(f"     {shop.name}: {refused} callbacks of {len(names)} kinds ({', '.join(names)}), 0 accepted")


@rule
def the_probes_end_cleanly():
    packages()
    for shop in shops.values():
        equal(shop.probe.end(), 0)


run()
