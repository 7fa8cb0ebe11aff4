#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an outside look at the product found: one line per finding, each a test that failed before it was mended.

  make check-mend
  make check-mend MEND_ARGS='--bars 8,9'

A finding whose tests fail, are skipped or are missing has fallen short. Exit status 1 if any has.
"""
import os
import sys

sys.dont_write_bytecode = True

from bars import BUILD_ROOT, CLEAN_ENVIRONMENT, Ended, main, rules, several, storefront, units  # noqa: E402

# What shops run is tried, not the build with sanitizers.
os.environ["E2E_SERVER"] = CLEAN_ENVIRONMENT["E2E_SERVER"] = os.path.join(BUILD_ROOT, "release", "stampede")

SECONDS = 240  # the box of time of one test
LONG_SECONDS = 1200  # of one that compiles in four languages


def e2e(name, only="", seconds=SECONDS):
    """tests/e2e/NAME_test.py, or those of its rules whose name contains `only`."""
    return lambda: rules(name, seconds, only)


def unit(name):
    """tests/unit/NAME_test.c"""
    return lambda: units(name, SECONDS)


def seam(name):
    """tests/seam/NAME_test.c"""
    return lambda: units(f"../seam/{name}", SECONDS)


def browser(pattern, file="front.test.mjs"):
    """Those tests of tests/e2e/storefront/FILE whose name matches."""
    return lambda: storefront(pattern, SECONDS, file)


def hoarding():
    """All bots together at default settings (hoarders.py)."""
    import hoarders  # after E2E_SERVER is set
    return hoarders.profile_play("hoarders, many accounts and perfect timing together")


# finding: (what holds now, its tests)
FINDINGS = {
    "1": ("money is not kept without a unit when the provider was away",
          [e2e("unanswered_payments"), unit("orders/cashier"), e2e("statements"), e2e("statement_command"),
           unit("payment/alipay_statement"), unit("payment/wechat_statement"), unit("payment/stripe_statement")]),
    "2": ("a change of a sale that was answered is not undone by an older record",
          [e2e("sale_terms"), seam("store_sqlite"), unit("inventory/embedded")]),
    "3": ("an older database beside the present journal is refused or repaired",
          [e2e("restore"), e2e("high_water"), seam("store_sqlite"), unit("orders/payment_search"),
           unit("inventory/engine_setup")]),
    "4": ("'not known' is an answer of its own, and admin writes are safe to repeat",
          [e2e("repeated_changes"), unit("inventory/engine_keys"), unit("cli/admin_command")]),
    "5": ("the audit of a command is in the log with it",
          [unit("store/sqlite/admin"), e2e("repeated_changes", "audit"), e2e("repeated_changes", "named")]),
    "6": ("paying leaves places for operators and callbacks", [e2e("waits"), unit("gateway/job_shares")]),
    "7": ("damaged files are found, and the start says which",
          [e2e("data_folder"), unit("config/data_folder"), unit("inventory/snapshot"), e2e("room", "nobody_who"),
           e2e("return_requests"), unit("payment/sandbox"), unit("payment/sandbox_bank"), unit("store/sqlite/details"),
           e2e("money", "costs_nothing"), e2e("sandbox", "power_cut")]),
    "8": ("an earlier win is no way round the funnel, and hoarding gains nothing",
          [e2e("repeat"), e2e("returns"), hoarding, unit("inventory/engine_returns"), unit("funnel/door"),
           e2e("reclaim"), unit("inventory/engine_reclaim"), unit("inventory/tickets")]),
    "9": ("simple machines do not pass the human check",
          [unit("funnel/human/picture_solvers"), unit("funnel/human/human"), e2e("human_check"), e2e("human_work"), e2e("human_outside")]),
    "10": ("sessions can be taken back", [e2e("sessions_end", "session"), unit("funnel/session_rules")]),
    "11": ("a token in the address does not replace a signed-in user",
          [browser("a link that signs in"), e2e("sessions_end", "token")]),
    "12": ("the sandbox does not stand beside real providers",
          [e2e("test_mode"), unit("config/test_mode"), e2e("payment_view"), browser("no real money moves", "payment.test.mjs")]),
    "13": ("missing issuer and audience are told at the start", [e2e("sessions_end", "issuer")]),
    "14": ("bans and rates cover sessions, orders and the admin API; rights before parsing",
          [e2e("payment_requests", "large_body"), e2e("admin_gate"), unit("funnel/lockout"), e2e("problems", "bod")]),
    "15": ("a body reserves what has come of it", [unit("edge/evict"), unit("edge/buffers")]),
    "16": ("half-sent heads are evicted when places run out", [unit("edge/evict")]),
    "17": ("descriptors are kept back; tables by user mix in a secret",
           [unit("server/file_limit"), e2e("file_limit"), unit("inventory/buyers"), unit("inventory/places")]),
    "18": ("the front page takes one list, whatever the number of past sales",
           [e2e("catalog_list"), e2e("sale_life"), browser("a shop with a long past")]),
    "19": ("product pictures can be uploaded and shown",
           [e2e("pictures"), e2e("admin_media"), e2e("media_upload"), e2e("picture_command"),
            unit("media/picture_clean"), unit("media/media_service"), browser("pictures of products")]),
    "20": ("a waiting-room sale opened early by hand can be entered", [e2e("room_driver", "opened_by_hand")]),
    "21": ("the channel comes from the session, and counts are the asker's",
           [e2e("channels"), unit("funnel/token"), unit("funnel/door")]),
    "22": ("safety stock is not public", [e2e("channels", "safety_stock")]),
    "23": ("currencies are those of ISO 4217", [e2e("currency"), unit("contract/currency")]),
    "24": ("every sample configuration works as it is", [e2e("deploy")]),
    "25": ("unknown query members are refused; orders can be filtered",
           [e2e("order_filters"), e2e("query"), e2e("openapi", "query_member"), unit("api/query")]),
    "26": ("states and sentences of the admin API are true",
           [e2e("stock", "gates_say"), e2e("stock", "open_now"), e2e("stock", "without_items"),
            e2e("stock", "does_not_exist"), e2e("sale_report"), e2e("items"), e2e("waiting_room", "idle_room"),
            e2e("delivery_details"), unit("cli/admin_verbs"), unit("api/sale_meters")]),
    "27": ("an order leads to its customer", [e2e("customers"), unit("store/sqlite/customers"), unit("base/sign")]),
    "28": ("products, items and sales can be corrected",
           [e2e("products"), e2e("items"), e2e("users"), e2e("stock", "by_mistake"),
            unit("store/sqlite/corrections"), unit("inventory/engine_setup"), e2e("words"), unit("base/time_text")]),
    "29": ("every answer has its security headers", [e2e("reply")]),
    "30": ("push works behind the sample proxies on any port", [e2e("deploy", "works_as")]),
    "31": ("methods, rights, HEAD, versions and WebSocket codes are as the standards say",
           [unit("edge/http_parse"), unit("edge/serve"), unit("base/utf8"), e2e("push", "frames"),
            e2e("request_shape")]),
    "32": ("generated clients compile and make a purchase", [e2e("generated_clients", seconds=LONG_SECONDS), e2e("openapi")]),
}


def missing():
    raise Ended("no test yet")


def finding(number):
    what, tests = FINDINGS[number]
    return lambda bars: bars.part(number, what, lambda: several([test() for test in tests or [missing]]))


if __name__ == "__main__":
    sys.exit(main("check-mend", "What an outside look found, one line each.", {number: finding(number) for number in FINDINGS}))
