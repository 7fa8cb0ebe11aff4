#!/usr/bin/env python3
"""Bans by hand and by rule, at the real server: admin_bans, desk_bans, desk_watch, routes_watch."""
import json
import os
import sqlite3
import subprocess
import threading
import time

from harness import Buyer, Server, equal, eventually, jwt, problem, request_bytes, rule, run, true

SECRET = "a secret of the shop that is long enough"
PROXIES = "127.0.0.1"


def shop(**settings):
    """A shop with tokens, behind a proxy on this machine that says who the client is."""
    server = Server(settings={"proxy.trusted": PROXIES, "limits.address_per_s": 0, "limits.user_requests": 0,
                              "watch.rate": "off", "watch.failures": "off",
                              "watch.crowd": "off", "watch.roaming": "off", "watch.timing": "off", **settings})
    keys = os.path.join(server.folder, "keys")
    os.mkdir(keys)
    with open(os.path.join(keys, "shop.secret"), "w") as file:
        file.write(SECRET)
    server.write_config(session__jwt_keys=keys)
    server.start()
    return server


def from_(address):
    return {"X-Forwarded-For": address}


def token(subject):
    return jwt({"sub": subject, "exp": int(time.time()) + 600}, SECRET)


def buy(buyer, item, give, address):
    return buyer.buy(item, give=give, headers=from_(address))


def ban(server, minutes=10, reason="by hand", role="operator", status=201, **whom):
    reply = server.admin("POST", "/bans", {"minutes": minutes, "reason": reason, **whom}, role=role)
    equal(reply.status, status, reply.body)
    return reply.json()


def lift(server, number):
    reply = server.admin("POST", f"/bans/{number}/lift")
    equal(reply.status, 200, reply.body)
    return reply.json()


def bans(server, more=""):
    return server.admin("GET", f"/bans{more}").json()["bans"]


def findings(server):
    return server.admin("GET", "/watch").json()["findings"]


def try_(server, item, address, give="x" * 48):
    """A purchase with a made-up pass: tells a ban from everything else."""
    return server.request("POST", f"/v1/items/{item}/buy", headers={"Stampede-Pass": give, **from_(address)})


server = shop()
item = server.open_item(total=1000)


@rule
def a_block_is_kept_out_to_its_edges_and_let_in_when_lifted():
    made = ban(server, address="203.0.113.0/24")
    equal((made["kind"], made["address"], made["by"], made["lifted_ms"]), ("address", "203.0.113.0/24", "operator", 0))
    for address in ("203.0.113.0", "203.0.113.255"):
        problem(try_(server, item, address), 403, "banned")
    for address in ("203.0.112.255", "203.0.114.0", "2001:db8::1"):
        problem(try_(server, item, address), 403, "pass-invalid")
    true(lift(server, made["id"])["lifted_ms"] > 0)
    problem(try_(server, item, "203.0.113.7"), 403, "pass-invalid")
    problem(server.admin("POST", f"/bans/{made['id']}/lift"), 409, "conflict")
    problem(server.admin("POST", "/bans/4000000/lift"), 404, "not-found")


@rule
def an_ipv6_block_is_kept_out_too():
    made = ban(server, address="2001:db8:1::/48")
    problem(try_(server, item, "2001:db8:1:ffff::9"), 403, "banned")
    problem(try_(server, item, "2001:db8:2::9"), 403, "pass-invalid")
    lift(server, made["id"])
    problem(try_(server, item, "2001:db8:1:ffff::9"), 403, "pass-invalid")


