# SPDX-License-Identifier: Apache-2.0
"""The proxies of deploy/ and of docs/operations.md, real ones, with the files as they are but for ports and certificates: a whole
purchase and a push connection go through, limits count the client and not the proxy, and what is inside stays inside."""
import os
import re
import shutil
import socket
import ssl
import subprocess

from kit.harness import (REPOSITORY, Buyer, Closed, Connection, Server, binary_path, equal, eventually, rule, run, skip, spare_port,
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


def limit_counts_the_client(front):
    """Whatever the client says of itself, it is one client; a neighbour has a rate of its own."""
    with front.connect() as connection:  # one connection: faster than the rate comes back, on any machine
        statuses = [connection.request("GET", "/v1/time", None, {"X-Forwarded-For": f"203.0.113.{n}"}).status
                    for n in range(BURST + 20)]
    true(429 in statuses, "a client that names other addresses is never too fast")
    neighbour = Front(front.server, front.source[:-1] + "9", front.tls)
    neighbour.port = front.port
    equal(neighbour.get("/v1/time").status, 200, "one client uses up the rate of another")


def tried(front, command, hides_inside=True):
    item = front.server.open_item(total=5)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        eventually(front.answers, "the proxy does not answer")
        purchase_made(front, item)
        if hides_inside:
            for path in ("/metrics", "/admin/v1/sales"):
                equal(front.get(path).status, 404, f"{path} is open to the world")
        limit_counts_the_client(front)
    finally:
        process.terminate()
        process.wait()
        front.server.stop()


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


@rule
def nginx_works_as_shipped():
    front = Front(Server(settings=SETTINGS).start(), "127.0.4.1")
    text = replaced(text_of("deploy", "nginx.conf"), {"127.0.0.1:8080": f"127.0.0.1:{front.server.port}",
                                                      "listen 8000": f"listen 127.0.0.1:{front.port}"})
    tried(front, nginx_command(text, temp_folder()))


@rule
def nginx_with_tls_works_as_documented():
    front = Front(Server(settings=SETTINGS).start(), "127.0.5.1", tls=True)
    folder = temp_folder()
    certificate, key = os.path.join(folder, "shop.pem"), os.path.join(folder, "shop.key")
    subprocess.run([program("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-subj", "/CN=sale.shop.example", "-days", "2", "-out", certificate, "-keyout", key],
                   check=True, capture_output=True)
    lines = re.search(r"```nginx\n(.*?)```", text_of("docs", "operations.md"), re.S).group(1)
    lines = replaced(lines, {"listen 443": f"listen 127.0.0.1:{front.port}", "/etc/ssl/shop.pem": certificate,
                             "/etc/ssl/shop.key": key})
    text = replaced(text_of("deploy", "nginx.conf"), {"127.0.0.1:8080": f"127.0.0.1:{front.server.port}",
                                                      "listen 8000 backlog=4096;": lines})
    tried(front, nginx_command(text, folder))


@rule
def nginx_that_passes_connections_on_works_as_shipped():
    if not os.path.exists("/usr/lib/nginx/modules/ngx_stream_module.so"):
        skip("nginx has no stream module")
    front = Front(Proxied(settings={**SETTINGS, "proxy.protocol": "on"}).start(), "127.0.6.1")
    text = replaced(text_of("deploy", "nginx-stream.conf"), {"127.0.0.1:8080": f"127.0.0.1:{front.server.port}",
                                                             "listen 8000": f"listen 127.0.0.1:{front.port}"})
    tried(front, nginx_command(text, temp_folder()), hides_inside=False)


@rule
def haproxy_works_as_shipped():
    front = Front(Proxied(settings={**SETTINGS, "proxy.protocol": "on"}).start(), "127.0.7.1")
    text = replaced(text_of("deploy", "haproxy.cfg"), {
        "127.0.0.1:8080": f"127.0.0.1:{front.server.port}", "bind :8000": f"bind 127.0.0.1:{front.port}",
        "maxconn 100000": "maxconn 1000"})  # fewer files may be open here
    path = os.path.join(temp_folder(), "haproxy.cfg")
    with open(path, "w") as file:
        file.write(text)
    tested = subprocess.run([program("haproxy"), "-c", "-f", path], capture_output=True, text=True)
    equal(tested.returncode, 0, tested.stdout + tested.stderr)
    tried(front, [program("haproxy"), "-db", "-f", path])


@rule
def every_proxy_example_names_one_server():
    """Two data folders behind one address are two stocks: purchases of one are unknown to the other."""
    for name, pattern in (("nginx.conf", r"^\s+server [\d.]+:\d+"), ("nginx-stream.conf", r"^\s+server [\d.]+:\d+"),
                          ("haproxy.cfg", r"^\s+server \w+ [\d.]+:\d+"), ("keepalived.conf", r"^\s+real_server ")):
        equal(len(re.findall(pattern, text_of("deploy", name), re.M)), 1, name)


@rule
def keepalived_understands_the_example_for_lvs():
    path = os.path.join(REPOSITORY, "deploy", "keepalived.conf")
    tested = subprocess.run([program("keepalived"), "-t", "-f", path], capture_output=True, text=True)
    equal((tested.returncode, tested.stdout + tested.stderr), (0, ""))
    text = text_of("deploy", "keepalived.conf")
    equal(text.count("path /readyz"), text.count("    real_server "), "a server without a check")
    broken = os.path.join(temp_folder(), "broken.conf")  # it would say so
    with open(broken, "w") as file:
        file.write(text.replace("HTTP_GET", "HTTP_GOT"))
    true(subprocess.run([program("keepalived"), "-t", "-f", broken], capture_output=True).returncode != 0, "anything passes")


@rule
def settings_in_the_documents_are_understood():
    """Every ```ini block of the documents, as `stampede config` reads it."""
    found = 0
    for name in sorted(os.listdir(os.path.join(REPOSITORY, "docs"))):
        if not name.endswith(".md"):
            continue
        for block in re.findall(r"```ini\n(.*?)```", text_of("docs", name), re.S):
            found += 1
            path = os.path.join(temp_folder(), "stampede.ini")
            with open(path, "w") as file:
                file.write(block)
            done = subprocess.run([binary_path(), "config", "--config", path], capture_output=True, text=True,
                                  env={"STAMPEDE_SESSION_GUESTS": "yes", **os.environ, "STAMPEDE_DATA_FOLDER": temp_folder()})
            equal(done.returncode, 0, f"{name}: {done.stderr}{done.stdout[-300:]}\n{block}")
    true(found >= 3, f"only {found} blocks found")


run()
