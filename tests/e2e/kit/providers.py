# SPDX-License-Identifier: Apache-2.0
"""A payment provider of ours (tests/providers/provider_probe) and a stand-in for the provider's server, built on
a public SDK (tests/providers/*_standin.mjs), with real HTTP between them. Used by providers_test.py."""
import atexit
import base64
import http.client
import http.server
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.parse

from kit.harness import REPOSITORY, Failure, binary_path, skip

FOLDER = os.path.join(REPOSITORY, "tests", "providers")


def packages():
    """Skips the rule if the packages of the stand-ins can't be had here."""
    done = subprocess.run([os.path.join(REPOSITORY, "tools", "npm-packages"), FOLDER], capture_output=True, text=True)
    if done.returncode != 0:
        skip(done.stdout.strip().splitlines()[-1] if done.stdout.strip() else "npm-packages failed")


def encoded(data):
    return base64.b64encode(data).decode()


def now_ms(shift_s=0):
    return int((time.time() + shift_s) * 1000)


class Child:
    """A process that ends when its standard input closes."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        atexit.register(self.end)

    def end(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode

    def line(self):
        text = self.process.stdout.readline()
        if not text:
            raise Failure(f"{self.process.args[0]} ended with {self.end()}")
        return json.loads(text)


class Probe(Child):
    def __init__(self):
        path = os.path.join(os.path.dirname(binary_path()), "tests", "providers", "provider_probe")
        if not os.path.exists(path):
            raise Failure(f"{path} is not built: make probes")
        super().__init__([path])
        self.lock = threading.Lock()

    def do(self, **command):
        with self.lock:
            self.process.stdin.write(json.dumps(command).encode() + b"\n")
            self.process.stdin.flush()
            return self.line()

    def callback(self, head, body, shift_s=0):
        return self.do(do="callback", head=encoded(head), body=encoded(body), query="", now_ms=now_ms(shift_s))

    def read(self, task, status, head, reply, **more):
        return self.do(do="read", status=status, head=encoded(head), reply=encoded(reply), **{**task, **more})


class Standin(Child):
    def __init__(self, name):
        self.folder = tempfile.mkdtemp(prefix="stampede-standin-")
        atexit.register(shutil.rmtree, self.folder, True)
        super().__init__(["node", os.path.join(FOLDER, f"{name}_standin.mjs"), self.folder])
        told = self.line()
        self.port, self.settings = told["port"], told["settings"]

    def test(self, what, **query):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request("POST", f"/test/{what}?{urllib.parse.urlencode(query)}")
        reply = connection.getresponse()
        body = reply.read()
        connection.close()
        if reply.status >= 300:
            raise Failure(f"the stand-in's {what}: {reply.status} {body[:300]}")
        return json.loads(body) if body else None

    def callback(self, what="callback", **query):
        """(head, body) of a callback as it would come."""
        made = self.test(what, **query)["callback"]
        return head_bytes(made["headers"].items()), made["body"].encode()


def head_bytes(pairs):
    return "".join(f"{name}: {value}\r\n" for name, value in pairs).encode("latin-1")


def send(request):
    """What the courier does with a request: (status, head, body)."""
    url = urllib.parse.urlsplit(request["url"])
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=20)
    headers = dict(line.split(": ", 1) for line in request["headers"].splitlines())
    target = url.path + (f"?{url.query}" if url.query else "")
    connection.request(request["method"], target, request["body"].encode() or None, headers)
    reply = connection.getresponse()
    answer = reply.status, head_bytes(reply.getheaders()), reply.read()
    connection.close()
    return answer


class Receiver:
    """The address that callbacks go to: what the provider says about each decides what is answered."""

    def __init__(self, probe):
        receiver = self
        self.said = []
        receipts = probe.do(do="receipts")

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                said = probe.callback(head_bytes(self.headers.items()), body)
                receiver.said.append(said)
                receipt = receipts["refused" if said["word"] == "forged" else "taken"]
                self.send_response(receipt["status"])
                self.send_header("Content-Type", receipt["type"])
                self.end_headers()
                self.wfile.write(receipt["body"].encode())

            def log_message(self, *_):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1/payments/callback"


class Shop:
    """One provider, opened against its stand-in."""

    def __init__(self, name, **settings):
        self.name = name
        self.probe, self.standin = Probe(), Standin(name)
        self.open(**settings)
        self.receiver = Receiver(self.probe)
        self.count = 0

    def open(self, **settings):
        self.settings = {**self.standin.settings, **settings}
        return self.probe.do(do="open", provider=self.name, settings=self.settings)

    def task(self, act, payment, **more):
        return {"act": act, "title": "限量 / 球鞋 = 1 & \"第二\"", "notify_url": self.receiver.url,
                "return_url": "https://shop.example/back?a=1&b=2", "now_ms": now_ms(), "expires_ms": now_ms(900), "currency": "CNY",
                **payment, **more}

    def payment(self, amount=129901):
        self.count += 1
        return {"reference": f"{id(self) & 0xffffffffffff:016x}-{self.count}", "amount": amount}

    def ask(self, act, payment, **more):
        """Asks over HTTP and reads the answer: what the provider says. The raw answer stays in self.last."""
        task = self.task(act, payment, **more)
        request = self.probe.do(do="ask", **task)
        if not request["send"]:
            return request["said"]
        self.last = (task, request, *send(request))
        return self.probe.read(task, *self.last[2:])
