# SPDX-License-Identifier: Apache-2.0
"""/metrics is Prometheus text, counts what happens, and says whether wins are taken."""
import os
import re
import shutil
import subprocess

from kit.harness import REPOSITORY, Buyer, Server, equal, eventually, problem, rule, run, skip, true

server = Server().start()
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf'^({NAME})(\{{{NAME}="(?:[^"\\\n]|\\["\\n])*"(?:,{NAME}="(?:[^"\\\n]|\\["\\n])*")*\}})? (-?[0-9.eE+]+|\+Inf|NaN)$')


def text():
    reply = server.get("/metrics")
    equal(reply.status, 200)
    true(reply.headers["content-type"].startswith("text/plain; version=0.0.4"), reply.headers)
    return reply.body.decode()


@rule
def the_text_is_valid_and_every_metric_has_its_help_and_type_once():
    helps, types, seen, last = {}, {}, set(), None
    body = text()
    true(body.endswith("\n"))
    for line in body.splitlines():
        if line.startswith("# HELP "):
            name, _, what = line[7:].partition(" ")
            true(name not in helps and what, line)
            helps[name] = what
        elif line.startswith("# TYPE "):
            name, kind = line[7:].split(" ")
            true(name not in types and kind in ("counter", "gauge", "histogram", "summary"), line)
            types[name] = kind
        else:
            match = SAMPLE.match(line)
            true(match, f"not a sample: {line}")
            name = match.group(1)
            family = name if name in types else re.sub("_(bucket|sum|count)$", "", name)
            true(family in types and family in helps, f"no type or help: {line}")
            true(last == family or family not in seen, f"samples of {family} are apart")
            seen.add(family)
            last = family
            key = (name, match.group(2))
            true(key not in seen, f"twice: {line}")
            seen.add(key)
            if types[family] == "counter":
                true(name.endswith("_total") and float(match.group(3)) >= 0, line)
    true(len(types) >= 8)


@rule
def promtool_finds_nothing_wrong():
    if shutil.which("promtool") is None:
        skip("promtool is not installed")
    done = subprocess.run(["promtool", "check", "metrics"], input=text(), text=True, capture_output=True)
    equal((done.returncode, done.stderr), (0, ""))


def grown(before, name):
    return server.metrics()[name] - before[name]


@rule
def purchases_are_counted_by_their_answer():
    item = server.open_item(total=2)
    before = server.metrics()
    buyer = Buyer(server)
    buyer.win(item, key="a")
    buyer.win(item, key="a")
    problem(buyer.buy(item), 409, "already-bought")
    Buyer(server).win(item)
    problem(Buyer(server).buy(item), 409, "sold-out")
    problem(server.request("POST", f"/v1/items/{item}/buy"), 403, "pass-required")
    eventually(lambda: grown(before, 'stampede_purchases_total{answer="won"}') == 2, "two wins")
    eventually(lambda: grown(before, 'stampede_purchases_total{answer="repeated"}') == 1)
    eventually(lambda: grown(before, 'stampede_purchases_total{answer="already-bought"}') == 1)
    eventually(lambda: grown(before, 'stampede_door_total{answer="pass-required"}') == 1)
    sold_out = [name for name in server.metrics() if "sold-out" in name]
    equal(sum(grown(before, name) for name in sold_out), 1)
    eventually(lambda: grown(before, "stampede_edge_connections_accepted_total") > 5)


@rule
def the_state_of_the_server_is_shown():
    metrics = eventually(lambda: (now := server.metrics())["stampede_ready"] == 1 and now, "it does not get ready")
    equal(metrics["stampede_wins_stopped"], 0)
    item, buyer = server.open_item(), Buyer(server)
    position = server.metrics()["stampede_journal_durable_position"]
    buyer.order(buyer.win(item)["ticket"])
    eventually(lambda: server.metrics()["stampede_journal_durable_position"] >= position + 1)
    eventually(lambda: server.metrics()["stampede_order_lag"] == 0)


def rows_of(heading):
    """The table below a heading of docs/operations.md: its first cells, and all words in backticks of each row."""
    with open(os.path.join(REPOSITORY, "docs", "operations.md"), encoding="utf-8") as file:
        part = file.read().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line for line in part.splitlines() if line.startswith("| `")]
    return {name: set(re.findall("`([^`]+)`", row)) for row in rows for name in re.findall("`([^`]+)`", row.split(" | ")[0])}


@rule
def the_document_has_every_metric_and_every_answer_and_no_other():
    labels = {}
    for sample in server.metrics():
        name, _, label = sample.partition("{")
        name = re.sub(r"(_seconds)_(bucket|sum|count)$", r"\1", name)
        labels.setdefault(name, set()).update(re.findall('="([^"]*)"', label))
    rows = rows_of("Metrics")
    document = {name.partition("{")[0]: words for name, words in rows.items()}
    equal(sorted(document), sorted(labels))
    for name in ("stampede_door_total", "stampede_purchases_total", "stampede_human_total", "stampede_payment_news_total",
                 "stampede_limits_refused_total", "stampede_push_cut_total", "stampede_webhooks_total", "stampede_bans"):
        equal(sorted(labels[name] - document[name]), [], f"values of {name} that docs/operations.md does not name")
    equal(sorted(rows_of("Alarms")), sorted(labels["stampede_alarm"]))


@rule
def counters_never_go_back():
    before = server.metrics()
    for _ in range(3):
        server.get("/v1/time")
        now = server.metrics()
        for name, value in before.items():
            if "_total" in name:
                true(now[name] >= value, name)
        before = now


run()
