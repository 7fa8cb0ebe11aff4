# SPDX-License-Identifier: Apache-2.0
"""Signing in to the console: an admin key becomes a session cookie, and what others could do with that cookie is refused."""
import re

from kit.bans import from_, shop
from kit.harness import equal, eventually, problem, rule, run, true

server = shop(**{"server.threads": 3})
OURS = {"Stampede-Console": "1"}


def ask(method, path, cookie=None, body=None, **headers):
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return server.request(method, path, body, {**OURS, **({"Cookie": cookie} if cookie else {}), **fields})


def sign_in(role="admin", **headers):
    return ask("POST", "/console/session", Authorization=f"Bearer {server.keys[role]}", **headers)


def cookie_of(reply):
    equal(reply.status, 201, reply.body)
    return reply.headers["set-cookie"].partition(";")[0]


@rule
def a_key_becomes_a_session_with_its_role():
    for role in ("viewer", "operator", "admin"):
        reply = sign_in(role)
        equal((reply.json()["name"], reply.json()["role"]), (role, role))
        cookie = cookie_of(reply)
        equal(ask("GET", "/console/session", cookie).json()["role"], role)
        equal(ask("GET", "/admin/v1/sales", cookie).status, 200)
        wrong = ask("POST", "/admin/v1/products", cookie, {"name": "x", "list_price": 1, "currency": "CNY"})
        if role == "admin":
            equal(wrong.status, 201, wrong.body)
        else:
            problem(wrong, 403, "admin-role")
    entry = server.admin_ok("GET", "/audit")["audit"][-1]
    equal((entry["actor"], entry["action"]), ("admin", "product.create"))


@rule
def scripts_and_other_sites_do_not_get_the_cookie():
    plain, behind_tls = sign_in(), sign_in(Origin="https://shop.example", Sec_Fetch_Site="same-origin")
    parts = plain.headers["set-cookie"].split("; ")
    true(re.fullmatch(r"stampede-console=[\w-]{43}", parts[0]), parts[0])
    equal(parts[1:], ["Path=/", "HttpOnly", "SameSite=Strict"])
    parts = behind_tls.headers["set-cookie"].split("; ")
    true(re.fullmatch(r"__Host-stampede-console=[\w-]{43}", parts[0]), parts[0])
    equal(parts[1:], ["Path=/", "HttpOnly", "SameSite=Strict", "Secure"])
    equal(ask("GET", "/admin/v1/sales", cookie_of(behind_tls)).status, 200)
    for reply in (plain, behind_tls):
        equal(reply.headers["cache-control"], "no-store")
        true("access-control-allow-origin" not in reply.headers, "readable by another origin")


@rule
def a_cookie_of_another_host_of_the_domain_does_not_replace_ours():
    ours = cookie_of(sign_in(Origin="https://shop.example", Sec_Fetch_Site="same-origin"))
    for planted in (f"stampede-console={'x' * 43}; {ours}", f"{ours}; stampede-console={'x' * 43}"):
        equal(ask("GET", "/admin/v1/sales", planted).status, 200)


@rule
def each_sign_in_has_a_new_id_and_ends_the_one_before():
    fixed = "stampede-console=" + "f" * 43
    first = cookie_of(sign_in(Cookie=fixed))
    true(first != fixed, "the id of a stranger was taken")
    problem(ask("GET", "/admin/v1/sales", fixed), 401, "admin-key-required")
    second = cookie_of(sign_in(Cookie=first))
    true(second != first)
    problem(ask("GET", "/admin/v1/sales", first), 401, "admin-key-required")
    equal(ask("GET", "/admin/v1/sales", second).status, 200)


@rule
def signing_out_ends_it():
    cookie = cookie_of(sign_in())
    gone = ask("DELETE", "/console/session", cookie)
    equal(gone.status, 204)
    true(gone.headers["set-cookie"].startswith("stampede-console=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"))
    problem(ask("GET", "/admin/v1/sales", cookie), 401, "admin-key-required")
    equal(ask("GET", "/console/session", cookie).status, 204)  # nobody


@rule
def pages_of_other_origins_can_do_nothing_with_it():
    cookie = cookie_of(sign_in())
    product = {"name": "forged", "list_price": 1, "currency": "CNY"}
    key = {"Authorization": f"Bearer {server.keys['admin']}"}
    before = len(server.admin_ok("GET", "/products")["products"])
    strangers = [{}, {**OURS, "Sec-Fetch-Site": "cross-site"}, {**OURS, "Sec-Fetch-Site": "same-site"},
                 {**OURS, "Origin": "http://evil.example"}, {**OURS, "Origin": "null"}, {**OURS, "Origin": f"http://127.0.0.1:{server.port + 1}"},
                 {**OURS, "Origin": f"http://x127.0.0.1:{server.port}"}]
    for headers in strangers:
        for method, path, body in (("POST", "/admin/v1/products", product), ("GET", "/admin/v1/products", None)):
            reply = server.request(method, path, body, {"Cookie": cookie, **headers})
            problem(reply, 403, "origin-not-allowed")
        problem(server.request("POST", "/console/session", None, {**key, **headers}), 403, "origin-not-allowed")
        problem(server.request("DELETE", "/console/session", None, {"Cookie": cookie, **headers}), 403, "origin-not-allowed")
    equal(len(server.admin_ok("GET", "/products")["products"]), before)
    equal(ask("GET", "/admin/v1/products", cookie, Origin=f"http://127.0.0.1:{server.port}", Host=f"127.0.0.1:{server.port}").status, 200)
    equal(ask("GET", "/admin/v1/products", cookie, Sec_Fetch_Site="same-origin").status, 200)


