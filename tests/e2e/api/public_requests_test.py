# SPDX-License-Identifier: Apache-2.0
"""How one gets in: the server's time, sessions from the shop's token or as a guest, passes; live and ready."""
import os
import time

from kit.harness import Buyer, Server, equal, jwt, problem, rule, run, true

SECRET, NEXT = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
server = Server(settings={"session.issuer": "shop", "session.audience": "stampede", "session.leeway_s": 0,
                          "session.life_s": 60, "pass.early_ms": 2000})
keys = os.path.join(server.folder, "jwt")
os.mkdir(keys)
for kid, secret in (("one", SECRET), ("two", NEXT)):
    with open(os.path.join(keys, f"{kid}.secret"), "w") as file:
        file.write(secret)
server.write_config(session__jwt_keys=keys)
server.start()

LOGIN = "https://shop.example/login?next=%2Fsale"
closed = Server(settings={"session.guests": "no", "session.jwt_keys": keys, "page.login_url": LOGIN})
closed.start()


def token(secret=SECRET, kid="one", header=None, drop=(), **claims):
    whole = {"sub": "ann", "iss": "shop", "aud": "stampede", "exp": int(time.time()) + 60, **claims}
    return jwt({name: value for name, value in whole.items() if name not in drop}, secret, kid, header)


def session(bearer):
    return server.request("POST", "/v1/session", session=bearer)


@rule
def the_time_is_the_servers_own():
    before = int(time.time() * 1000)
    now = server.now_ms()
    true(before - 2000 <= now <= int(time.time() * 1000) + 2000)
    true(server.now_ms() >= now)
    true("no-store" in server.get("/v1/time").headers["cache-control"])


@rule
def the_shop_says_how_one_gets_in():
    equal(server.get("/v1/shop").json(), {"guests": True, "pass_early_ms": 2000, "challenge_ms": 120000})
    equal(closed.get("/v1/shop").json(), {"guests": False, "pass_early_ms": 5000, "challenge_ms": 120000, "login_url": LOGIN})
    for wrong in ("shop.example/login", "javascript:alert(1)", 'https://shop.example/"', "https://shop.example/a b"):
        code, said = Server(settings={"page.login_url": wrong}).start_refused()
        true(code != 0 and "page.login_url" in said, said)


@rule
def live_and_ready_say_ok():
    for path in ("/livez", "/readyz"):
        reply = server.get(path)
        equal((reply.status, reply.body), (200, b"ok\n"))


@rule
def a_guest_gets_a_session_of_its_own():
    first, second = Buyer(server), Buyer(server)
    true(first.user != second.user and first.session != second.session)
    reply = server.request("POST", "/v1/session").json()
    equal((len(reply["session"]), len(reply["user"]), reply["guest"]), (48, 16, True))
    true(abs(reply["expires_ms"] - server.now_ms() - 60000) < 3000)


@rule
def the_shops_token_is_exchanged_for_a_session_of_its_user():
    reply = session(token())
    equal((reply.status, reply.json()["guest"]), (201, False))
    user = reply.json()["user"]
    equal(session(token()).json()["user"], user, "the same subject is the same user")
    equal(session(token(secret=NEXT, kid="two")).json()["user"], user, "whichever key signed it")
    true(session(token(sub="bob")).json()["user"] != user)
    equal(session(token(aud=["other", "stampede"])).json()["user"], user)


@rule
def the_same_user_is_limited_across_sessions():
    item = server.open_item()
    first, second = Buyer(server, token(sub="cat")), Buyer(server, token(sub="cat"))
    won = first.win(item)
    problem(second.buy(item), 409, "already-bought", ticket=won["ticket"])
    equal(second.order(won["ticket"])["ticket"], won["ticket"])


