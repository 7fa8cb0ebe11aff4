# SPDX-License-Identifier: Apache-2.0
"""Everything that the benchmark knows about Stampede: its configuration file, its commands, its admin API, its metrics
and where its files are. When one of these changes, this is the file to change.
"""

import hashlib
import http.client
import json
import os
import re
import signal
import subprocess
import time

from servers import Server

ADMIN_KEY = "sk_bench-" + 37 * "0"  # of the form that `stampede key new` writes
PASS_CHARACTERS = 48
REPEATED_USERS = 1024   # sold-out and duplicate slices cycle through that many passes
FIRST_WINNER = 1 << 20  # users of winning slices start here, far from those
DRAIN_SECONDS_MAX = 300
TABLES_SECONDS_MAX = 60
# Every layer of the funnel is asked and says yes: limits are in config_text, these come on top.
FUNNEL_SETTINGS = ["limits.admission_per_s=1000000"] + [f"watch.{name}=report" for name in
                                                        ("rate", "failures", "crowd", "roaming", "timing")]
FUNNEL_SALE = {"drop_percent": 1, "pace_per_s": 1000000}
DROPPED_IN_TURN_MAX = 8
FUNNEL_BANS = 20  # of strangers, half of them networks; few, because making them is measured with the rest


def buy_template(item):
    """The buy request that every HTTP server of a row gets, with room for the pass."""
    return (f"POST /v1/items/{item}/buy HTTP/1.1\r\nHost: 127.0.0.1\r\nStampede-Pass: {'@' * PASS_CHARACTERS}\r\n"
            "Content-Length: 0\r\n\r\n")


