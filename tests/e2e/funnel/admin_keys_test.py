# SPDX-License-Identifier: Apache-2.0
"""Admin keys can be changed while the server runs: SIGHUP reads them again, and a broken file changes nothing."""
import hashlib

from kit.harness import Server, admin_key, equal, eventually, problem, rule, run, true

server = Server().start()


def answers(key):
    """Wrong keys make this machine wait, a second at most."""
    def ask():
        status = server.request("GET", "/admin/v1/sales", headers={"Authorization": f"Bearer {key}"}).status
        return status != 429 and status
    return eventually(ask)


def write(text):
    with open(server.settings["admin.keys"], "w") as file:
        file.write(text)


def line(name, role, key):
    return f"{name}:{role}:{hashlib.sha256(key.encode()).hexdigest()}\n"


@rule
def after_sighup_the_old_key_is_refused_and_the_new_one_accepted():
    old = server.keys["admin"]
    equal(answers(old), 200)
    server.write_keys(tag="-second")
    equal(answers(old), 200, "until it is told")
    true("settings reloaded" in server.reload())
    equal((answers(old), answers(server.keys["admin"])), (401, 200))


@rule
def a_broken_file_keeps_the_old_keys_and_says_where():
    good = server.keys["admin"]
    for text, said in (("nonsense\n", "line 1"), (line("a", "admin", "x") + "b:boss:" + "0" * 64 + "\n", "line 2"),
                       ("a:admin:" + "0" * 63 + "\n", "line 1"), (":admin:" + "0" * 64 + "\n", "line 1"),
                       ("a:admin:" + "g" * 64 + "\n", "line 1"), ("a:admin\n", "line 1")):
        write(text)
        log = server.reload()
        true("settings not reloaded" in log and said in log and "admin" in log, log)
        equal((answers(good), answers("x")), (200, 401), text)
    server.write_keys(tag="-third")
    server.reload()
    equal(answers(server.keys["admin"]), 200)


@rule
def comments_empty_lines_and_several_keys_of_one_role_are_fine():
    one, two, three, four = (admin_key(name) for name in ("one", "two", "three", "four"))
    write("# who\n\n" + line("a", "viewer", one) + line("b", "viewer", two) + "\r\n" + line("c", "operator", three).rstrip())
    true("settings reloaded" in server.reload())
    equal([answers(key) for key in (one, two, three, four, "")], [200, 200, 200, 401, 401])


@rule
def each_key_has_its_own_name_and_role():
    one, two, three = (admin_key(name) for name in ("one", "two", "three"))
    write(line("ann", "admin", one) + line("bob", "viewer", two) + line("cid", "admin", three))
    server.reload()
    product = {"name": "P", "list_price": 1}
    replies = [server.request("POST", "/admin/v1/products", product, {"Authorization": f"Bearer {key}"})
               for key in (one, two, three)]
    equal([reply.status for reply in replies], [201, 403, 201])
    audit = server.request("GET", "/admin/v1/audit", headers={"Authorization": f"Bearer {two}"}).json()["audit"]
    equal([entry["actor"] for entry in audit[-2:]], ["ann", "cid"])


@rule
def without_keys_nobody_is_an_administrator():
    write("")
    server.reload()
    problem(server.request("GET", "/admin/v1/sales", headers={"Authorization": "Bearer one"}), 401, "admin-key-required")
    problem(server.request("GET", "/admin/v1/sales", headers={"Authorization": "Bearer "}), 401, "admin-key-required")


@rule
def the_key_command_makes_keys_that_work():
    import subprocess
    path = server.settings["admin.keys"]
    made = subprocess.run([server.binary, "key", "new", "--name", "kim", "--role", "admin", "--file", path],
                          capture_output=True, text=True, check=True)
    server.reload()
    equal(answers(made.stdout.strip()), 200)
    true(made.stdout.strip() not in open(path).read(), "only its hash is kept")


run()
