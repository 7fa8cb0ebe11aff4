# SPDX-License-Identifier: Apache-2.0
"""What SIGHUP reads again besides admin keys: the shop's keys, guests, origins, the log level; nothing half done."""
import os
import re
import time

from kit.harness import Buyer, Server, equal, jwt, problem, rule, run, true

OLD, NEW = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
server = Server(settings={"cors.origins": "https://one.example"})
keys = os.path.join(server.folder, "jwt")
os.mkdir(keys)
server.write_config(session__jwt_keys=keys)


def write_key(kid, secret):
    with open(os.path.join(keys, f"{kid}.secret"), "w") as file:
        file.write(secret)


write_key("a", OLD)
server.start()


def session(secret, kid):
    token = jwt({"sub": "ann", "exp": int(time.time()) + 60}, secret, kid)
    return server.request("POST", "/v1/session", session=token)


@rule
def keys_rotate_without_a_moment_when_nobody_gets_in():
    equal(session(OLD, "a").status, 201)
    problem(session(NEW, "b"), 401, "token-invalid")
    write_key("b", NEW)
    server.reload()
    equal((session(OLD, "a").status, session(NEW, "b").status), (201, 201), "both for a while")
    os.remove(os.path.join(keys, "a.secret"))
    server.reload()
    problem(session(OLD, "a"), 401, "token-invalid")
    equal(session(NEW, "b").status, 201)


@rule
def a_session_that_was_given_outlives_its_shop_key():
    buyer = Buyer(server)
    server.reload()
    equal(buyer.get("/v1/orders").status, 200)


@rule
def a_broken_shop_key_keeps_the_old_ones_and_says_so():
    for name, text in (("c.secret", "short"), ("c.pem", "-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----\n")):
        with open(os.path.join(keys, name), "w") as file:
            file.write(text)
        log = server.reload()
        true("settings not reloaded" in log and "jwt_keys" in log, log)
        equal(session(NEW, "b").status, 201)
        os.remove(os.path.join(keys, name))
    true("settings reloaded" in server.reload())


@rule
def origins_and_guests_change_by_sighup():
    def origin(name):
        return server.get("/v1/time", headers={"Origin": name}).headers.get("access-control-allow-origin")
    equal(origin("https://one.example"), "https://one.example")
    server.write_config(cors__origins="https://two.example", session__guests="no")
    server.reload()
    equal((origin("https://one.example"), origin("https://two.example")), (None, "https://two.example"))
    problem(server.request("POST", "/v1/session"), 401, "session-required")
    server.write_config(session__guests="yes")
    server.reload()
    equal(server.request("POST", "/v1/session").status, 201)


@rule
def a_broken_settings_file_keeps_the_old_settings_and_says_where():
    with open(server.config) as file:
        good = file.read()
    for text, said in ((good + "[session]\nguest = yes\n", "session.guest"), (good + "[server]\nport = x\n", "server.port"),
                       ("nonsense", "line 1"), (good + "[cors]\norigins = shop.example\n", "cors.origins"),
                       (good + "[cors]\norigins = https://shop.example/\n", "cors.origins"),
                       (good + "[server]\nlog_level = loud\n", "log_level"),
                       (re.sub(r"(?m)^keys = .*$", "keys = /nowhere/keys", good), "admin keys"),
                       (good + "[admin]\nkeys = /nowhere/keys\n", "stands in line"),
                       (good.replace("guests = yes", "guests = no").replace(f"jwt_keys = {keys}", "jwt_keys ="), "nobody could enter")):
        with open(server.config, "w") as file:
            file.write(text)
        log = server.reload()
        true("settings not reloaded" in log and said in log, f"{said}: {log}")
        equal(session(NEW, "b").status, 201)
    os.rename(server.config, server.config + ".away")
    true("settings not reloaded" in server.reload())
    os.rename(server.config + ".away", server.config)
    with open(server.config, "w") as file:
        file.write(good)
    true("settings reloaded" in server.reload())


@rule
def many_reloads_under_load_do_no_harm():
    item = server.open_item(total=1000, limit_per_user=0)
    buyer = Buyer(server)
    give = buyer.get_pass(item)
    wins = 0
    with server.connect() as connection:
        for number in range(60):
            if number % 5 == 0:
                server.process.send_signal(1)
            connection.send(buyer.purchase_request(item, key=str(number), give=give))
            wins += connection.read_reply().status == 202
            equal(server.get("/v1/time", headers={"Origin": "https://two.example"}).status, 200)
    equal(wins, 60)
    server.reload()


run()
