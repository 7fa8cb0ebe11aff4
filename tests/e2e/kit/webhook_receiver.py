# SPDX-License-Identifier: Apache-2.0
"""A shop's side of webhooks, standard library only: it checks every message against the Standard Webhooks
specification, written here from the specification and not from the server's code, and answers as it is told."""
import base64
import hashlib
import hmac
import http.server
import json
import os
import threading
import time

SECRET = base64.b64encode(bytes(range(7, 39))).decode()
TOLERANCE_S = 300


def signature_is_right(secret, headers, body):
    key = base64.b64decode(secret)
    name, sent_s = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not name or not sent_s.isdigit() or abs(int(sent_s) - time.time()) > TOLERANCE_S:
        return False
    right = base64.b64encode(hmac.new(key, f"{name}.{sent_s}.".encode() + body, hashlib.sha256).digest()).decode()
    given = [part.split(",", 1) for part in headers.get("webhook-signature", "").split(" ")]
    return any(len(part) == 2 and part[0] == "v1" and hmac.compare_digest(part[1], right) for part in given)


class Message:
    def __init__(self, headers, body):
        self.headers = {name.lower(): value for name, value in headers.items()}
        self.body, self.genuine = body, signature_is_right(SECRET, headers, body)
        self.at = time.monotonic()
        self.id = self.headers.get("webhook-id")
        document = json.loads(body)
        self.type, self.timestamp, self.data = document["type"], document["timestamp"], document["data"]
        self.members = list(document)


class Receiver:
    """answer(message, earlier) decides: a status, or "hang" for no answer at all. earlier: how often the id came."""

    def __init__(self, port=0, answer=lambda message, earlier: 200):
        self.answer, self.messages, self.lock = answer, [], threading.Lock()
        self.port = port
        self.closed = threading.Event()
        self.open()

    def open(self):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                message = Message(self.headers, body)
                with receiver.lock:
                    earlier = sum(1 for other in receiver.messages if other.id == message.id)
                    receiver.messages.append(message)
                status = receiver.answer(message, earlier)
                if status == "hang":
                    receiver.closed.wait(60)
                    self.close_connection = True
                    return
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Listener(http.server.ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True
            request_queue_size = 128

        self.server = Listener(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.closed.set()
        self.server.shutdown()
        self.server.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/hook"

    def of(self, order, kind=None):
        """The messages about an order, as they came."""
        with self.lock:
            return [m for m in self.messages if m.data["order"] == order and kind in (None, m.type)]


def settings_for(server, url, **more):
    """Sets the webhook of a server that does not run yet."""
    path = os.path.join(server.folder, "webhook.secret")
    with open(path, "w", encoding="ascii") as file:
        file.write(f"whsec_{SECRET}\n")
    changes = {"webhook__url": url, "webhook__secret_file": path, "webhook__allow_private": "yes", **more}
    server.write_config(**changes)
    return server
