#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rules and dashboards of deploy/: promtool accepts them, every metric that they name is there, and a real Prometheus
scrapes a running server, computes the recording rules, and fires an alert that ends with its cause."""
import atexit
import glob
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

from kit.harness import REPOSITORY, Buyer, Server, equal, eventually, rule, run, skip, spare_port, temp_folder, true

DEPLOY = os.path.join(REPOSITORY, "deploy")
RULES = sorted(glob.glob(os.path.join(DEPLOY, "prometheus", "stampede-*.yml")))
BOARDS = sorted(glob.glob(os.path.join(DEPLOY, "grafana", "*.json")))
server = Server(settings={"reconcile.interval_ms": 0}).start()
item = server.open_item(total=50)
prometheus = {}


def needs(program):
    if shutil.which(program) is None:
        skip(f"{program} is not installed")


def expressions():
    """{where: expression} of all rules and dashboards."""
    found = {}
    for path in RULES:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if match := re.match(r"\s+expr: (.+)", line):
                    found[f"{os.path.basename(path)}:{number}"] = match.group(1)
    for path in BOARDS:
        with open(path, encoding="utf-8") as file:
            for panel in json.load(file)["panels"]:
                for target in panel["targets"]:
                    found[f"{os.path.basename(path)} {panel['title']} {target['refId']}"] = target["expr"]
    return found


def records():
    with open(os.path.join(DEPLOY, "prometheus", "stampede-records.yml"), encoding="utf-8") as file:
        return set(re.findall(r"- record: (\S+)", file.read()))


@rule
def promtool_accepts_the_rules_and_the_example():
    needs("promtool")
    for command in (["check", "rules", *RULES], ["check", "config", os.path.join(DEPLOY, "prometheus", "prometheus.yml")]):
        done = subprocess.run(["promtool", *command], capture_output=True, text=True)
        true(done.returncode == 0, done.stdout + done.stderr)


@rule
def every_metric_that_a_rule_or_dashboard_names_is_there():
    there = {re.sub(r"\{.*", "", name) for name in server.metrics()}
    known, asked = records(), expressions()
    true(len(asked) > 40 and len(known) > 10, (len(asked), len(known)))
    for where, expression in asked.items():
        names = set(re.findall(r"stampede[:_][a-z0-9_:]+", expression))
        true(names or "up{" in expression, f"{where} asks for nothing of ours: {expression}")
        equal(sorted(names - there - known), [], where)


@rule
def the_dashboards_are_as_the_script_writes_them():
    equal(len(BOARDS), 3)
    done = subprocess.run([sys.executable, os.path.join(REPOSITORY, "tools", "dashboards.py"), "--check"], capture_output=True, text=True)
    equal((done.returncode, done.stderr), (0, ""))


def asked(path, **parameters):
    query = urllib.parse.urlencode(parameters)
    with urllib.request.urlopen(f"http://127.0.0.1:{prometheus['port']}/api/v1/{path}?{query}", timeout=30) as reply:
        return json.load(reply)["data"]


def value(expression):
    rows = asked("query", query=expression)["result"]
    return float(rows[0]["value"][1]) if rows else None


def is_up():
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{prometheus['port']}/-/ready", timeout=5) as reply:
            return reply.status == 200
    except (urllib.error.URLError, ConnectionError):
        return False


def end():
    if "process" in prometheus:
        prometheus["process"].terminate()
        prometheus["process"].wait(30)


@rule
def a_real_prometheus_scrapes_and_evaluates_every_rule():
    needs("prometheus")
    folder = temp_folder()
    config = os.path.join(folder, "prometheus.yml")
    with open(config, "w", encoding="utf-8") as file:
        json.dump({"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": RULES,
                   "scrape_configs": [{"job_name": "stampede", "static_configs": [{"targets": [f"127.0.0.1:{server.port}"]}]}]}, file)
    prometheus["port"] = spare_port()
    with open(os.path.join(folder, "log"), "wb") as log:
        prometheus["process"] = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data", "--log.level=warn",
             f"--web.listen-address=127.0.0.1:{prometheus['port']}"], stdout=log, stderr=log)
    atexit.register(end)
    eventually(is_up, "Prometheus does not get ready")
    eventually(lambda: value('up{job="stampede"}') == 1, "the server is not scraped")
    for _ in range(3):
        Buyer(server).win(item)
    eventually(lambda: value("stampede:requests:rate1m") and value("stampede:requests:rate1m") > 0, "no recorded rate")
    eventually(lambda: value('stampede_sale_purchases_total{answer="won",sale!="other"}') == 3, "the sale's wins")
    groups = eventually(lambda: all(row["lastEvaluation"] > "1" and row["health"] == "ok"
                                    for group in asked("rules")["groups"] for row in group["rules"])
                        and asked("rules")["groups"], "a rule is not evaluated")
    evaluated = [row for group in groups for row in group["rules"]]
    true(len(evaluated) >= 25, len(evaluated))
    equal([row["name"] for row in evaluated if row.get("lastError")], [])


def firing():
    return {(row["labels"]["alertname"], row["labels"].get("name")) for row in asked("alerts")["alerts"] if row["state"] == "firing"}


@rule
def every_panel_of_the_dashboards_is_a_question_that_it_can_answer():
    if "process" not in prometheus:
        skip("there is no Prometheus")
    for where, expression in expressions().items():
        try:
            asked("query", query=expression)
        except urllib.error.HTTPError as error:
            true(False, f"{where}: {error.read()}")


@rule
def an_alert_fires_with_its_cause_and_ends_with_it():
    if "process" not in prometheus:
        skip("there is no Prometheus")
    equal(firing(), set())
    other = sqlite3.connect(os.path.join(server.data, "stampede.db"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    Buyer(server).win(item)
    eventually(lambda: ("StampedeAlarm", "database-away") in firing(), "the alert does not fire")
    other.execute("ROLLBACK")
    other.close()
    eventually(lambda: ("StampedeAlarm", "database-away") not in firing(), "the alert stays")


run()