@rule
def a_user_is_kept_out_by_the_shops_name_from_everywhere_and_the_name_is_kept_nowhere():
    bob, eve = Buyer(server, token("bob-the-buyer")), Buyer(server, token("eve"))
    give = bob.get_pass(item)
    made = ban(server, user="bob-the-buyer")
    equal((made["kind"], made["user_id"]), ("user", bob.user))
    problem(buy(bob, item, give, "198.51.100.1"), 403, "banned")
    problem(buy(bob, item, give, "2001:db8::2"), 403, "banned")
    problem(bob.ask_pass(item), 403, "banned")
    equal(buy(eve, item, eve.get_pass(item), "198.51.100.1").status, 202)
    for name in os.listdir(server.data):
        path = os.path.join(server.data, name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                true(b"bob-the-buyer" not in file.read(), f"the subject is in {name}")
    lift(server, made["id"])
    equal(buy(bob, item, give, "198.51.100.1").status, 202)
    by_id = ban(server, user_id=bob.user)
    problem(bob.ask_pass(item), 403, "banned")
    lift(server, by_id["id"])


@rule
def a_ban_survives_a_restart_and_ends_at_its_time():
    ban(server, address="192.0.2.1")
    short = ban(server, address="192.0.2.2", minutes=1)
    server.restart()
    problem(try_(server, item, "192.0.2.1"), 403, "banned")
    problem(try_(server, item, "192.0.2.2"), 403, "banned")
    in_force = [row["id"] for row in bans(server)]
    true(short["id"] in in_force, "not listed")
    # The minute is made shorter in the database: nobody waits for it here.
    server.stop()
    store = next(os.path.join(server.data, name) for name in os.listdir(server.data) if name.endswith((".db", ".sqlite")))
    with sqlite3.connect(store) as database:
        database.execute("UPDATE bans SET until_ms = ? WHERE id = ?", (int(time.time() * 1000) + 6000, short["id"]))
    database.close()
    server.start()
    problem(try_(server, item, "192.0.2.2"), 403, "banned")
    eventually(lambda: try_(server, item, "192.0.2.2").json()["type"] == "/problems/pass-invalid", "it never ends")
    problem(try_(server, item, "192.0.2.1"), 403, "banned")
    eventually(lambda: short["id"] not in [row["id"] for row in bans(server)], "still listed")
    true(short["id"] in [row["id"] for row in bans(server, "?all=1")], "history is gone")


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


def guess(server, item, address, count):
    """Made-up passes, one connection."""
    with server.connect() as connection:
        for _ in range(count):
            connection.send(request_bytes("POST", f"/v1/items/{item}/buy", None,
                                          {"Stampede-Pass": "x" * 48, **from_(address)}))
            connection.read_reply()


@rule
def who_guesses_is_banned_with_a_reason_and_can_be_lifted():
    strict = shop(**{"watch.failures": "ban", "watch.failures_per_minute": 100, "watch.ban_minutes": 7})
    goods = strict.open_item(total=10)
    guess(strict, goods, "203.0.113.50", 300)
    guess(strict, goods, "203.0.113.51", 20)  # a hand that slips
    problem(eventually(lambda: (lambda reply: reply if reply.json()["type"] == "/problems/banned" else None)(
        try_(strict, goods, "203.0.113.50")), "never banned"), 403, "banned")
    problem(try_(strict, goods, "203.0.113.51"), 403, "pass-invalid")
    made, = bans(strict)
    equal((made["kind"], made["address"], made["by"]), ("address", "203.0.113.50", "rule failures"))
    true("failed checks" in made["reason"] and made["until_ms"] - made["created_ms"] == 7 * 60000, made)
    found, = findings(strict)
    equal((found["rule"], found["outcome"], found["ban"], found["address"]),
          ("failures", "banned", made["id"], "203.0.113.50"))
    equal(strict.metrics()['stampede_watch_banned_total{rule="failures"}'], 1)
    true(any(row["action"] == "ban.add" and row["actor"] == "rule failures"
             for row in strict.admin("GET", "/audit").json()["audit"]), "not audited")
    lift(strict, made["id"])
    problem(try_(strict, goods, "203.0.113.50"), 403, "pass-invalid")
    time.sleep(2.5)  # the rules look again: what is forgiven is not found again
    problem(try_(strict, goods, "203.0.113.50"), 403, "pass-invalid")
    guess(strict, goods, "127.0.0.1", 300)  # the proxy itself: found, never banned
    eventually(lambda: len(findings(strict)) == 2, "the proxy is not found")
    equal(findings(strict)[0]["outcome"], "protected")
    equal(bans(strict), [])


@rule
def report_bans_nobody():
    mild = shop(**{"watch.failures": "report", "watch.failures_per_minute": 100})
    goods = mild.open_item(total=10)
    guess(mild, goods, "2001:db8:5:6::1", 150)
    guess(mild, goods, "2001:db8:5:6:ffff::2", 150)  # the same customer
    found = eventually(lambda: findings(mild), "nothing is found")
    equal(len(found), 1)
    equal((found[0]["outcome"], found[0]["address"], found[0]["ban"]), ("reported", "2001:db8:5:6::/64", 0))
    equal(bans(mild, "?all=1"), [])
    problem(try_(mild, goods, "2001:db8:5:6::1"), 403, "pass-invalid")


@rule
def who_hammers_is_banned_and_a_crowd_behind_one_address_is_not():
    strict = shop(**{"watch.rate": "ban", "watch.rate_per_s": 20, "watch.rate_for_s": 2,
                     "limits.address_per_s": 50, "limits.address_burst": 50})
    goods = strict.open_item(total=1000)
    for number in range(40):  # people of one office, with a pass each
        session = strict.request("POST", "/v1/session", session=token(f"colleague-{number}"),
                                 headers=from_(f"198.51.100.{number}")).json()["session"]
        equal(strict.request("POST", f"/v1/items/{goods}/pass", session=session,
                             headers=from_("198.51.100.200")).status, 201)
    stop = time.monotonic() + 6

    def hammer(address, pause_s):
        with strict.connect() as connection:
            while time.monotonic() < stop:
                connection.send(request_bytes("POST", f"/v1/items/{goods}/buy", None,
                                              {"Stampede-Pass": "x" * 48, **from_(address)}))
                connection.read_reply()
                time.sleep(pause_s)

    both = [threading.Thread(target=hammer, args=(address, 0.005)) for address in ("198.51.100.200", "198.51.100.201")]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    made, = bans(strict)
    equal((made["address"], made["by"]), ("198.51.100.201", "rule rate"))
    true("times a second" in made["reason"], made["reason"])
    problem(try_(strict, goods, "198.51.100.201"), 403, "banned")
    true(try_(strict, goods, "198.51.100.200").json()["type"] != "/problems/banned", "the office is banned")
    lift(strict, made["id"])
    true(try_(strict, goods, "198.51.100.201").json()["type"] != "/problems/banned", "still banned")


run()
