# SPDX-License-Identifier: Apache-2.0
"""Bans by hand: what may be asked for, how it is listed, counted and audited, and the command line."""
import json
import os
import subprocess

from kit.bans import ban, bans, lift, shop, try_
from kit.harness import equal, problem, rule, run, true


server = shop()
item = server.open_item(total=1000)


@rule
def what_would_hit_the_shop_itself_wants_force():
    for address in ("127.0.0.1", "127.0.0.0/8", "::1", "0.0.0.0/0", "8.0.0.0/7", "::/0", "2000::/15"):
        problem(server.admin("POST", "/bans", {"address": address, "minutes": 1, "reason": "x"}), 422, "bad-value")
    made = ban(server, address="8.0.0.0/7", force=True)
    problem(try_(server, item, "9.9.9.9"), 403, "banned")
    lift(server, made["id"])


@rule
def bad_wishes_are_refused_and_change_nothing():
    before = len(bans(server, "?all=1"))
    good = {"minutes": 1, "reason": "x"}
    for body in ({**good}, {**good, "address": "1.2.3.4", "user": "a"}, {**good, "address": "1.2.3.4/33"},
                 {**good, "address": "1.2.3.4/24"}, {**good, "address": "1.2.3"}, {**good, "address": "a.example"},
                 {**good, "user": ""}, {**good, "user_id": "123"}, {**good, "user_id": "0" * 16},
                 {"address": "1.2.3.4", "reason": "x"}, {"address": "1.2.3.4", "minutes": 1},
                 {**good, "address": "1.2.3.4", "minutes": 0}, {**good, "address": "1.2.3.4", "reason": "x" * 201},
                 {**good, "address": "1.2.3.4", "force": 1}, {**good, "address": "1.2.3.4", "until": 1}):
        problem(server.admin("POST", "/bans", body), 422, "bad-value")
    problem(server.admin("POST", "/bans", {**good, "address": "1.2.3.4"}, role="viewer"), 403, "admin-role")
    problem(server.admin("GET", "/bans?all=2"), 400, "bad-query")
    equal(len(bans(server, "?all=1")), before)


@rule
def bans_are_counted_and_audited():
    made = ban(server, address="198.18.0.0/15", reason="for the audit")
    metrics = server.metrics()
    equal(metrics['stampede_bans{kind="address"}'], sum(row["kind"] == "address" for row in bans(server)))
    lift(server, made["id"])
    rows, after = [], 0
    while True:
        page = server.admin("GET", f"/audit?after={after}").json()
        rows += page["audit"]
        if "next" not in page:
            break
        after = page["next"]
    told = [row for row in rows if f"ban {made['id']} of 198.18.0.0/15" in row["detail"]]
    equal([row["action"] for row in told], ["ban.add", "ban.lift"])
    true("for the audit" in told[0]["detail"])


@rule
def the_command_line_bans_lists_and_lifts():
    def cli(*words, exit_code=0):
        environment = {**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["operator"]}
        done = subprocess.run([server.binary, "admin", "--url", f"http://127.0.0.1:{server.port}", *words],
                              capture_output=True, text=True, env=environment, timeout=60)
        equal(done.returncode, exit_code, done.stderr)
        return done.stdout
    made = json.loads(cli("--json", "ban", "add", "--address", "100.64.0.0/10", "--minutes", "5", "--reason", "cli"))
    true("100.64.0.0/10" in cli("ban", "list"), "not listed")
    cli("ban", "lift", str(made["id"]))
    true("100.64.0.0/10" not in cli("ban", "list"), "still listed")
    true("100.64.0.0/10" in cli("ban", "list", "--all"), "no history")
    cli("ban", "add", "--address", "127.0.0.1", "--minutes", "5", "--reason", "cli", exit_code=1)
    true("rule" in cli("watch") or cli("watch") is not None)


run()
