# SPDX-License-Identifier: Apache-2.0
"""A service outside gives the verdict instead of pictures (human.outside). Stand-ins on loopback speak what Turnstile,
hCaptcha and GeeTest have documented, and keep to it: a response is good once, a wrong secret is told as such."""
import hashlib
import hmac
import http.server
import json
import os
import threading
import urllib.parse

from kit.harness import Buyer, Server, equal, eventually, problem, rule, run, temp_folder, true
from kit.solving import payload, solve

SECRET, SITE_KEY = "0x4AAAA-very-secret-indeed", "site-key-1"


class StandIn:
    """`person`, `machine` and other responses; each good once. hang: no answer; status: another one."""

    def __init__(self, service):
        self.service, self.asked, self.seen = service, [], set()
        self.hang, self.status, self.lock = threading.Event(), 200, threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                fields = {name: values[0] for name, values in urllib.parse.parse_qs(body, strict_parsing=True).items()}
                url = urllib.parse.urlsplit(self.path)
                with outer.lock:
                    outer.asked.append((url.path, dict(urllib.parse.parse_qsl(url.query)), fields))
                    answer = outer.answer(dict(urllib.parse.parse_qsl(url.query)), fields)
                if outer.hang.is_set():
                    self.close_connection = True
                    return
                out = json.dumps(answer).encode()
                self.send_response(outer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(out)))
                self.end_headers()
                self.wfile.write(out)

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/verify"

    def answer(self, query, fields):
        if self.service == "geetest":
            right = hmac.new(SECRET.encode(), fields["lot_number"].encode(), hashlib.sha256).hexdigest()
            if query.get("captcha_id") != SITE_KEY or fields["sign_token"] != right:
                return {"status": "error", "code": "-50005", "msg": "illegal gen_time", "desc": {}}
            good = fields["captcha_output"].startswith("person") and fields["lot_number"] not in self.seen
            self.seen.add(fields["lot_number"])
            return {"status": "success", "result": "success" if good else "fail", "reason": "" if good else "pass_token expire",
                    "captcha_args": {}}
        if fields.get("secret") != SECRET:
            return {"success": False, "error-codes": ["invalid-input-secret"]}
        if fields["response"] in self.seen:
            return {"success": False, "error-codes": ["timeout-or-duplicate"]}
        self.seen.add(fields["response"])
        if fields["response"].startswith("person"):
            return {"success": True, "challenge_ts": "2026-11-15T10:00:00Z", "hostname": "shop.example", "error-codes": []}
        return {"success": False, "error-codes": ["invalid-input-response"]}


def shop(service, stand_in, secret=SECRET, **more):
    path = os.path.join(temp_folder(), "secret")
    with open(path, "w", encoding="ascii") as file:
        file.write(secret + "\n")
    server = Server(settings={"human.outside": service, "human.outside_site_key": SITE_KEY, "human.pow_hashes": 50,
                              "human.outside_secret_file": path, "human.outside_url": stand_in.url,
                              "human.outside_timeout_ms": 2000, **more})
    server.start()
    item = server.open_item(total=50, sale_fields={"human_check": "slider"})
    return server, item


def challenge(server, item, buyer, kind=None):
    return server.get(f"/v1/items/{item}/challenge" + (f"?kind={kind}" if kind else ""), session=buyer.session)


def ask(server, item, buyer, token, response):
    return server.request("POST", f"/v1/items/{item}/pass", {"solution": {"token": token, "response": response}},
                          session=buyer.session)


def verdict(server, item, buyer, token, response):
    """The same request until it is no longer under way."""
    def again():
        reply = ask(server, item, buyer, token, response)
        if reply.status == 409 and reply.json()["type"] == "/problems/in-progress":
            return None
        return reply
    return eventually(again, "no verdict")


def of(service, word):
    return f"{hashlib.md5(word.encode()).hexdigest()}|{word}|{'b' * 64}|1794716113" if service == "geetest" else word


