# SPDX-License-Identifier: Apache-2.0
"""Signing in to the console with a user name and a password: the same session, roles and protection as with a key, and hashing that keeps nobody else waiting."""
import base64
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from kit.bans import from_, shop
from kit.harness import equal, eventually, problem, rule, run, true

server = shop(**{"server.threads": 2})
OURS = {"Stampede-Console": "1"}
PASSWORDS = {"anna": ("admin", "correct horse battery"), "bert": ("viewer", "密码要够长才行 é:ü")}


def password_set(name, role, password):
    done = subprocess.run([server.binary, "key", "password", "--name", name, "--role", role, "--file", server.settings["admin.keys"]],
                          input=f"{password}\n".encode(), capture_output=True)
    equal(done.returncode, 0, done.stderr)


def credentials(name, password):
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


def ask(method, path, cookie=None, body=None, **headers):
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return server.request(method, path, body, {**OURS, **({"Cookie": cookie} if cookie else {}), **fields})


def sign_in(name="anna", password=None, **headers):
    return ask("POST", "/console/session", Authorization=credentials(name, PASSWORDS[name][1] if password is None else password), **headers)


def cookie_of(reply):
    equal(reply.status, 201, reply.body)
    return reply.headers["set-cookie"].partition(";")[0]


for who, (its_role, secret) in PASSWORDS.items():
    password_set(who, its_role, secret)
server.reload()


@rule
def a_password_becomes_a_session_with_its_role():
    for name, (role, _) in PASSWORDS.items():
        reply = sign_in(name)
        equal((reply.json()["name"], reply.json()["role"]), (name, role))
        equal(reply.headers["cache-control"], "no-store")
        equal(reply.headers["set-cookie"].split("; ")[1:], ["Path=/", "HttpOnly", "SameSite=Strict"])
        cookie = cookie_of(reply)
        equal(ask("GET", "/console/session", cookie).json()["role"], role)
        made = ask("POST", "/admin/v1/products", cookie, {"name": "x", "list_price": 1, "currency": "CNY"})
        equal(made.status, 201 if role == "admin" else 403, made.body)
    equal(server.admin_ok("GET", "/audit")["audit"][-1]["actor"], "anna")


@rule
def a_page_over_tls_gets_the_cookie_that_only_this_host_can_set():
    reply = sign_in(Origin="https://shop.example", Sec_Fetch_Site="same-origin")
    true(reply.headers["set-cookie"].startswith("__Host-stampede-console="), reply.headers["set-cookie"])
    true(reply.headers["set-cookie"].endswith("; Secure"), reply.headers["set-cookie"])


@rule
def each_sign_in_is_a_new_session_and_the_one_before_ends():
    first = cookie_of(sign_in())
    problem(sign_in(password="wrong horse battery", Cookie=first), 401, "admin-key-required")
    equal(ask("GET", "/admin/v1/sales", first).status, 200)  # a wrong password ends nothing
    second = cookie_of(sign_in(Cookie=first))
    true(first != second, "the same session")
    problem(ask("GET", "/admin/v1/sales", first), 401, "admin-key-required")
    equal(ask("GET", "/admin/v1/sales", second).status, 200)


@rule
def wrong_names_and_passwords_are_refused_alike():
    address = "198.51.100.1"
    answers = [sign_in("anna", password, **from_(address)).json() for password in ("", "correct horse batter", "correct horse battery ")]
    answers.append(ask("POST", "/console/session", Authorization=credentials("nobody", "correct horse battery"), **from_(address)).json())
    equal(answers, [answers[0]] * 4)
    equal(answers[0]["type"], "/problems/admin-key-required")
    for shown in ("Basic", "Basic !", "Basic " + base64.b64encode(b"anna").decode(), credentials("anna", "x" * 200)):
        problem(ask("POST", "/console/session", Authorization=shown, **from_("198.51.100.2")), 401, "admin-key-required")


