# SPDX-License-Identifier: Apache-2.0
"""Real proxies with the files of deploy/ as they are, but for ports: nginx and HAProxy in front of one server, or of several gateways.

    front = Front(server, "127.0.4.1")           # clients come from this address of the machine
    text = replaced(text_of("deploy", "nginx.conf"), {"127.0.0.1:8080": ..., "listen 8000": f"listen 127.0.0.1:{front.port}"})
    process = subprocess.Popen(nginx_command(text, temp_folder()))
    eventually(front.answers)
    Buyer(front).win(item)                       # a front can be asked like a Server

    front = FRONTS["haproxy"](shop).start()      # in front of the three gateways of a Cluster
    load = Load(front, item).start()             # visitors who buy all the while; each request and what came of it is counted
    ...
    load.end()
"""
import atexit
import collections
import os
import random
import shutil
import socket
import ssl
import subprocess
import threading

from kit.harness import (REPOSITORY, Buyer, Closed, Connection, Failure, Server, equal, eventually, request_bytes, skip, spare_port,
                         temp_folder, true)
from kit.push_client import handshake

BURST = 40
SETTINGS = {"limits.address_per_s": 1, "limits.address_burst": BURST, "proxy.trusted": "127.0.0.1"}
SEARCH = os.environ["PATH"] + ":/usr/sbin"


def program(name):
    return shutil.which(name, path=SEARCH) or skip(f"{name} is not installed")


def text_of(*path):
    with open(os.path.join(REPOSITORY, *path)) as file:
        return file.read()


def replaced(text, changes):
    """Each of the changes must find its place."""
    for old, new in changes.items():
        true(old in text, f"the example does not say {old!r}")
        text = text.replace(old, new)
    return text


class Front:
    """A proxy in front of one server, for a client at another address of this machine."""

    def __init__(self, server, source, tls=False):
        self.server, self.source, self.tls, self.port = server, source, tls, spare_port()

    def connect(self, timeout_s=20):
        connection = Connection.__new__(Connection)
        connection.rest = b""
        connection.socket = socket.create_connection(("127.0.0.1", self.port), timeout_s, (self.source, 0))
        if self.tls:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            connection.socket = context.wrap_socket(connection.socket)
        return connection

    def request(self, method, path, body=None, headers=None, session=None, timeout_s=20):
        fields = {**(headers or {}), **({"Authorization": f"Bearer {session}"} if session else {})}
        with self.connect(timeout_s) as connection:
            return connection.request(method, path, body, fields)

    def get(self, path, session=None, **more):
        return self.request("GET", path, session=session, **more)

    def answers(self):
        try:
            return self.get("/livez").status == 200
        except (OSError, Closed):
            return False

    def push_status(self, session):
        """What a page of this very address gets when it opens its push connection."""
        scheme = "https" if self.tls else "http"
        host = f"127.0.0.1:{self.port}"
        with self.connect() as connection:
            connection.send(handshake(session, headers={"Host": host, "Origin": f"{scheme}://{host}"})[0])
            return connection.read_reply(head_only=True).status


def purchase_made(front, item):
    buyer = Buyer(front)
    order = buyer.order(buyer.win(item)["ticket"])
    equal(order["state"], "pending")
    equal(front.push_status(buyer.session), 101, "push behind the proxy")


def limit_counts_the_client(front, servers=1):
    """Whatever the client says of itself, it is one client; a neighbour has a rate of its own. Several servers tell each other, but
    not at once: then each may let the burst through."""
    with front.connect() as connection:  # one connection: faster than the rate comes back, on any machine
        statuses = [connection.request("GET", "/v1/time", None, {"X-Forwarded-For": f"203.0.113.{n}"}).status
                    for n in range(servers * BURST + 20)]
    true(429 in statuses, "a client that names other addresses is never too fast")
    neighbour = Front(front.server, front.source[:-1] + "9", front.tls)
    neighbour.port = front.port
    equal(neighbour.get("/v1/time").status, 200, "one client uses up the rate of another")


class Proxied(Server):
    """A server that takes connections with a PROXY header only, tests' own ones too."""

    def connect(self, timeout_s=20, source=None):
        connection = super().connect(timeout_s, source)
        connection.send(b"PROXY UNKNOWN\r\n")
        return connection


def nginx_command(text, folder):
    path = os.path.join(folder, "nginx.conf")
    with open(path, "w") as file:
        file.write(text)
    directives = f"daemon off; pid {folder}/pid; error_log {folder}/error.log;"
    command = [program("nginx"), "-p", folder, "-c", path, "-g", directives]
    tested = subprocess.run([*command, "-t"], capture_output=True, text=True)
    equal(tested.returncode, 0, tested.stderr)
    return command


def haproxy_command(text):
    path = os.path.join(temp_folder(), "haproxy.cfg")
    with open(path, "w") as file:
        file.write(replaced(text, {"maxconn 100000": "maxconn 1000"}))  # fewer files may be open here
    tested = subprocess.run([program("haproxy"), "-c", "-f", path], capture_output=True, text=True)
    equal(tested.returncode, 0, tested.stdout + tested.stderr)
    return [program("haproxy"), "-db", "-f", path]


# ---- several gateways --------------------------------------------------------------------------------

PAUSE_S = 0.05  # between two purchases of a visitor: below the limits of the proxies
EXAMPLES = ("10.0.0.21:8080", "10.0.0.22:8080", "10.0.0.23:8080")


