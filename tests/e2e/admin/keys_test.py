# SPDX-License-Identifier: Apache-2.0
"""Admin keys made and revoked through the admin API: shown once, in force at once, kept over a restart, in the audit trail."""
import hashlib
import json
import os
import subprocess

from kit.harness import Server, equal, eventually, problem, rule, run, true

server = Server().start()


def make(name, role="viewer", by="admin"):
    return server.admin("POST", "/keys", {"name": name, "role": role}, role=by)


def made(name, role="viewer"):
    reply = make(name, role)
    equal(reply.status, 201, reply.body)
    return reply.json()["key"]


def revoke(name, **more):
    return server.admin("POST", "/keys/revoke", {"name": name, **more})


def status_of(key, method="GET", path="/sales", body=None):
    return server.request(method, f"/admin/v1{path}", body, headers={"Authorization": f"Bearer {key}"}).status


def names():
    return [row["name"] for row in server.admin_ok("GET", "/settings")["keys"]]


def audit():
    rows, after = [], 0
    while after is not None:
        page = server.admin_ok("GET", f"/audit?after={after}")
        rows += [(row["actor"], row["action"], row["detail"]) for row in page["audit"]]
        after = page.get("next")
    return rows


@rule
def a_new_key_opens_at_once_with_its_role_and_is_told_once():
    key = made("till", "operator")
    equal((key[:3], len(key)), ("sk_", 46))
    equal(status_of(key), 200)
    equal(status_of(key, "POST", "/reconcile", {}), 202)
    equal(status_of(key, path="/settings"), 403, "an operator is no administrator")
    true("till" in names())
    true(key not in server.admin("GET", "/settings").body.decode() + json.dumps(audit()) + server.log(), "told again")
    with open(os.path.join(server.data, "admin-keys")) as file:
        kept = file.read()
    true(key not in kept and hashlib.sha256(key.encode()).hexdigest() in kept, kept)
    equal(os.stat(os.path.join(server.data, "admin-keys")).st_mode & 0o777, 0o600)


@rule
def a_revoked_key_opens_nothing_from_that_moment_on():
    key = made("temp", "admin")
    equal(status_of(key), 200)
    equal(revoke("temp").json(), {"name": "temp", "role": "admin", "kind": "key"})
    equal(status_of(key), 401)
    true("temp" not in names())
    problem(revoke("temp"), 404, "not-found")
    true(made("temp") != key, "the name is free again")
    equal(revoke("temp").status, 200)


@rule
def a_console_session_ends_with_its_key():
    key = made("desk")
    marks = {"Stampede-Console": "1"}
    begun = server.request("POST", "/console/session", headers={"Authorization": f"Bearer {key}", **marks})
    cookie = {"Cookie": begun.headers["set-cookie"].split(";")[0], **marks}
    equal(server.get("/admin/v1/sales", headers=cookie).status, 200)
    equal(revoke("desk").status, 200)
    equal(server.get("/admin/v1/sales", headers=cookie).status, 401)


@rule
def who_made_and_revoked_what_is_in_the_audit_trail():
    made("log", "operator")
    revoke("log")
    equal([row for row in audit() if row[2].startswith("log,")],
          [("admin", "key.create", "log, operator"), ("admin", "key.revoke", "log, operator")])


@rule
def a_repeated_request_never_tells_the_key_again():
    headers = {"Idempotency-Key": "make-it-once"}
    first = server.admin("POST", "/keys", {"name": "once", "role": "viewer"}, headers=headers)
    equal(first.status, 201)
    again = server.admin("POST", "/keys", {"name": "once", "role": "viewer"}, headers=headers)
    problem(again, 409, "conflict")
    true(first.json()["key"] not in again.body.decode())
    with open(os.path.join(server.data, "stampede.db"), "rb") as file:
        true(first.json()["key"].encode() not in file.read(), "in the database")


@rule
def bad_wishes_change_nothing():
    before = names()
    for body in ({}, {"name": "x"}, {"role": "viewer"}, {"name": "x", "role": "root"}, {"name": "a:b", "role": "viewer"},
                 {"name": "a b", "role": "viewer"}, {"name": "#a", "role": "viewer"}, {"name": "\u00e4", "role": "viewer"},
                 {"name": "x" * 65, "role": "viewer"}, {"name": "", "role": "viewer"}, {"name": "x", "role": "viewer", "key": "sk_mine"}):
        equal(server.admin("POST", "/keys", body).status // 100, 4, body)
    for body in ({}, {"name": "viewer", "kind": "session"}):
        equal(server.admin("POST", "/keys/revoke", body).status // 100, 4, body)
    problem(make("viewer"), 409, "conflict")
    problem(revoke("viewer", kind="password"), 404, "not-found")
    for role in ("viewer", "operator"):
        problem(make("mine", "admin", by=role), 403, "admin-role")
        problem(server.admin("POST", "/keys/revoke", {"name": "admin"}, role=role), 403, "admin-role")
    equal(names(), before)


@rule
def the_last_administrator_can_not_be_revoked():
    problem(revoke("admin"), 409, "conflict")
    equal(status_of(server.keys["admin"], path="/settings"), 200)


@rule
def the_command_line_makes_and_revokes_keys():
    def command(*words):
        return subprocess.run([server.binary, "admin", *words, "--url", f"http://127.0.0.1:{server.port}"], text=True, capture_output=True, timeout=60,
                              env={**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["admin"]})
    done = command("key", "create", "--name", "shell", "--role", "viewer")
    equal(done.returncode, 0, done.stderr)
    true("shell" in names() and "sk_" in done.stdout, done.stdout)
    equal(command("key", "revoke", "shell").returncode, 0)
    true("shell" not in names())


@rule
def changes_outlive_sighup_and_a_restart_and_the_operators_file_stays_as_it_is():
    with open(server.settings["admin.keys"]) as file:
        before = file.read()
    key = made("stays", "operator")
    equal(revoke("viewer").status, 200)  # a line of the operator's file
    for turn in (server.reload, server.restart):
        turn()
        equal((status_of(key), status_of(server.keys["viewer"])), (200, 401), turn.__name__)
    with open(server.settings["admin.keys"]) as file:
        equal(file.read(), before)
    true("key viewer" not in server.log())


@rule
def a_damaged_file_of_changes_stops_the_start_and_says_so():
    path = os.path.join(server.data, "admin-keys")
    server.stop()
    with open(path, "rb+") as file:
        good = file.read()
        file.seek(30)
        file.write(b"?")
    code, said = server.start_refused()
    true(code != 0 and "admin-keys" in said, said)
    with open(path, "wb") as file:
        file.write(good)
    server.start()
    eventually(lambda: "stays" in names(), "the keys are back")


run()