@rule
def a_name_that_nobody_has_takes_as_long_as_one_that_somebody_has():
    def took(name, address):
        begun = time.monotonic()
        equal(ask("POST", "/console/session", Authorization=credentials(name, "wrong horse battery"), **from_(address)).status, 401)
        return time.monotonic() - begun
    pairs = [(took("anna", "198.51.100.3"), took("nobody", "198.51.100.4")) for _ in range(3)]  # in turns: a machine changes its speed
    known, unknown = (min(times) for times in zip(*pairs))
    true(unknown > known / 5 and unknown > 0.02, pairs)  # without hashing it would be a hundred times less


@rule
def a_password_opens_nothing_but_the_sign_in():
    for authorization in (credentials(*("anna", PASSWORDS["anna"][1])), "Bearer " + PASSWORDS["anna"][1]):
        problem(server.request("GET", "/admin/v1/sales", None, {"Authorization": authorization}), 401, "admin-key-required")


@rule
def pages_of_other_sites_can_not_sign_in():
    shown = {"Authorization": credentials("anna", PASSWORDS["anna"][1])}
    for headers in ({}, {**OURS, "Sec-Fetch-Site": "cross-site"}, {**OURS, "Origin": "https://evil.example"}):
        problem(server.request("POST", "/console/session", None, {**shown, **headers}), 403, "origin-not-allowed")


@rule
def wrong_passwords_make_their_address_wait_even_after_a_right_one():
    address = from_("203.0.113.7")
    cookie_of(sign_in("bert", **address))
    for _ in range(5):
        problem(sign_in(password="wrong horse battery", **address), 401, "admin-key-required")
    eventually(lambda: sign_in(password="wrong horse battery", **address).status == 429, "it never waits")
    begun = time.monotonic()
    right = sign_in(**address)  # no password is looked at meanwhile
    if time.monotonic() < begun + 0.5:  # the first wait takes a second
        problem(right, 429, "too-fast")
    cookie_of(sign_in(**from_("203.0.113.8")))  # nor is anybody else kept out
    true(server.metrics()['stampede_admin_keys_refused_total{reason="waits"}'] >= 2, "not counted")


@rule
def one_password_of_an_address_is_checked_at_a_time_and_few_of_all():
    with ThreadPoolExecutor(20) as crowd:
        same = list(crowd.map(lambda _: sign_in(password="wrong horse battery", **from_("203.0.113.20")).status, range(8)))
        true(sorted(set(same)) == [401, 429], same)

        def many():
            return set(crowd.map(lambda i: sign_in(**from_(f"203.0.113.{100 + i}")).status, range(20)))
        eventually(lambda: many() == {201, 503}, "the queue is never full")
    true(server.metrics()['stampede_admin_keys_refused_total{reason="busy"}'] >= 1, "not counted")


@rule
def selling_goes_on_while_passwords_are_hashed():
    stop = time.monotonic() + 3
    with ThreadPoolExecutor(4) as crowd:
        def hammer(i):
            while time.monotonic() < stop:
                sign_in(**from_(f"203.0.114.{i}"))
        for i in range(4):
            crowd.submit(hammer, i)
        times = []
        while time.monotonic() < stop:
            begun = time.monotonic()
            equal(server.get("/v1/time").status, 200)
            times.append(time.monotonic() - begun)
    true(len(times) > 30, len(times))  # one hash on an edge takes a tenth of a second or more


@rule
def a_session_ends_when_the_password_changes():
    cookie = cookie_of(sign_in("bert"))
    with open(server.settings["admin.keys"]) as file:
        lines = file.readlines()
    with open(server.settings["admin.keys"], "w") as file:
        file.writelines(line for line in lines if not line.startswith("bert:"))
    password_set("bert", "viewer", "another long password")
    server.reload()
    problem(ask("GET", "/admin/v1/sales", cookie), 401, "admin-key-required")
    problem(sign_in("bert"), 401, "admin-key-required")
    cookie_of(sign_in("bert", "another long password"))


@rule
def neither_the_log_nor_the_file_nor_the_settings_tell_a_password():
    with open(server.settings["admin.keys"]) as file:
        kept = file.read()
    told = kept + str(server.admin_ok("GET", "/settings")) + server.log()
    for _, password in PASSWORDS.values():
        true(password not in told, "a password is told")
        true(credentials("anna", password)[6:] not in told, "a password is told")


run()
