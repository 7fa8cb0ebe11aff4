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
    # Times in ms are named so since the first release; the linter would like seconds.
    found = [line for line in done.stderr.splitlines() if not re.match("stampede_[a-z_]+_ms metric names should not", line)]
    equal(found, [])
    true(done.returncode in (0, 3), done)


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
    sold_out = [name for name in server.metrics() if "sold-out" in name and not name.startswith("stampede_sale_")]
    equal(sum(grown(before, name) for name in sold_out), 1)
    eventually(lambda: grown(before, "stampede_edge_connections_accepted_total") > 5)


def count_of(name, **labels):
    inside = ",".join(f'{key}="{value}"' for key, value in labels.items())
    return server.metrics()[f"{name}_count{{{inside}}}" if inside else f"{name}_count"]


@rule
def each_stage_of_a_purchase_is_timed():
    item = server.open_item(total=1)
    stages = {"stampede_purchase_seconds": {}, "stampede_journal_sync_seconds": {}, "stampede_order_lag_seconds": {},
              "stampede_store_transaction_seconds": {}}
    routes = ("pass", "session", "catalog", "order", "admin", "probe")
    before = {name: count_of(name, **labels) for name, labels in stages.items()}
    routes_before = {route: count_of("stampede_request_seconds", route=route) for route in routes}
    buyer = Buyer(server)
    ticket = buyer.win(item)["ticket"]
    buyer.get(f"/v1/tickets/{ticket}")
    buyer.order(ticket)
    server.get("/v1/sales")
    server.admin_ok("GET", "/alarms")
    for name, labels in stages.items():
        eventually(lambda name=name, labels=labels: count_of(name, **labels) > before[name], f"{name} has nothing new")
    for route in routes:
        eventually(lambda route=route: count_of("stampede_request_seconds", route=route) > routes_before[route], route)
    buys = count_of("stampede_request_seconds", route="buy")
    for _ in range(3 * 64):
        server.request("POST", f"/v1/items/{item}/buy")
    grew = count_of("stampede_request_seconds", route="buy") - buys
    true(1 <= grew <= 8, f"a sample of 192 refused purchases has {grew}")


@rule
def quantiles_follow_from_the_buckets():
    page = text()
    bounds = [float(le) for le in re.findall('stampede_journal_sync_seconds_bucket{le="([0-9.]+)"}', page)]
    true(30 <= len(bounds) <= 48 and bounds == sorted(bounds), bounds)
    true(all(after / before <= 1.51 for before, after in zip(bounds, bounds[1:])), "a bucket is wider than half an octave")
    counts = [int(count) for count in re.findall('stampede_journal_sync_seconds_bucket{le="[^"]+"} ([0-9]+)', page)]
    equal(counts, sorted(counts))


@rule
def sales_and_items_have_series_of_their_own_while_they_are_live():
    item = server.open_item(total=2)
    sale = server.sale_of(item)
    won = f'stampede_sale_purchases_total{{sale="{sale}",answer="won"}}'
    free = f'stampede_item_units{{sale="{sale}",item="{item}",state="free"}}'
    eventually(lambda: server.metrics().get(won) == 0, "the sale is not counted apart")
    Buyer(server).win(item)
    eventually(lambda: server.metrics().get(won) == 1, "the sale's win is not counted")
    eventually(lambda: server.metrics().get(free) == 1, "the item's units are not shown")
    server.admin_ok("POST", f"/sales/{sale}/end")
    eventually(lambda: won not in server.metrics() and free not in server.metrics(), "a sale that is over is still shown")


@rule
def many_items_do_not_make_many_series():
    sale = server.sale(limit_per_user=0)
    product = server.product()
    for _ in range(70):
        server.item(sale, product, total=3)
    server.publish(sale)

    def shown():
        return [name for name in server.metrics() if name.startswith("stampede_item_units{") and 'state="free"' in name]
    eventually(lambda: server.metrics()['stampede_item_units{sale="other",item="other",state="free"}'] >= 3 * 6, "no other")
    equal(len(shown()), 64 + 1)


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
