# SPDX-License-Identifier: Apache-2.0
"""GET /admin/v1/settings: the configuration in force, where each value comes from, who has a key; and no secret."""
import os

from kit.harness import Server, equal, problem, rule, run, true

os.environ["STAMPEDE_LIMITS_USER_WINDOW_MS"] = "7777"
server = Server(settings={"session.life_s": 4321, "webhook.url": "http://127.0.0.1:9/in?token=hidden-word",
                          "webhook.allow_private": "yes"})
with open(os.path.join(server.folder, "hook.secret"), "w") as file:
    file.write("hidden-word-of-the-hook-0123456789")
server.write_config(webhook__secret_file=os.path.join(server.folder, "hook.secret"))
server.start()


def told():
    return server.admin_ok("GET", "/settings")


def setting(name):
    return next(row for row in told()["settings"] if row["name"] == name)


@rule
def each_value_tells_where_it_comes_from():
    for name, value, source in (("session.life_s", "4321", "file"), ("limits.user_window_ms", "7777", "environment"),
                                ("room.rate_max", "1000", "default"), ("server.pin", "no", "default")):
        row = setting(name)
        equal((row["value"], row["source"]), (value, source), name)
    true(setting("server.log_level")["reload"] and not setting("server.port")["reload"])
    true(len(told()["settings"]) > 100, "not all of them")


@rule
def who_has_a_key_is_told_and_no_key():
    body = server.admin("GET", "/settings").body.decode()
    equal(sorted((row["name"], row["role"], row["kind"]) for row in told()["keys"]), [(role, role, "key") for role in ("admin", "operator", "viewer")])
    for key in server.keys.values():
        true(key not in body, "a key")
    true("hidden-word" not in body, "a secret")
    equal(setting("webhook.url")["value"], "http://127.0.0.1:9/in")


@rule
def it_is_for_administrators():
    for role in ("viewer", "operator"):
        problem(server.admin("GET", "/settings", role=role), 403, "admin-role")


run()
