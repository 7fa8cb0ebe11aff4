# SPDX-License-Identifier: Apache-2.0
"""Sessions can be taken back: by time, by the shop's key, by a ban; they end with the shop's token; a token with a jti is good once."""
import os
import sqlite3
import subprocess
import time

from kit.harness import Buyer, Server, equal, eventually, jwt, problem, rule, run, temp_folder, true
from kit.push_client import Push

KEYS = {"old": "o" * 32, "new": "n" * 32}
LIFE_S, LIFE_MIN_S = 3600, 300
keys_folder = temp_folder()


def key_write(kid, secret=None):
    with open(os.path.join(keys_folder, f"{kid}.secret"), "wb") as file:
        file.write((secret or KEYS[kid]).encode())


for name in KEYS:
    key_write(name)
server = Server(settings={"session.jwt_keys": keys_folder, "session.life_s": LIFE_S, "session.life_min_s": LIFE_MIN_S,
                          "session.guests": "yes"})
server.start()


def token(subject="ann", kid="new", lives_s=600, **claims):
    return jwt({"sub": subject, "exp": int(time.time()) + lives_s, **claims}, KEYS[kid], kid=kid)


def session(given, status=201):
    reply = server.request("POST", "/v1/session", session=given)
    equal(reply.status, status, str(reply))
    return reply


def enter(*args, **more):
    return session(token(*args, **more)).json()["session"]


def counts(given):
    return server.get("/v1/orders", session=given).status == 200


def ban(**fields):
    return server.admin("POST", "/bans", {"minutes": 5, "reason": "test", **fields})


@rule
def a_session_made_before_valid_from_is_over_and_a_later_one_counts():
    given, guest = enter(), Buyer(server).session
    true(counts(given) and counts(guest))
    time.sleep(1.1)
    server.write_config(session__valid_from=int(time.time()))
    server.reload()
    eventually(lambda: not counts(given) and not counts(guest), "the old sessions still count")
    problem(server.get("/v1/orders", session=given), 401, "session-invalid")
    true(counts(enter()) and counts(Buyer(server).session), "a new session does not count")


@rule
def a_valid_from_that_lies_ahead_is_refused_and_changes_nothing():
    given = enter()
    server.write_config(session__valid_from=int(time.time()) + 1000)
    true("session.valid_from is in the future" in server.reload(), "nobody was told")
    true(counts(given))
    server.write_config(session__valid_from=0)
    server.reload()


@rule
def a_session_ends_with_the_shops_token_but_leaves_time_to_buy():
    for lives_s, wanted_s in ((600, 600), (2, LIFE_MIN_S), (100000, LIFE_S)):
        reply = session(token(lives_s=lives_s)).json()
        true(abs(reply["expires_ms"] / 1000 - time.time() - wanted_s) < 5, f"{lives_s}: {reply}")


@rule
def removing_a_key_ends_the_sessions_made_with_it_and_no_others():
    old, new, guest = enter(kid="old"), enter(kid="new"), Buyer(server).session
    item = server.open_item(total=5)
    give = server.request("POST", f"/v1/items/{item}/pass", session=old).json()["pass"]
    os.remove(os.path.join(keys_folder, "old.secret"))
    server.reload()
    eventually(lambda: not counts(old), "a session of the key that is gone still counts")
    true(counts(new) and counts(guest), "others ended, too")
    problem(server.request("POST", f"/v1/items/{item}/buy", headers={"Stampede-Pass": give}, session=old), 401, "session-invalid")
    key_write("old", "x" * 32)  # another key under the same name is another key
    server.reload()
    time.sleep(0.2)
    true(not counts(old), "it came back with another key")
    key_write("old")
    server.reload()
    eventually(lambda: counts(old))


@rule
def a_ban_ends_the_sessions_of_its_user_if_it_says_so():
    quiet, loud = enter("quiet"), enter("loud")
    equal(ban(user="quiet").status, 201)
    reply = ban(user="loud", sessions=True)
    equal((reply.status, reply.json()["sessions"]), (201, True))
    true(counts(quiet), "orders of a banned user stay visible")
    problem(server.get("/v1/orders", session=loud), 401, "session-invalid")
    problem(server.request("POST", "/v1/session", session=token("loud")), 403, "banned")
    problem(ban(address="203.0.113.9", sessions=True), 422, "bad-value")
    server.restart()
    true(not counts(loud), "forgotten over a restart")
    equal(server.admin("POST", f"/bans/{reply.json()['id']}/lift").status, 200)
    true(counts(loud), "lifted")


@rule
def sessions_stay_ended_after_the_ban_is_over():
    given = enter("brief")
    number = ban(user="brief", sessions=True).json()["id"]
    server.stop()
    with sqlite3.connect(os.path.join(server.data, "stampede.db")) as database:  # as if it had been made ten minutes ago
        database.execute("UPDATE bans SET created_ms = created_ms - 600000, until_ms = until_ms - 600000 WHERE id = ?", (number,))
    database.close()
    server.start()
    problem(server.get("/v1/orders", session=given), 401, "session-invalid")
    time.sleep(1.1)
    true(counts(enter("brief")), "who is not banned any more gets no session that counts")


@rule
def the_command_line_ends_sessions_too():
    given = enter("cli")
    environment = {**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["admin"], "STAMPEDE_URL": f"http://127.0.0.1:{server.port}"}
    done = subprocess.run([server.binary, "admin", "ban", "add", "--user", "cli", "--minutes", "5", "--reason", "test", "--sessions"],
                          env=environment, capture_output=True, text=True, timeout=20)
    equal(done.returncode, 0, done.stderr)
    true(not counts(given))


@rule
def a_push_connection_ends_with_its_session():
    push = Push(server, enter("pushed"))
    equal(ban(user="pushed", sessions=True).status, 201)
    equal(push.closed()[0], 1008)


@rule
def a_token_with_a_jti_opens_one_session():
    once = token("once", jti="a-1")
    given = session(once).json()["session"]
    reply = session(once, 401)
    problem(reply, 401, "token-invalid")
    true("used-before" in reply.json()["detail"], str(reply))
    true(counts(given))
    session(token("once", jti="a-2"))
    session(token("once", kid="old", jti="a-1"))  # another signer's name
    many = token("many")
    session(many), session(many)  # without one, as often as wanted
    for jti in ("", 7, "x" * 129, None):
        problem(session(token("bad", jti=jti), 401), 401, "token-invalid")
    problem(session(token("far", lives_s=8 * 86400, jti="far"), 401), 401, "token-invalid")


@rule
def a_refused_token_is_not_used_up():
    kept = token("kept", jti="kept")
    reply = ban(user="kept")
    problem(session(kept, 403), 403, "banned")
    equal(server.admin("POST", f"/bans/{reply.json()['id']}/lift").status, 200)
    session(kept)


@rule
def a_jti_can_be_required():
    server.write_config(session__jti_required="yes")
    server.reload()
    reply = eventually(lambda: (lambda r: r.status == 401 and r)(server.request("POST", "/v1/session", session=token("none"))))
    true("no-jti" in reply.json()["detail"], str(reply))
    session(token("some", jti="some"))
    server.write_config(session__jti_required="no")
    server.reload()


@rule
def missing_issuer_and_audience_are_told_at_the_start_and_set_ones_are_not():
    true("session.issuer and session.audience are not set" in server.log(), "not told")
    server.write_config(session__issuer="shop", session__audience="stampede")
    before = server.log().count("not set: any token")
    server.restart()
    equal(server.log().count("not set: any token"), before)
    problem(session(token("other"), 401), 401, "token-invalid")
    session(token("right", iss="shop", aud="stampede"))


run()
