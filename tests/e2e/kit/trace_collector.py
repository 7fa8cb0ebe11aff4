# SPDX-License-Identifier: Apache-2.0
"""A collector of traces (OTLP over HTTP), and a shop's webhook beside it: where a purchase that is followed can be seen.

    collector = Collector()
    server = Server(settings={**collector.settings(), "trace.sample": 0})
    collector.of(trace)          # its spans, as they came in
    collector.receiver.messages  # what the shop was told
"""
import http.server
import json
import os
import threading

from kit import webhook_receiver
from kit.harness import temp_folder


class Collector:
    def __init__(self):
        self.spans, self.lock = [], threading.Lock()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                collector.take(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.receiver = webhook_receiver.Receiver()

    def take(self, document):
        with self.lock:
            for resource in document["resourceSpans"]:
                for scope in resource["scopeSpans"]:
                    self.spans.extend(scope["spans"])

    def of(self, trace):
        with self.lock:
            return [span for span in self.spans if span["traceId"] == trace]

    def settings(self):
        """Those that send traces and webhooks here."""
        path = os.path.join(temp_folder(), "webhook.secret")
        with open(path, "w", encoding="ascii") as file:
            file.write("whsec_" + webhook_receiver.SECRET)
        os.chmod(path, 0o600)
        return {"trace.endpoint": f"http://127.0.0.1:{self.server.server_port}/v1/traces", "trace.allow_private": "yes",
                "webhook.url": f"http://127.0.0.1:{self.receiver.port}/", "webhook.secret_file": path, "webhook.allow_private": "yes"}
