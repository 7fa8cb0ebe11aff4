# SPDX-License-Identifier: Apache-2.0
"""What a crowd on push connections costs everybody else: one change of an item is told to all who watch it."""
import resource
import socket
import threading

from bars import Ended
from growth_kit import shop
from kit.push_client import handshake

SOCKETS = 10000
SPARE_FILES = 500
PROBES_PER_S = 2000
PROBE_CONNECTIONS = 16
SECONDS = 6
CHANGE_SECONDS = 0.5
P99_MS = 5
RECEIVE_BYTES = 16384
EXPLAINED = "docs/performance.md#push"


def watcher(server, session, item):
    """A push connection that follows an item and never reads what comes: it fits into the kernel's buffers."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    connection.sendall(handshake(session, f"/v1/push?watch={item}", {"Host": f"127.0.0.1:{server.port}"})[0])
    answer = connection.recv(RECEIVE_BYTES)
    if not answer.startswith(b"HTTP/1.1 101 "):
        raise Ended(f"push: {answer[:200]!r}")
    return connection


class Changes(threading.Thread):
    """Pauses and resumes the sale of an item, so that all who watch it are told, twice a second."""

    def __init__(self, server, sale):
        super().__init__(daemon=True)
        self.server, self.sale = server, sale
        self.over = threading.Event()
        self.made = 0
        self.start()

    def run(self):
        while not self.over.wait(CHANGE_SECONDS):
            self.server.admin(f"/sales/{self.sale}/{'resume' if self.made % 2 else 'pause'}")
            self.made += 1


def probe(lab, server, source):
    result = lab.load.run(server.port, source, PROBE_CONNECTIONS, 1, SECONDS, 0.5, ["--rate", str(PROBES_PER_S), "--sleep"])
    if set(result["status"]) != {"200"} or result["errors"]:
        raise Ended(f"expected only 200: {result['status']}, {result['errors']} errors")
    return result["p99_us"] / 1000, result["max_us"] / 1000


def push():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < SOCKETS + SPARE_FILES:
        raise Ended(f"the limit of open files is {hard:,}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, SOCKETS + SPARE_FILES), hard))
    sockets = []
    try:
        with shop(10000, [f"server.connections_max={SOCKETS * 3 // 2}"]) as (lab, server):
            item = server.open_item(1000)
            source = ["--template", lab.template("GET /v1/time HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")]
            sockets = [watcher(server, session, item) for session in server.sessions(0, SOCKETS)]
            alone = probe(lab, server, source)
            told = server.metric("stampede_push_messages_total")
            changes = Changes(server, 1)
            p99, slowest = probe(lab, server, source)
            changes.over.set()
            changes.join()
            told = (server.metric("stampede_push_messages_total") - told) / SOCKETS
            return (f"{SOCKETS:,} sockets, {changes.made} changes, each told {told:.1f} times: other requests p99 {p99:.2f}, "
                    f"slowest {slowest:.1f} ms; {alone[0]:.2f} and {alone[1]:.1f} without",
                    p99 <= P99_MS and told >= changes.made - 1)
    finally:
        for connection in sockets:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def parts(bars):
    bars.part("4 push", f"{SOCKETS:,} sockets are told of each change, and others are answered within {P99_MS} ms (p99)", push, EXPLAINED)