class GatewaysFront(Front):
    """A proxy in front of the three gateways of a shop. kind: of the proxy."""
    kind, file, listens = "", "", ""

    def __init__(self, shop, source="127.0.8.1"):
        super().__init__(shop.worker, source)
        self.shop, self.process = shop, None

    def text(self):
        changes = {example: f"127.0.0.1:{gateway.port}" for example, gateway in zip(EXAMPLES, self.shop.gateways, strict=True)}
        return replaced(text_of("deploy", "cluster", self.file), {**changes, self.listens[0]: self.listens[1].format(port=self.port)})

    def start(self):
        self.process = subprocess.Popen(self.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        atexit.register(self.end)
        eventually(self.answers, f"{self.kind} does not answer")
        return self

    def end(self):
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait()


class NginxFront(GatewaysFront):
    kind, file, listens = "nginx", "nginx.conf", ("listen 8000", "listen 127.0.0.1:{port}")
    gateway_settings, gateway_kind = {"proxy.trusted": "127.0.0.1"}, Server

    def command(self):
        return nginx_command(self.text(), temp_folder())


class HaproxyFront(GatewaysFront):
    kind, file, listens = "haproxy", "haproxy.cfg", ("bind :8000", "bind 127.0.0.1:{port}")
    gateway_settings, gateway_kind = {"proxy.trusted": "127.0.0.1", "proxy.protocol": "on"}, Proxied

    def command(self):
        return haproxy_command(self.text())


FRONTS = {"nginx": NginxFront, "haproxy": HaproxyFront}


class Load:
    """Visitors behind a proxy, each at an address of its own: a session, a pass, a purchase with a key, the order, and again.

    answers counts (what was asked, the answer), where the answer is a status, or a word if there was none. told: ticket → user."""
    LOST = ("closed", "timeout", "proxy 502", "proxy 503", "proxy 504")

    def __init__(self, front, item, visitors=12):
        self.front, self.item, self.visitors = front, item, visitors
        self.ending, self.lock = threading.Event(), threading.Lock()
        self.answers, self.told, self.deciding, self.threads = collections.Counter(), {}, {}, []
        self.wrong = []

    def start(self):
        self.threads = [threading.Thread(target=self.visit, args=(number,), daemon=True) for number in range(self.visitors)]
        for thread in self.threads:
            thread.start()
        return self

    def end(self):
        self.ending.set()
        for thread in self.threads:
            thread.join(120)
        true(not any(thread.is_alive() for thread in self.threads), "a visitor waits for ever")
        if self.wrong:
            raise Failure(self.wrong[0])
        return self

    def lost(self, *whats):
        """Requests of these kinds without an answer."""
        return {key: count for key, count in self.answers.items() if key[1] in self.LOST and (not whats or key[0] in whats)}

    def visit(self, number):
        source, dice = f"127.0.9.{number + 1}", random.Random(number)
        front = Front(self.front.server, source)
        front.port = self.front.port
        state = {"connection": None}
        while not self.ending.wait(PAUSE_S):
            try:
                self.one_purchase(front, state, dice)
            except Exception as error:  # a thread can only report
                self.wrong.append(repr(error))
                return

    def one_purchase(self, front, state, dice):
        opened = self.ask(front, state, "session", request_bytes("POST", "/v1/session"))
        if opened is None or opened.status != 201:
            return
        user, session = opened.json()["user"], {"Authorization": f"Bearer {opened.json()['session']}"}
        given = self.ask(front, state, "pass", request_bytes("POST", f"/v1/items/{self.item}/pass", None, session))
        if given is None or given.status != 201:
            return
        fields = {"Stampede-Pass": given.json()["pass"], "Idempotency-Key": f"front-{dice.getrandbits(64):x}"}
        bought = self.ask(front, state, "buy", request_bytes("POST", f"/v1/items/{self.item}/buy", None, fields))
        if bought is None or bought.status != 202:
            return
        ticket = bought.json()["ticket"]
        with self.lock:
            (self.told if bought.json()["outcome"] == "won" else self.deciding)[ticket] = user
        self.ask(front, state, "view", request_bytes("GET", f"/v1/tickets/{ticket}?wait=5", None, session))

    def ask(self, front, state, what, data):
        """The reply; None: there was none. One connection for each visitor, as long as it lives. A kept connection that the proxy has
        closed meanwhile, before a byte of an answer, is the client's own matter: once more on a new one, as every client does."""
        kept = state["connection"] is not None
        try:
            if not kept:
                state["connection"] = front.connect(60)
            state["connection"].send(data)
            reply = state["connection"].read_reply()
            of_proxy = reply.status >= 500 and reply.headers.get("content-type") != "application/problem+json"
            answer = f"proxy {reply.status}" if of_proxy else reply.status
            if reply.headers.get("connection") == "close":
                state["connection"].close()
                state["connection"] = None
        except (OSError, Closed) as error:
            if state["connection"] is not None:
                state["connection"].close()
                state["connection"] = None
            if kept and isinstance(error, (Closed, ConnectionError)) and not getattr(error, "rest", b""):
                with self.lock:
                    self.answers[what, "kept connection closed"] += 1
                return self.ask(front, state, what, data)
            reply, answer = None, "timeout" if isinstance(error, TimeoutError) else "closed"
        with self.lock:
            self.answers[what, answer] += 1
        return reply
