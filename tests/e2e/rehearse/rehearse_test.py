#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`stampede rehearse`: a small crowd at a copy of a sale; what it counts, what it refuses, what it leaves behind."""
import json
import os
import subprocess
import tempfile
import threading

from kit.delays import DelayServer
from kit.harness import Buyer, Server, equal, eventually, rule, run, true

shop = Server(settings={"limits.address_burst": 37}).start()
SMALL = ["--early", "6", "--late", "1", "--seconds", "12", "--connections", "50"]
scratch = tempfile.TemporaryDirectory(prefix="rehearse-test-")


def rehearse(*words, timeout=60):
    """(exit code, standard output, standard error)"""
    done = subprocess.run([shop.binary, "rehearse", *words], capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, "STAMPEDE_ADMIN_KEY": shop.keys["admin"],
                               "STAMPEDE_URL": f"http://127.0.0.1:{shop.port}"})
    return done.returncode, done.stdout, done.stderr


def key_file(server):
    path = os.path.join(scratch.name, "key")
    with open(path, "w", encoding="ascii") as file:
        file.write(server.keys["admin"])
    return path


@rule
def a_crowd_at_a_copy_leaves_the_shop_as_it_was_and_counts_as_the_server_does():
    sale = shop.sale(human_check="pow", start_draw_ms=500)
    item = shop.item(sale, total=20)
    shop.publish(sale)
    page, path = os.path.join(scratch.name, "report.html"), os.path.join(scratch.name, "report.json")
    folder = os.path.join(scratch.name, "scratch")
    os.mkdir(folder)
    code, text, errors = rehearse("--sale", str(sale), "--users", "300", *SMALL, "--html-file", page, "--json-file", path,
                                  "--scratch", folder)
    true(code == 0, f"{code} {text[-3000:]} {errors[-500:]}")
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    equal(report["differences"], 0)
    counts = {row["what"]: row["server"] for row in report["counts"]}
    equal(report["units"], 20)
    true(counts["won"] >= 20, "not all units were won")
    true(counts["human checks passed"] > 100 and counts["purchases: pass-required"] > 0, counts)
    true(report["paid"] > 0 and report["machines"]["cpu_us_per_request"] > 0, report["machines"])
    equal(sum(layer["visitors"] for layer in report["layers"]), 300)
    true("It held." in text or "It did not hold." in text, text[:300])
    with open(page, encoding="utf-8") as file:
        html = file.read()
    true(html.count("<svg") == 5 and "<script" not in html, "plots are in the page, scripts are not")
    equal(shop.counts(item)["free"], 20)
    equal(os.listdir(folder), [], "something is left in the scratch folder")


@rule
def a_server_that_takes_real_money_is_never_played_on():
    words = ["--example", "--users", "10", "--server", f"http://127.0.0.1:{shop.port}", "--server-key-file", key_file(shop)]
    equal(rehearse(*words)[0], 2)
    code, _, errors = rehearse(*words, "--on-this-server")
    true(code == 3 and "is not in test mode" in errors, f"{code} {errors}")


@rule
def a_count_that_differs_ends_with_1():
    with_bank = Server(settings={"payment.providers": "sandbox", "proxy.trusted": "127.0.0.1", "human.pow_hashes": 1}).start()
    ends = threading.Event()

    def disturb():
        while not ends.is_set():
            Buyer(with_bank)  # requests that the crowd did not send
            ends.wait(0.2)
    stranger = threading.Thread(target=disturb)
    stranger.start()
    try:
        code, text, errors = rehearse("--example", "--users", "50", *SMALL, "--server", f"http://127.0.0.1:{with_bank.port}",
                                      "--server-key-file", key_file(with_bank), "--on-this-server")
    finally:
        ends.set()
        stranger.join()
    true(code == 1 and "DIFFERENT" in text, f"{code} {text[-1500:]} {errors[-300:]}")


@rule
def latency_is_that_of_the_server_and_never_less():
    with DelayServer() as server:
        def near():
            done = subprocess.run([shop.binary, "rehearse", "--measure", f"http://127.0.0.1:{server.port}/", "--rate", "100",
                                   "--seconds", "2"], capture_output=True, text=True, timeout=30, check=True)
            told = json.loads(done.stdout)
            equal((told["answers"], told["no_answer"]), (200, 0))
            true(told["p50"] >= 5 and told["p90"] >= 20 and told["p99"] >= 50, told)
            return told["p50"] <= 7 and told["p90"] <= 23 and told["p99"] <= 56
        eventually(near, "latency is far above the delays")


@rule
def wrong_words_end_with_2_and_help_with_0():
    equal(rehearse("--users", "5")[0], 2)
    equal(rehearse("--sale", "1", "--users", "2000000")[0], 2)
    code, text, _ = rehearse("--help")
    true(code == 0 and "--example" in text, text)
    equal(rehearse("--sale", "99999", "--users", "5")[0], 3)


run()
