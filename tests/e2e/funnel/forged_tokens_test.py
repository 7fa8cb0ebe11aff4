# SPDX-License-Identifier: Apache-2.0
"""Forged, expired and foreign passes and sessions over HTTP, pipelined on kept connections: none is accepted.

FORGED_HTTP=100000 of each (a long run: 10000000). bench/forge makes them out of real ones as somebody without our keys can,
in-process ways with keys are in tests/unit/funnel/forge_test.c. The server is the release build, every limit is off: what
refuses must be the signature."""
import json
import os
import random
import subprocess
import time

from kit import bots
from kit.harness import Buyer, equal, rule, run, true

FORGED = int(os.environ.get("FORGED_HTTP") or 100000)
CHUNK = 1000000  # tokens in one file
CONNECTIONS, DEPTH = 32, 32
TOKEN = 48

shop = bots.Shop("off")
server = shop.server
other_shop = bots.Shop("off")  # another master secret
ITEM = server.open_item(total=100000)
OTHER_ITEM = server.open_item(total=100000)


def mint(of, *words):
    command = [of.server.binary, "mint", "--config", of.server.config, "--users", "0:2000", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def expired(*words):
    tokens = mint(shop, "--life", "1", *words)
    time.sleep(2.1)
    return tokens


def forged(real, count, seed, session):
    command = [bots.tool("forge"), "--count", str(count), "--seed", str(seed), *(["--session"] if session else [])]
    done = subprocess.run(command, input="".join(token + "\n" for token in real), capture_output=True, text=True, check=True)
    return done.stdout


def sent(template, tokens):
    """Sends each token of the text once; {status: how many}."""
    paths = shop.path("template"), shop.path("tokens")
    for path, text in zip(paths, (template, tokens)):
        with open(path, "w", encoding="ascii", newline="") as file:
            file.write(text)
    done = subprocess.run([bots.tool("load"), "--port", str(server.port), "--template", paths[0], "--fill", paths[1], "--once",
                           "--connections", str(CONNECTIONS), "--depth", str(DEPTH), "--seconds", "600"],
                          capture_output=True, text=True, check=True)
    os.remove(paths[1])
    result = json.loads(done.stdout)
    equal((result["errors"], result["closed"], result["requests"]), (0, 0, tokens.count("\n")), f"all are answered: {result}")
    return result


def none_accepted(what, template, real, real_status, others, refused, session):
    """`others`: tokens that are real somewhere else, mixed in. `real`: shows that only the token decides."""
    dice = random.Random(7)
    equal(set(sent(template, "".join(token + "\n" for token in real[:200]))["status"]), {real_status}, "with real ones")
    before, door = server.counts(ITEM), server.metrics()
    began, done, statuses = time.monotonic(), 0, {}
    while done < FORGED:
        count = min(CHUNK, FORGED - done)
        mixed = [dice.choice(others) + "\n" for _ in range(min(count // 5, 20000))]
        result = sent(template, forged(real, count - len(mixed), done + 1, session) + "".join(mixed))
        for status, number in result["status"].items():
            statuses[status] = statuses.get(status, 0) + number
        done += count
    seconds = time.monotonic() - began
    print(f"     {done} forged {what} over HTTP: {statuses}, 0 accepted; {done / seconds:.0f} a second, forging included")
    equal(set(statuses), {refused}, "what forgeries are answered")
    equal(server.counts(ITEM), before, "what the inventory has")
    name = 'stampede_door_total{answer="go"}'
    equal(server.metrics()[name], door[name], "who got through the door")


def buy_template(**headers):
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"POST /v1/items/{ITEM}/buy HTTP/1.1\r\nHost: 127.0.0.1\r\n{lines}Content-Length: 0\r\n\r\n"


@rule
def no_forged_expired_or_foreign_pass_is_accepted():
    others = [*mint(shop, "--item", str(OTHER_ITEM)), *mint(other_shop, "--item", str(ITEM)), *mint(shop, "--session"),
              *expired("--item", str(ITEM))]
    none_accepted("passes", buy_template(Stampede_Pass="@" * TOKEN), mint(shop, "--item", str(ITEM)), "202", others, "403",
                  session=False)


@rule
def no_forged_expired_or_foreign_session_is_accepted():
    # A view of one's own: 200 with any good session, 401 without.
    template = (f"GET /v1/items/{ITEM}/mine HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {'@' * TOKEN}\r\n\r\n")
    others = [*mint(other_shop, "--session"), *mint(shop, "--item", str(ITEM)), *expired("--session")]
    none_accepted("sessions", template, mint(shop, "--session"), "200", others, "401", session=True)


@rule
def a_session_of_somebody_else_beside_a_real_pass_is_foreign():
    one, other = Buyer(server), Buyer(server)
    reply = one.buy(ITEM, headers={"Authorization": f"Bearer {other.session}"})
    equal(reply.status, 403, str(reply))
    true(b"pass-foreign" in reply.body, str(reply))


run()