@rule
def no_preflight_lets_another_origin_send_our_header():
    server.write_config(cors__origins="https://shop.example")
    server.reload()
    asked = {"Origin": "https://shop.example", "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "stampede-console"}
    allowed = server.request("OPTIONS", "/admin/v1/products", None, asked).headers
    true("stampede-console" not in allowed["access-control-allow-headers"].lower(), "allowed")
    true("access-control-allow-credentials" not in allowed, "credentials")


@rule
def a_key_that_is_shown_counts_and_not_the_session():
    cookie = cookie_of(sign_in("viewer"))
    both = {"Cookie": cookie, "Authorization": f"Bearer {server.keys['admin']}"}
    equal(server.request("GET", "/admin/v1/sales", None, both).status, 200)
    problem(server.request("GET", "/admin/v1/sales", None, {**both, "Authorization": "Bearer sk_" + "x" * 43}), 401, "admin-key-required")


@rule
def wrong_keys_make_their_address_wait_and_made_up_tokens_too():
    for token in ("sk_" + "x" * 43, "once_" + "x" * 43):
        address = "203.0.113.7" if token.startswith("sk_") else "203.0.113.8"

        def try_(wanted=token, who=address):
            return ask("POST", "/console/session", Authorization=f"Bearer {wanted}", **from_(who))
        for _ in range(5):
            problem(try_(), 401, "admin-key-required")
        eventually(lambda: try_().status == 429, "it never waits")
        problem(try_(server.keys["admin"]), 429, "too-fast")  # no key is looked at meanwhile
        equal(sign_in().status, 201)  # nor is anybody else kept out
    problem(ask("POST", "/console/session"), 401, "admin-key-required")


@rule
def who_holds_a_session_is_not_locked_out_by_wrong_keys():
    cookie = cookie_of(sign_in(**from_("203.0.113.9")))
    for _ in range(12):
        ask("GET", "/admin/v1/sales", Authorization="Bearer sk_" + "y" * 43, **from_("203.0.113.9"))
    equal(ask("GET", "/admin/v1/sales", cookie, **from_("203.0.113.9")).status, 200)


@rule
def a_key_has_eight_sessions_at_most():
    cookies = [cookie_of(sign_in("operator")) for _ in range(9)]
    problem(ask("GET", "/admin/v1/sales", cookies[0]), 401, "admin-key-required")
    for cookie in cookies[1:]:
        equal(ask("GET", "/admin/v1/sales", cookie).status, 200)


@rule
def the_pages_are_in_nobodys_frame_and_run_no_script_but_ours():
    page = server.get("/console/").body.decode()
    parts = re.findall(r'(?:src|href)="(/console/[^"]+)"', page)
    true(len(parts) >= 2, page)
    for path in ["/console/", "/console", "/console/index.html", *parts]:
        reply = server.get(path)
        equal(reply.status, 200, path)
        policy = reply.headers["content-security-policy"].split("; ")
        true("frame-ancestors 'none'" in policy and "default-src 'self'" in policy, policy)
        true("unsafe" not in reply.headers["content-security-policy"], path)
    equal(server.get("/console/").body, server.get("/console/index.html").body)
    equal(server.get("/console/nothing").status, 404)
    wrong = ask("PUT", "/console/session")
    problem(wrong, 405, "method-not-allowed")
    equal(wrong.headers["allow"], "GET, HEAD, POST, DELETE, OPTIONS")


@rule
def a_session_ends_with_its_key_and_follows_its_role():
    viewer, admin = cookie_of(sign_in("viewer")), cookie_of(sign_in())
    with open(server.settings["admin.keys"]) as file:
        lines = file.readlines()
    with open(server.settings["admin.keys"], "w") as file:  # the viewer goes, the admin is an operator now
        file.writelines(line.replace("admin:admin:", "admin:operator:") for line in lines if not line.startswith("viewer:"))
    server.reload()
    problem(ask("GET", "/admin/v1/sales", viewer), 401, "admin-key-required")
    equal(ask("GET", "/console/session", admin).json()["role"], "operator")
    problem(ask("POST", "/admin/v1/products", admin, {"name": "x", "list_price": 1, "currency": "CNY"}), 403, "admin-role")
    with open(server.settings["admin.keys"], "w") as file:
        file.writelines(lines)
    server.reload()
    problem(ask("GET", "/admin/v1/sales", viewer), 401, "admin-key-required")  # it does not come back


@rule
def a_restart_ends_all_sessions():
    cookie = cookie_of(sign_in())
    server.restart()
    problem(ask("GET", "/admin/v1/sales", cookie), 401, "admin-key-required")


run()