def service_rules(service):
    stand_in = StandIn(service)
    server, item = shop(service, stand_in)
    ann, eve = Buyer(server), Buyer(server)
    refused = server.request("POST", f"/v1/items/{item}/pass", session=ann.session)
    problem(refused, 403, "human-check-required", kinds=[service, "pow"])
    problem(challenge(server, item, ann, "slider"), 400, "bad-query")  # no way round it
    given = challenge(server, item, ann).json()
    equal((given["kind"], given["site_key"]), (service, SITE_KEY))
    true("image" not in given and "pieces" not in given)

    passed = verdict(server, item, ann, given["token"], of(service, "person+1 &=%"))
    equal(passed.status, 201, passed.body)
    equal(ann.buy(item, give=passed.json()["pass"]).status, 202)
    problem(ask(server, item, ann, given["token"], of(service, "person+1 &=%")), 409, "human-check-spent")
    equal(len(stand_in.asked), 1)  # however often it was sent

    token = challenge(server, item, eve).json()["token"]
    problem(verdict(server, item, eve, token, of(service, "machine")), 403, "human-check-failed")
    problem(ask(server, item, eve, token, of(service, "person 2")), 409, "human-check-spent")  # one response a challenge
    token = challenge(server, item, eve).json()["token"]
    problem(verdict(server, item, eve, token, of(service, "person+1 &=%")), 403, "human-check-failed")  # used before
    problem(ask(server, item, ann, challenge(server, item, eve).json()["token"], of(service, "person 3")), 403,
            "human-check-failed")  # another's
    equal(server.request("POST", f"/v1/items/{item}/pass", payload(solve(challenge(server, item, ann, "pow").json())),
                         session=ann.session).status, 201)
    page = server.get("/").headers["content-security-policy"]
    true("script-src 'self' https://" in page and "frame-src https://" in page, page)
    true(SECRET not in server.log(), "the secret is in the log")
    asked = stand_in.asked
    server.stop()
    return asked


@rule
def turnstile_is_asked_as_documented_and_its_verdict_holds():
    asked = service_rules("turnstile")
    path, query, fields = asked[0]
    equal((path, query), ("/verify", {}))
    equal(fields, {"secret": SECRET, "response": "person+1 &=%", "remoteip": "127.0.0.1"})


@rule
def hcaptcha_is_asked_as_documented_and_its_verdict_holds():
    asked = service_rules("hcaptcha")
    equal(asked[0][2], {"secret": SECRET, "response": "person+1 &=%", "remoteip": "127.0.0.1", "sitekey": SITE_KEY})


@rule
def geetest_is_asked_as_documented_and_its_verdict_holds():
    asked = service_rules("geetest")
    path, query, fields = asked[0]
    equal(query, {"captcha_id": SITE_KEY})
    equal(sorted(fields), ["captcha_output", "gen_time", "lot_number", "pass_token", "sign_token"])
    true(SECRET not in json.dumps(fields), "the key was sent")


@rule
def without_a_verdict_nobody_gets_in_unless_the_operator_says_so():
    for fail in ("closed", "open"):
        stand_in = StandIn("turnstile")
        server, item = shop("turnstile", stand_in, **{"human.outside_fail": fail})
        for trouble in ("hang", 500, 429):
            buyer = Buyer(server)
            stand_in.hang.clear()
            stand_in.status = 200
            if trouble == "hang":
                stand_in.hang.set()
            else:
                stand_in.status = trouble
            token = challenge(server, item, buyer).json()["token"]
            reply = verdict(server, item, buyer, token, f"machine {trouble}")
            if fail == "open":
                equal(reply.status, 201, trouble)
            else:
                problem(reply, 503, "unavailable")
                true("kind" in challenge(server, item, buyer).json())  # nobody is blamed for it
        equal(server.metrics()['stampede_human_outside_total{verdict="none"}'], 3)
        server.stop()


@rule
def a_wrong_secret_is_the_operators_fault_and_no_visitors():
    stand_in = StandIn("turnstile")
    server, item = shop("turnstile", stand_in, secret="another")
    buyer = Buyer(server)
    problem(verdict(server, item, buyer, challenge(server, item, buyer).json()["token"], "person"), 503, "unavailable")
    true("invalid-input-secret" in server.log(), "not told")
    server.stop()


@rule
def settings_that_are_not_whole_are_refused_at_the_start():
    for settings, word in (({"human.outside": "captcha"}, "human.outside must be"),
                           ({"human.outside": "turnstile"}, "outside_site_key"),
                           ({"human.outside": "turnstile", "human.outside_site_key": "k"}, "outside_secret_file"),
                           ({"human.outside": "turnstile", "human.outside_site_key": "k", "human.outside_secret_file": "/nowhere"},
                            "outside_secret_file must be readable")):
        server = Server(settings=settings)
        true(word in server.start_refused()[1], settings)


@rule
def without_a_service_pages_allow_no_script_of_others():
    server = Server()
    server.start()
    true("script-src" not in server.get("/").headers["content-security-policy"])
    server.stop()


run()
