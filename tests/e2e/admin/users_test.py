# SPDX-License-Identifier: Apache-2.0
"""The list of users who may buy in a sale for invited users: load, list, remove, by the API and the command line."""
import os
import subprocess
import time

from kit.harness import Buyer, Server, equal, eventually, jwt, problem, rule, run, true

SECRET = "a secret of the shop that is long enough"
server = Server(settings={"session.guests": "no"})
keys = os.path.join(server.folder, "jwt")
os.mkdir(keys)
with open(os.path.join(keys, "shop.secret"), "w") as file:
    file.write(SECRET)
server.write_config(session__jwt_keys=keys)
server.start()


def buyer(name):
    return Buyer(server, jwt({"sub": name, "exp": int(time.time()) + 600}, SECRET))


def listed(sale):
    rows, after = [], None
    while True:
        page = server.admin_ok("GET", f"/sales/{sale}/users" + (f"?after={after}" if after else ""), role="viewer")
        rows += [row["user_id"] for row in page["users"]]
        after = page.get("next")
        if after is None:
            return rows


def invited_sale():
    sale = server.sale(eligible_only=True)
    item = server.item(sale)
    server.publish(sale)
    return sale, item


@rule
def users_are_listed_by_their_ids_over_pages():
    sale, _ = invited_sale()
    equal(listed(sale), [])
    names = [f"user {number}" for number in range(1200)]
    for first in (0, 600):
        server.admin_ok("POST", f"/sales/{sale}/users", {"users": names[first:first + 600]})
    eventually(lambda: len(listed(sale)) == 1200, "not all are listed")
    rows = listed(sale)
    equal(len(set(rows)), 1200)
    true(buyer("user 7").user in rows)
    problem(server.admin("GET", f"/sales/{sale}/users?after=7"), 400, "bad-query")
    problem(server.admin("GET", "/sales/9999/users"), 404, "unknown-sale")


@rule
def who_is_removed_can_not_buy_until_loaded_again():
    sale, item = invited_sale()
    anna, bert = buyer("anna"), buyer("bert")
    server.admin_ok("POST", f"/sales/{sale}/users", {"users": ["anna", "bert"]})
    equal(server.admin_ok("POST", f"/sales/{sale}/users/remove", {"users": ["anna", "nobody"]})["removed"], 1)
    equal(server.admin_ok("POST", f"/sales/{sale}/users/remove", {"user_ids": [bert.user]})["removed"], 1)
    problem(anna.buy(item), 403, "not-eligible")
    problem(bert.buy(item), 403, "not-eligible")
    eventually(lambda: listed(sale) == [], "they are still listed")
    server.restart(kill=True)
    problem(anna.buy(item), 403, "not-eligible")
    server.admin_ok("POST", f"/sales/{sale}/users", {"users": ["anna"]})
    anna.win(item)
    details = [row["detail"] for row in server.admin_ok("GET", "/audit")["audit"] if row["action"] == "sale.users"]
    true(any("removed" in detail for detail in details), details)


@rule
def a_wrong_list_is_refused():
    sale, _ = invited_sale()
    for body in ({}, {"users": ["a"], "user_ids": ["0" * 16]}, {"users": "a"}, {"user_ids": ["xyz"]}, {"user_ids": [7]}, {"users": [""]}):
        problem(server.admin("POST", f"/sales/{sale}/users/remove", body), 422, "bad-value")
    problem(server.admin("POST", f"/sales/{sale}/users/remove", {"users": ["a"]}, role="operator"), 403, "admin-role")


run()
