# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: the real program, real sockets, rules with names. Standard library only.

A test file:

    from kit.harness import Buyer, Server, equal, problem, rule, run

    server = Server(settings={"pass.life_s": 1})     # own port, own data folder, own keys; nothing runs yet
    server.start()                                   # until /readyz says ok

    @rule
    def the_last_unit_sells_once():
        item = server.open_item(total=1)             # product + sale that is open now + item, published
        first, second = Buyer(server), Buyer(server) # guests with a session each
        equal(first.buy(item).status, 202)
        problem(second.buy(item), 409, "sold-out")

    run()                                            # runs the rules in order, prints `N passed, N failed`, exits

Parts:
  Server      start, stop (SIGTERM), kill (SIGKILL), restart, reload (SIGHUP), verify(), request(), admin(), counts();
              product/sale/item/publish/open_item make things to sell. data: the folder, config: the settings file.
  Connection  one socket: send raw bytes, read replies one by one, request() with keep-alive.
  Reply       status, headers (names in lower case; a repeated one keeps all values in `all`), body, json().
  Buyer       a session (guest, or one that was given), passes, purchases, order views.
  jwt()       a shop's token, HS256.
  equal, true, among, problem, eventually: they fail with what was seen. skip(why) ends a rule as skipped.

Which binary: $E2E_SERVER, else $TEST_SERVER_ASAN, else $TEST_SERVER, else what was built in build/.
Which database: SQLite, or with $E2E_STORE a server; which inventory: the embedded one, or with $E2E_INVENTORY=redis Redis
(kit/databases.py).
All processes are ended by their id and all folders removed at exit, unless E2E_KEEP is set.
"""
import atexit
import base64
import hashlib
import hmac
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

from kit import databases

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))
# Most never look at a picture of the human check; to draw as many as usual takes an ASan server 0.6 s. Those that do set PICTURES.
FEW_PICTURES, PICTURES = {"human.pictures": 2}, {"human.pictures": 32}
# A test is many people at one address; those about limits set their own.
NO_LIMITS = {"limits.address_per_s": 0, "limits.user_requests": 0, "limits.connections_per_address": 0}
PATIENCE_S = 60  # for what must happen soon, on a machine with ten other things to do


def binary_path(plain=False):
    """plain: the release build first, for tests that start the program hundreds of times to read what it says."""
    turn = -1 if plain else 1
    built = [os.path.join(REPOSITORY, "build", kind, "stampede") for kind in ("asan", "release")][::turn]
    named = [os.environ.get(name) for name in ("TEST_SERVER_ASAN", "TEST_SERVER")][::turn]
    for path in [os.environ.get("E2E_SERVER"), *named, *built]:
        if path and os.path.exists(path):
            return path
    sys.exit("no server binary: make server, or set TEST_SERVER")


# ---- checks ------------------------------------------------------------------------------------------


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def skip(why):
    raise Skip(why)


def true(value, what="not true"):
    if not value:
        raise Failure(what)


def equal(got, wanted, what=""):
    if got != wanted:
        raise Failure(f"{f'{what}: ' if what else ''}got {got!r}, wanted {wanted!r}")


def among(got, wanted, what=""):
    if got not in wanted:
        raise Failure(f"{f'{what}: ' if what else ''}got {got!r}, wanted one of {wanted!r}")


def problem(reply, status, name, **members):
    """The reply is an RFC 9457 document of this type, whole and honest about its status. Returns it."""
    seen = f"{reply.status} {reply.body[:300]!r}"
    if reply.status != status:
        raise Failure(f"wanted {status} {name}, got {seen}")
    equal(reply.headers.get("content-type"), "application/problem+json", seen)
    document = reply.json()
    equal(document.get("type"), f"/problems/{name}", seen)
    equal(document.get("status"), status, seen)
    for member in ("title", "detail"):
        true(isinstance(document.get(member), str) and document[member], f"no {member} in {seen}")
    for member, wanted in members.items():
        equal(document.get(member), wanted, f"{member} of {seen}")
    return document


def eventually(check, what="it did not happen", patience_s=PATIENCE_S, every_s=0.02):
    """Calls check until it answers something true; returns that."""
    end = time.monotonic() + patience_s
    while True:
        answer = check()
        if answer:
            return answer
        if time.monotonic() > end:
            raise Failure(f"{what} within {patience_s} s")
        time.sleep(every_s)


def halt(pid):
    """Stops a process until it gets SIGCONT. The signal goes to one thread, and the others work on until that one has had a
    core: on a busy machine that is long enough to answer something."""
    os.kill(pid, signal.SIGSTOP)
    eventually(lambda: stands_still(pid), f"process {pid} does not stand still", every_s=0.001)


def stands_still(pid):
    tasks, states = f"/proc/{pid}/task", set()
    for task in os.listdir(tasks):
        try:
            with open(os.path.join(tasks, task, "stat")) as file:
                states.add(file.read().rsplit(")", 1)[1].split()[0])
        except FileNotFoundError:  # the thread has ended
            pass
    return states == {"T"}


# ---- HTTP --------------------------------------------------------------------------------------------


class Reply:
    def __init__(self, status, head, body):
        self.status, self.head, self.body = status, head, body
        self.headers, self.all = {}, {}
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.decode("latin-1").partition(":")
            self.headers[name.strip().lower()] = value.strip()
            self.all.setdefault(name.strip().lower(), []).append(value.strip())

    def json(self):
        try:
            return json.loads(self.body)
        except ValueError as wrong:
            raise Failure(f"not JSON ({wrong}): {self.status} {self.body[:300]!r}") from None

    def __repr__(self):
        return f"<Reply {self.status} {self.body[:200]!r}>"


class Closed(Exception):
    """The server has closed the connection; `rest` is what came before and is no whole reply."""

    def __init__(self, rest):
        super().__init__(f"connection closed after {len(rest)} bytes")
        self.rest = rest


class Connection:
    """One client socket. Replies are read in order; requests may be sent before earlier ones are answered."""

    def __init__(self, port, timeout_s=PATIENCE_S, address="127.0.0.1", source=None):
        """source: the address of this machine that it comes from; 127.x.y.z are all there."""
        self.socket = socket.create_connection((address, port), timeout_s, source and (source, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def _more(self):
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        if not data:
            raise Closed(self.rest)
        self.rest += data

    def read_reply(self, head_only=False):
        """One whole reply; 1xx ones are replies too. Raises Closed at the end, socket.timeout if nothing comes."""
        while b"\r\n\r\n" not in self.rest:
            self._more()
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        line = head.split(b"\r\n")[0].split(b" ")
        true(len(line) >= 3 and line[0] == b"HTTP/1.1", f"status line {head[:80]!r}")
        reply = Reply(int(line[1]), head, b"")
        size = 0 if head_only or reply.status in (204, 304) or reply.status < 200 \
            else int(reply.headers["content-length"])
        while len(self.rest) < size:
            self._more()
        reply.body, self.rest = self.rest[:size], self.rest[size:]
        return reply

    def read_all(self):
        """Whatever comes until the server closes."""
        try:
            while True:
                self._more()
        except Closed:
            data, self.rest = self.rest, b""
            return data

    def closes(self):
        """True if nothing more comes and the server closes the connection."""
        try:
            self._more()
        except Closed:
            return self.rest == b""
        except socket.timeout:
            return False
        return False

    def request(self, method, path, body=None, headers=None):
        self.send(request_bytes(method, path, body, headers))
        return self.read_reply(head_only=method == "HEAD")


def request_bytes(method, path, body=None, headers=None):
    """A well-formed request. A body that is not bytes is sent as JSON."""
    fields = {"Host": "shop.test"}
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
        fields["Content-Type"] = "application/json"
    fields.update(headers or {})
    if body is not None or method in ("POST", "PATCH", "PUT"):
        fields.setdefault("Content-Length", str(len(body or b"")))
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b"")


# ---- the server --------------------------------------------------------------------------------------

running = []
folders = []


def temp_folder(prefix="stampede-e2e-"):
    folder = tempfile.mkdtemp(prefix=prefix)
    folders.append(folder)
    return folder


ports_given = set()


def spare_port():
    """A port nobody listens on, below the range that outgoing connections use. This process gets it once."""
    for _ in range(100):
        port = random.randrange(20000, 32000)
        if port in ports_given:
            continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                ports_given.add(port)
                return port
            except OSError:
                continue
    raise Failure("no spare port")


def _end():
    for server in list(running):
        if server.process is not None and server.process.poll() is None:
            server.process.kill()
            server.process.wait()
    if not os.environ.get("E2E_KEEP"):
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)


atexit.register(_end)


def admin_key(name):
    """Of the form that `stampede key new` writes."""
    return "sk_" + base64.urlsafe_b64encode(hashlib.sha256(f"e2e {name}".encode()).digest()).rstrip(b"=").decode()


def places_of(counts):
    """All units of an item that stand somewhere."""
    return sum(counts[name] for name in ("free", "held", "sold", "safety", "written_off"))


class Server:
    """One server with its own folder, port and keys. settings: {"pass.life_s": 1, …} on top of a guest shop.

    Admin keys of all three roles: self.keys["viewer"], ["operator"], ["admin"]. host: where it can be reached.
    data: use this data folder instead of a new one. wrapper: words before the command (strace …)."""

    host = "127.0.0.1"

    def __init__(self, settings=None, data=None, binary=None, wrapper=(), preexec=None, environment=None):
        self.binary = binary or binary_path()
        self.folder = temp_folder()
        self.data = data or os.path.join(self.folder, "data")
        self.config = os.path.join(self.folder, "stampede.ini")
        self.log_path = os.path.join(self.folder, "log")
        self.wrapper, self.preexec = list(wrapper), preexec
        self.environment = environment or {}
        self.port = spare_port()
        self.process = None
        self.keys = {}
        self.settings = {"server.port": self.port, "server.drain_ms": 3000, "data.folder": self.data,
                         "data.tickets_max": 100000, "data.segment_bytes": 4 * 1024 * 1024,
                         "session.guests": "yes", "admin.keys": self.write_keys(), **NO_LIMITS, **FEW_PICTURES,
                         **(settings or {})}
        kind = os.environ.get("E2E_STORE", "sqlite")
        self.tables_wanted = kind != "sqlite" and data is None and "store.kind" not in self.settings
        if self.tables_wanted:
            self.settings.update(databases.fresh(kind)[0])
            if os.environ.get("E2E_INVENTORY") == "redis":
                self.settings.update(databases.inventory_settings(self.folder))
        self.write_config()
        running.append(self)

    def write_keys(self, tag=""):
        path = os.path.join(self.folder, "admin.keys")
        self.keys = {role: admin_key(f"{role}{tag}") for role in ("viewer", "operator", "admin")}
        with open(path, "w") as file:
            for role, key in self.keys.items():
                file.write(f"{role}:{role}:{hashlib.sha256(key.encode()).hexdigest()}\n")
        return path

    def write_config(self, **changes):
        self.settings.update({name.replace("__", "."): value for name, value in changes.items()})
        sections = {}
        for name, value in self.settings.items():
            section, _, key = name.partition(".")
            sections.setdefault(section, []).append(f"{key} = {value}\n")
        with open(self.config, "w") as file:
            for section, lines in sections.items():
                file.write(f"[{section}]\n" + "".join(lines) + "\n")

    # -- life --

    def spawn(self, is_refused=False):
        """Starts the process and returns at once. is_refused: its settings may be wrong, for whoever makes the tables, too."""
        if self.tables_wanted:
            self.tables_wanted = False
            done = databases.migrate(self)
            true(is_refused or done.returncode == 0, f"no tables: {done.stdout}{done.stderr}")
        environment = {**os.environ, **self.environment}
        environment.setdefault("ASAN_OPTIONS", "detect_leaks=1")
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [*self.wrapper, self.binary, "serve", "--config", self.config], stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, env=environment, preexec_fn=self.preexec)
        return self

    def start(self, patience_s=PATIENCE_S):
        self.spawn()
        end = time.monotonic() + patience_s
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise Failure(f"the server ended with {self.process.returncode}:\n{self.log()[-2000:]}")
            try:
                if self.request("GET", "/readyz").status == 200 and self.keeps_all():
                    return self
            except (OSError, Closed):
                pass
            time.sleep(0.01)
        raise Failure(f"not ready within {patience_s} s:\n{self.log()[-2000:]}")

    def keeps_all(self):
        """Redis: after a kill the leases of the dead process must be over first; until then wins are being decided."""
        if self.settings.get("inventory.kind") != "redis":
            return True
        metrics = self.request("GET", "/metrics").body.decode()
        kept = [int(n) for n in re.findall(r"^stampede_partitions_open (\d+)$", metrics, re.M)]
        followed = [int(n) for n in re.findall(r'^stampede_partitions\{state="\w+"\} (\d+)$', metrics, re.M)]
        return sum(kept) >= sum(followed)

    def start_refused(self, patience_s=PATIENCE_S):
        """Starts a server that must not start: (exit code, what it wrote)."""
        before = len(self.log())
        self.spawn(is_refused=True)
        try:
            code = self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failure("it runs, but should have refused to start") from None
        return code, self.log()[before:]

    def wait(self, patience_s=PATIENCE_S):
        return self.process.wait(patience_s)

    def stop(self, patience_s=PATIENCE_S):
        """SIGTERM; the exit code must be 0 (leaks found by a sanitizer make it something else)."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        code = self.wait(patience_s)
        if code != 0:
            raise Failure(f"exit code {code} after SIGTERM:\n{self.log()[-3000:]}")

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def verify(self):
        """`stampede verify` finds every unit accounted for; not while the server runs."""
        done = self.verify_run()
        equal(done.returncode, 0, f"verify says:\n{done.stdout[-2000:]}{done.stderr[-2000:]}\n")

    def verify_run(self, *options):
        """`stampede verify` with what this server has: its folder, the settings of its database, or both."""
        folder = [] if self.settings.get("inventory.kind") == "redis" else [self.data]
        settings = ["--config", self.config] if self.settings.get("store.kind", "sqlite") != "sqlite" else []
        return subprocess.run([self.binary, "verify", *folder, *settings, *options], capture_output=True, text=True,
                              timeout=120)

    def sql(self, *statements):
        """Rows of the last one, from the database of a stopped server; of a running one if they only read. A statement is
        a text, or (text with ?, (values))."""
        return databases.sql_run(self, statements)

    def restart(self, kill=False):
        if kill:
            self.kill()
        else:
            self.stop()
        return self.start()

    def reload(self):
        """SIGHUP, and until the log says that it was seen."""
        before = len(self.log())
        self.process.send_signal(signal.SIGHUP)
        eventually(lambda: "settings reloaded" in self.log()[before:]
                   or "settings not reloaded" in self.log()[before:], "no reload")
        time.sleep(0.15)  # edges take it up in their next turn
        return self.log()[before:]

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def log(self):
        if not os.path.exists(self.log_path):
            return ""
        with open(self.log_path, errors="replace") as file:
            return file.read()

    # -- asking --

    def connect(self, timeout_s=PATIENCE_S, source=None):
        return Connection(self.port, timeout_s, self.host, source)

    def request(self, method, path, body=None, headers=None, session=None, timeout_s=PATIENCE_S):
        """One request on a connection of its own."""
        fields = dict(headers or {})
        if session is not None:
            fields["Authorization"] = f"Bearer {session}"
        with self.connect(timeout_s) as connection:
            return connection.request(method, path, body, fields)

    def get(self, path, session=None, **more):
        return self.request("GET", path, session=session, **more)

    def raw(self, data, timeout_s=PATIENCE_S):
        """Sends bytes, returns everything that came back until the server closed (or the timeout)."""
        with self.connect(timeout_s) as connection:
            try:
                connection.send(data)
            except OSError:
                pass
            try:
                return connection.read_all()
            except socket.timeout:
                return connection.rest

    def admin(self, method, path, body=None, role="admin", headers=None, timeout_s=PATIENCE_S):
        fields = {"Authorization": f"Bearer {self.keys[role]}", **(headers or {})}
        return self.request(method, "/admin/v1" + path, body, fields, timeout_s=timeout_s)

    def admin_ok(self, method, path, body=None, role="admin"):
        reply = self.admin(method, path, body, role)
        among(reply.status, (200, 201), f"{method} {path} {body}: {reply.body[:300]!r}")
        return reply.json()

    def now_ms(self):
        return self.get("/v1/time").json()["now_ms"]

    def counts(self, item, at_rest=True):
        """given, free, held, sold, safety, written_off and channels, as the inventory has them. Not at rest: units may be on
        their way between shards, and stand nowhere."""
        counts = self.admin_ok("GET", f"/items/{item}/counts", role="viewer")["counts"]
        if counts is not None and at_rest:
            equal(counts["given"], places_of(counts), f"counts don't add up: {counts}")
            equal(counts["free"], sum(counts["channels"].values()), f"channels don't add up: {counts}")
        return counts

    def item_orders(self, item):
        """How many order rows and units the database has for an item."""
        answer = self.admin_ok("GET", f"/items/{item}/counts", role="viewer")
        return answer["orders"], answer["units_ordered"]

    def metrics(self):
        """{"name" or 'name{labels}': value}"""
        values = {}
        for line in self.get("/metrics").body.decode().splitlines():
            if line and not line.startswith("#"):
                name, _, value = line.rpartition(" ")
                values[name] = float(value)
        return values

    # -- things to sell --

    def product(self, **fields):
        body = {"name": "Phone", "description": "A phone.", "images": ["/demo/phone.svg"], "list_price": 499900,
                "currency": "CNY", **fields}
        return self.admin_ok("POST", "/products", body)["id"]

    def sale(self, start_in_ms=-1000, lasts_ms=3600000, **fields):
        """Units go to whoever asks first, returned ones at once, unless the fields say otherwise."""
        now = self.now_ms()
        body = {"title": "Sale", "start_ms": now + start_in_ms, "end_ms": now + start_in_ms + lasts_ms,
                "cooldown_s": 0, "return_draw_ms": 0, "start_draw_ms": 0, **fields}
        return self.admin_ok("POST", "/sales", body)["id"]

    def item(self, sale, product=None, **fields):
        body = {"sale": sale, "product": product or self.product(), "flash_price": 99900, "total": 10, **fields}
        return self.admin_ok("POST", "/items", body)["id"]

    def publish(self, sale, visible=True):
        answer = self.admin_ok("POST", f"/sales/{sale}/publish")
        if visible:
            eventually(lambda: self.get(f"/v1/sales/{sale}").status == 200, "the sale is not shown")
        return answer

    def open_item(self, total=10, sale_fields=None, **fields):
        """An item of a sale of its own that sells now. Its sale: server.sale_of(item)."""
        sale = self.sale(**(sale_fields or {}))
        item = self.item(sale, total=total, **fields)
        self.publish(sale)
        return item

    def sale_of(self, item):
        return self.get(f"/v1/items/{item}").json()["sale"]