class Stampede(Server):
    """One server with a data folder of its own, and one item per kind of question."""

    def __init__(self, folder, core, binary, tickets_max, settings=(), wrapper=()):
        super().__init__(folder, core)
        self.binary = os.path.abspath(binary)
        self.wrapper = list(wrapper)
        self.data = os.path.join(folder, "data")
        self.tickets_max = tickets_max
        self.config = self.write("stampede.ini", self.config_text(tickets_max, settings))
        self.items = {}
        self.next_winner = FIRST_WINNER

    def config_text(self, tickets_max, settings):
        """INI; `settings` are more "section.key=value" lines, later ones win."""
        key_line = f"bench:admin:{hashlib.sha256(ADMIN_KEY.encode()).hexdigest()}\n"
        values = {
            "server.address": "127.0.0.1",
            "server.port": str(self.port),
            "server.threads": "1",
            "server.connections_max": "12000",
            "server.idle_timeout_ms": "600000",
            "server.log_level": "warn",
            "data.folder": self.data,
            "data.tickets_max": str(tickets_max),
            "session.guests": "yes",
            "pass.life_s": "3599",
            "limits.address_per_s": "1000000",  # asked and counted, but one generator is not refused
            "limits.address_burst": "1000000",
            "limits.connections_per_address": "1000000",
            "limits.user_requests": "60",
            "limits.user_window_ms": "1",
            "human.pictures": "0",  # drawn by a thread of its own: not part of a request
            "admin.keys": self.write("admin_keys", key_line),
            "orders.lag_max": str(max(1000, tickets_max)),
        }
        values.update(setting.split("=", 1) for setting in settings)
        sections = {}
        for name, value in values.items():
            section, key = name.split(".", 1)
            sections.setdefault(section, []).append(f"{key} = {value}")
        return "\n".join(f"[{section}]\n" + "\n".join(lines) + "\n" for section, lines in sections.items())

    def start(self):
        self.spawn([*self.wrapper, self.binary, "serve", "--config", self.config])

    def ready(self):
        try:
            return self.get("/readyz", timeout=5)[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    # -- HTTP ----------------------------------------------------------------------------------------------------

    def call(self, method, path, body=None, headers=None, timeout=60):
        """(status, body bytes)"""
        headers = dict(headers or {})
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def get(self, path, timeout=60):
        return self.call("GET", path, timeout=timeout)

    def admin(self, path, body=None):
        status, answer = self.call("POST", f"/admin/v1{path}", body if body is not None else {},
                                   {"Authorization": f"Bearer {ADMIN_KEY}"})
        if status >= 300:
            raise RuntimeError(f"admin {path}: {status} {answer.decode(errors='replace')[:300]}")
        return json.loads(answer) if answer else {}

    def buy(self, item, user):
        [proof] = self.mint(item, user, 1)
        return self.call("POST", f"/v1/items/{item}/buy", headers={"Stampede-Pass": proof})

    # -- sales ---------------------------------------------------------------------------------------------------

    def open_item(self, total, sale_fields=None, pay_window_ms=7200000):
        now_ms = int(time.time() * 1000)
        product = self.admin("/products", {"name": "Bench", "description": "", "images": [], "list_price": 499900,
                                           "currency": "CNY"})["id"]
        sale = self.admin("/sales", {"title": "Bench", "start_ms": now_ms - 1000, "end_ms": now_ms + 86400000,
                                     "limit_per_user": 0, "start_draw_ms": 0, "return_draw_ms": 0, "cooldown_s": 0,
                                     **(sale_fields or {})})["id"]
        item = self.admin("/items", {"sale": sale, "product": product, "flash_price": 99900, "limit_per_user": 1,
                                     "pay_window_ms": pay_window_ms, "total": total})["id"]
        self.admin(f"/sales/{sale}/publish")
        self.admin(f"/sales/{sale}/open")
        self.await_tables()
        return item

    def await_tables(self):
        """A shop prepares its sale before the crowd comes. Where instructions are counted, asking would count."""
        if self.wrapper:
            return
        deadline = time.monotonic() + TABLES_SECONDS_MAX
        while self.metric_or("stampede_tables_ready", 1) != 1:  # an older server has no such metric
            if time.monotonic() > deadline:
                raise RuntimeError(f"the tables were not in memory within {TABLES_SECONDS_MAX} s")
            time.sleep(0.01)

    def item_for(self, kind):
        """sold_out: its only unit is gone. duplicate: every repeated user has bought. win: units for everybody.
        sold_out_funnel: as sold_out, in a sale that drops and paces, with bans of others."""
        if kind not in self.items:
            funnel = kind == "sold_out_funnel"
            item = self.open_item(1 if kind.startswith("sold_out") else self.tickets_max // 2, FUNNEL_SALE if funnel else None)
            self.items[kind] = item
            if funnel:
                self.ban_strangers()
            if kind.startswith("sold_out"):
                self.must_sell_out(item)
            if kind == "duplicate":
                self.must_win(item, range(REPEATED_USERS))
        return self.items[kind]

    def ban_strangers(self):
        for number in range(FUNNEL_BANS // 2):
            user = (number + 1) * 0x9E3779B97F4A7C15 % 2**64
            for whom in ({"address": f"10.{number // 256}.{number % 256}.0/24"}, {"user_id": f"{user:016x}"}):
                self.admin("/bans", {**whom, "minutes": 600, "reason": "bench"})

    def must_sell_out(self, item):
        """Its only unit. One user in a hundred is dropped early where the sale says so: then the next one buys it."""
        for proof in self.mint(item, REPEATED_USERS + 1, DROPPED_IN_TURN_MAX):
            status, body = self.call("POST", f"/v1/items/{item}/buy", headers={"Stampede-Pass": proof})
            if status == 202:
                return
            if status != 503 or json.loads(body)["type"] != "/problems/too-popular":
                break
        raise RuntimeError(f"the only unit was not bought: {status} {body[:200]!r}")

    def must_win(self, item, users):
        users = list(users)
        for proof in self.mint(item, users[0], len(users)):
            status, body = self.call("POST", f"/v1/items/{item}/buy", headers={"Stampede-Pass": proof})
            if status != 202:
                raise RuntimeError(f"a first buy was answered {status} {body[:200]!r}")

    def refusal(self, kind):
        """The refusal's body, after checking that it is the one meant."""
        status, body = self.buy(self.item_for(kind), 0)
        wanted = "already-bought" if kind == "duplicate" else "sold-out"
        if status != 409 or json.loads(body)["type"] != f"/problems/{wanted}":
            raise RuntimeError(f"expected 409 {wanted}, got {status} {body[:200]!r}")
        return body.decode()

    # -- requests ------------------------------------------------------------------------------------------------

    def mint(self, item, first, count, path=None):
        """Passes of users first … first + count - 1, as a list, or into a file with one per line."""
        command = [self.binary, "mint", "--config", self.config, "--item", str(item), "--users", f"{first}:{count}"]
        if path is None:
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        with open(path, "wb") as file:
            subprocess.run(command, stdout=file, check=True)
        return path

    def sessions(self, first, count):
        """Of the users that `mint` makes passes for."""
        command = [self.binary, "mint", "--config", self.config, "--session", "--users", f"{first}:{count}"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    def make_requests(self, kind, count):
        """The load client's arguments for the next `count` requests of this kind: sold_out and duplicate cycle through
        the same users, each win is by a user who was never seen before."""
        item = self.item_for(kind)
        if kind == "win":
            return [*self.requests_of(item, self.next_winner, count), "--once"]
        return self.requests_of(item, 0, REPEATED_USERS)

    def requests_of(self, item, first, count):
        """The load client's arguments for purchases of this item by `count` users."""
        template = self.write(f"buy_{item}", "")
        with open(template, "w", encoding="ascii", newline="") as file:
            file.write(buy_template(item))
        passes = self.mint(item, first, count, os.path.join(self.folder, f"passes_{item}"))
        return ["--template", template, "--fill", passes]

    def wins_sent(self, count):
        self.next_winner += count

    # -- orders --------------------------------------------------------------------------------------------------

    def metric_or(self, name, otherwise):
        text = self.get("/metrics")[1].decode()
        found = re.findall(rf"^{re.escape(name)}(?:\{{[^}}]*\}})? ([0-9.eE+]+)$", text, re.M)
        return sum(float(value) for value in found) if found else otherwise

    def metric(self, name):
        value = self.metric_or(name, None)
        if value is None:
            raise RuntimeError(f"/metrics has no {name}")
        return value

    def orders_written(self):
        return int(self.metric("stampede_orders_written_total"))

    def orders_drain(self, wanted):
        """Waits until `wanted` orders are written; [(seconds, orders written)…] on the way."""
        samples = []
        deadline = time.monotonic() + DRAIN_SECONDS_MAX
        while not samples or samples[-1][1] < wanted:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{samples[-1][1]} of {wanted} orders written in {DRAIN_SECONDS_MAX} s")
            written = self.orders_written()
            samples.append((time.monotonic(), written))
            time.sleep(0.02)
        return samples

    def database(self):
        return os.path.join(self.data, "stampede.db")

    # -- files ---------------------------------------------------------------------------------------------------

    def journal_files(self, prefix):
        folder = os.path.join(self.data, "journal")
        return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.startswith(prefix))

    def segments(self):
        return self.journal_files("segment-")

    def replay_seconds(self, records_min):
        """Of the last start, as the server says (server.log_level=info)."""
        with open(os.path.join(self.folder, "log"), encoding="utf-8") as log:
            said = re.findall(r"(\d+) records replayed after the snapshot at \d+, in (\d+) ms", log.read())
        if not said or int(said[-1][0]) < records_min:
            raise RuntimeError(f"expected a replay of {records_min} records: {self.log_tail()}")
        return int(said[-1][1]) / 1000

    def forget_snapshots(self):
        for name in self.journal_files("snapshot-"):
            os.unlink(name)

    def verify_command(self):
        return [self.binary, "verify", self.data]

    def stop_hard(self):
        """For data that is thrown away anyway: no drain, no snapshot."""
        if self.running():
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