@rule
def tokens_that_are_not_the_shops_are_refused():
    now = int(time.time())
    good = token()
    head, body, mac = good.split(".")
    none = jwt({"sub": "ann", "iss": "shop", "aud": "stampede", "exp": now + 60}, SECRET, "one", {"alg": "none"})
    for what, bad in {
        "another key": token(secret=NEXT), "an unknown key": token(kid="three"), "no key id": token(kid=None),
        "a cut signature": good[:-2], "no signature": f"{head}.{body}.", "two parts": f"{head}.{body}",
        "another body": f"{head}.{token(sub='eve').split('.')[1]}.{mac}",
        "alg none": none, "alg none unsigned": none.rsplit(".", 1)[0] + ".", "another alg": token(header={"alg": "HS512"}),
        "crit": token(header={"crit": ["x"], "x": 1}), "expired": token(exp=now - 1), "no expiry": token(drop=("exp",)),
        "an expiry that is no number": token(exp="tomorrow"), "not yet": token(nbf=now + 60),
        "no subject": token(drop=("sub",)), "an empty subject": token(sub=""), "a number as subject": token(sub=7),
        "a subject that is too long": token(sub="x" * 129), "another issuer": token(iss="mallory"),
        "no issuer": token(drop=("iss",)), "another audience": token(aud="other"), "no audience": token(drop=("aud",)),
        "nonsense": "x.y.z", "nothing": "x", "a session": Buyer(server).session, "very long": "a" * 5000,
    }.items():
        reply = session(bad)
        true(reply.status == 401, f"{what}: {reply}")
        problem(reply, 401, "token-invalid")
    for wrong in ("Basic abc", "Bearer", good):
        problem(server.request("POST", "/v1/session", headers={"Authorization": wrong}), 401, "token-invalid")
    equal(session(good).status, 201)


@rule
def guests_are_refused_where_there_are_none():
    problem(closed.request("POST", "/v1/session"), 401, "session-required")
    bearer = jwt({"sub": "ann", "exp": int(time.time()) + 60}, SECRET, "one")
    equal(closed.request("POST", "/v1/session", session=bearer).status, 201)


@rule
def a_session_of_another_server_is_refused():
    item = server.open_item()
    foreign = closed.request("POST", "/v1/session", session=jwt({"sub": "a", "exp": int(time.time()) + 60}, SECRET, "one"))
    problem(server.request("POST", f"/v1/items/{item}/pass", session=foreign.json()["session"]), 401, "session-invalid")


@rule
def a_session_that_was_given_outlives_a_restart():
    buyer = Buyer(server)
    server.restart()
    equal(buyer.get("/v1/orders").status, 200)


@rule
def a_session_that_has_expired_is_refused():
    import subprocess
    minted = subprocess.run([server.binary, "mint", "--data", server.data, "--session", "--users", "1:2", "--life", "2"],
                            capture_output=True, text=True, check=True).stdout.split()
    equal(len(minted), 2)
    equal(server.get("/v1/orders", session=minted[0]).status, 200)
    time.sleep(2.1)
    item = server.open_item()
    for path, method in (("/v1/orders", "GET"), (f"/v1/items/{item}/mine", "GET"), (f"/v1/items/{item}/pass", "POST")):
        problem(server.request(method, path, session=minted[0]), 401, "session-invalid")


@rule
def a_pass_is_given_to_sessions_shortly_before_the_start_and_not_earlier():
    far, near = server.sale(start_in_ms=60000), server.sale(start_in_ms=1500)
    early, soon = server.item(far), server.item(near)
    server.publish(far)
    server.publish(near)
    buyer = Buyer(server)
    start = server.get(f"/v1/items/{early}").json()["start_ms"]
    problem(buyer.ask_pass(early), 403, "not-started", start_ms=start)
    equal(buyer.ask_pass(soon).status, 201)
    problem(server.request("POST", f"/v1/items/{soon}/pass"), 401, "session-required")
    reply = buyer.ask_pass(soon).json()
    equal(len(reply["pass"]), 48)
    true(abs(reply["expires_ms"] - server.now_ms() - 120000) < 3000)


@rule
def a_pass_does_not_tell_of_items_that_are_not_on_sale():
    sale = server.sale()
    item = server.item(sale)
    problem(Buyer(server).ask_pass(item), 404, "unknown-item")


run()