class Buyer:
    """One user. Keeps a session, and gets a fresh pass for every purchase unless told which to use."""

    def __init__(self, server, token=None):
        self.server = server
        reply = server.request("POST", "/v1/session", session=token)
        equal(reply.status, 201, f"session: {reply.body[:200]!r}")
        self.session = reply.json()["session"]
        self.user = reply.json()["user"]
        self.expires_ms = reply.json()["expires_ms"]

    def ask_pass(self, item):
        return self.server.request("POST", f"/v1/items/{item}/pass", session=self.session)

    def get_pass(self, item):
        reply = self.ask_pass(item)
        equal(reply.status, 201, f"pass: {reply.body[:200]!r}")
        return reply.json()["pass"]

    def purchase_request(self, item, quantity=None, key=None, channel=None, body=None, give=None, headers=None):
        """The bytes of a purchase. body: exact bytes instead of quantity and channel."""
        fields = {"Stampede-Pass": give or self.get_pass(item)}
        if key is not None:
            fields["Idempotency-Key"] = key
        if body is None and (quantity is not None or channel is not None):
            wish = {"quantity": quantity, "channel": channel}
            body = {name: value for name, value in wish.items() if value is not None}
        fields.update(headers or {})
        return request_bytes("POST", f"/v1/items/{item}/buy", body, fields)

    def buy(self, item, quantity=None, key=None, channel=None, body=None, give=None, headers=None):
        data = self.purchase_request(item, quantity, key, channel, body, give, headers)
        with self.server.connect() as connection:
            connection.send(data)
            return connection.read_reply()

    def win(self, item, **wish):
        reply = self.buy(item, **wish)
        equal(reply.status, 202, f"purchase: {reply.body[:300]!r}")
        return reply.json()

    def wait(self, item, body=None, give=None):
        """Asks for a place in the item's waitlist."""
        return self.server.request("POST", f"/v1/items/{item}/waitlist", body,
                                   {"Stampede-Pass": give or self.get_pass(item)}, self.session)

    def get(self, path, **more):
        return self.server.get(path, session=self.session, **more)

    def mine(self, item):
        return self.get(f"/v1/items/{item}/mine").json()

    def order(self, ticket, wait=20):
        """The order of a ticket, once it is written: on Redis it may be being decided first."""
        def written():
            reply = self.get(f"/v1/tickets/{ticket}?wait={wait}", timeout_s=wait + 10)
            equal(reply.status, 200, f"order: {reply.body[:200]!r}")
            return reply.json() if reply.json()["state"] != "deciding" else None
        return eventually(written, f"ticket {ticket} is being decided")


# ---- the shop's tokens -------------------------------------------------------------------------------


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def jwt(claims, secret, kid=None, header=None):
    """A token as a shop would sign it with HS256. claims: {"sub": …, "exp": seconds}."""
    fields = {"alg": "HS256", "typ": "JWT", **({"kid": kid} if kid else {}), **(header or {})}
    signed = ".".join(base64url(json.dumps(part).encode()) for part in (fields, claims))
    mac = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{base64url(mac)}"


# ---- rules -------------------------------------------------------------------------------------------

rules = []


def rule(test):
    """Registers a test; its name is the rule."""
    rules.append(test)
    return test


def _run_one(test):
    began = time.monotonic()
    name = test.__name__.replace("_", " ")
    try:
        test()
        verdict, why = "ok", ""
    except Skip as reason:
        verdict, why = "skip", f": {reason}"
    except Failure as failure:
        place = traceback.extract_tb(failure.__traceback__)
        lines = ", ".join(f"{os.path.basename(at.filename)}:{at.lineno}" for at in place[1:])
        verdict, why = "FAIL", f": {failure} ({lines})"
    except Exception:  # a test that breaks is a test that fails
        verdict, why = "FAIL", ":\n" + traceback.format_exc()
    print(f"{verdict:4} {time.monotonic() - began:5.1f}s {name}{why}", flush=True)
    return verdict


def run(stop=True):
    """Runs the rules (those whose name contains argv[1], if given), stops the servers, prints totals, exits."""
    only = sys.argv[1].replace(" ", "_") if len(sys.argv) > 1 else ""
    verdicts = [_run_one(test) for test in rules if only in test.__name__]
    if not verdicts:
        sys.exit(f"no rule has {only!r} in its name")
    if stop:
        for server in running:
            if server.alive():
                def the_server_stops_cleanly_and_its_data_verifies(server=server):
                    server.stop()
                    server.verify()
                verdicts.append(_run_one(the_server_stops_cleanly_and_its_data_verifies))
    for server in running:
        for word in ("ERROR: AddressSanitizer", "runtime error:", "ERROR: LeakSanitizer", "invariant"):
            if word in server.log():
                print(f"FAIL the server's log says {word}:\n{server.log()[-4000:]}")
                verdicts.append("FAIL")
                break
    if "FAIL" in verdicts:
        for server in running[-3:]:
            print(f"---- end of the log of {server.folder}\n{server.log()[-1500:]}")
    failed, passed, skipped = (verdicts.count(word) for word in ("FAIL", "ok", "skip"))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 77 if skipped and not passed else 0)
