# SPDX-License-Identifier: Apache-2.0
"""Servers that can be killed, stopped and started again on the port they had: databases, with the data they had, and Redis. And a relay
whose connections can be cut."""
import atexit
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import threading
import time

from kit import harness

DEPLOYED = os.path.join(harness.REPOSITORY, "deploy", "cluster")
START_S = 90  # after a kill they read their logs first


class Away(Exception):
    """The server did not answer: it is down, or the connection was cut."""


def identity(name):
    """Neither server runs as root."""
    if os.geteuid() != 0:
        return {}
    entry = pwd.getpwnam(name)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


class Database:
    """kind: of store.kind. url: of an empty database."""
    kind = owner = ""

    def __init__(self):
        self.folder = harness.temp_folder("stampede-cluster-")
        self.identity = identity(self.owner)
        os.chmod(self.folder, 0o711)
        if self.identity:
            os.chown(self.folder, self.identity["user"], self.identity["group"])
        self.port, self.process = harness.spare_port(), None

    def run(self, *command):
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, cwd=self.folder, capture_output=True, text=True,
                                  timeout=START_S, check=False, **self.identity)
        except subprocess.TimeoutExpired:
            raise Away(f"{os.path.basename(command[0])} does not end") from None
        if done.returncode:
            raise Away(f"{os.path.basename(command[0])}: {done.stderr.strip()[-300:]}")
        return done.stdout.strip()

    def spawn(self, *command):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                                            **self.identity)

    def start(self):
        """Until it answers. What ran before it may still be ending: then once more."""
        until = time.monotonic() + START_S
        self.begin()
        while time.monotonic() < until:
            if self.process.poll() is not None:
                time.sleep(0.1)
                self.begin()
            try:
                self.answer()
                return
            except Away:
                time.sleep(0.05)
        raise harness.Failure(f"{self.kind} does not start: see {self.folder}/log")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def hang(self, seconds):
        """It keeps its connections and says nothing."""
        harness.halt(self.process.pid)
        time.sleep(seconds)
        self.process.send_signal(signal.SIGCONT)

    def end(self):
        if self.process is not None and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Postgres(Database):
    kind = owner = "postgres"
    host, comes_from = "127.0.0.1", "127.0.0.1/32"
    settings = ("unix_socket_directories=", "fsync=off", "shared_buffers=32MB",
                "logging_collector=off")

    def make(self):
        self.programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[-2]))[-1]
        self.run(f"{self.programs}/initdb", "--pgdata", f"{self.folder}/data", "--username=stampede", "--auth=trust",
                 "--no-sync", "--locale=C", "--encoding=UTF8")
        with open(f"{self.folder}/data/postgresql.conf", "a", encoding="ascii") as file, \
                open(os.path.join(DEPLOYED, "postgresql.conf"), encoding="ascii") as deployed:
            file.write(f"{deployed.read()}listen_addresses = '{self.host}'\n")
        with open(f"{self.folder}/data/pg_hba.conf", "w", encoding="ascii") as file:
            file.write(f"host all all {self.comes_from} trust\n")
        self.start()
        self.url = f"postgresql://stampede@{self.host}:{self.port}/stampede"
        self.run(f"{self.programs}/createdb", f"--host={self.host}", f"--port={self.port}", "--username=stampede", "stampede")

    def begin(self):
        self.spawn(f"{self.programs}/postgres", "-D", f"{self.folder}/data", "-p", str(self.port),
                   *(word for setting in self.settings for word in ("-c", setting)))

    def answer(self):
        self.ask("SELECT 1", "postgres")

    def ask(self, sql, name="stampede"):
        return self.run(f"{self.programs}/psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1",
                        f"postgresql://stampede@{self.host}:{self.port}/{name}?connect_timeout=5", "-c", sql)

    def cut(self):
        """One connection of the server's, by chance."""
        return self.ask("SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity"
                        " WHERE application_name = 'stampede' ORDER BY random() LIMIT 1) AS one")


class Mariadb(Database):
    kind, owner = "mysql", "mysql"
    settings = ("--bind-address=127.0.0.1", "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=32M", "--innodb-flush-method=nosync",
                "--sync-frm=OFF")

    def make(self):
        os.environ["PATH"] += os.pathsep + "/usr/sbin"
        self.run("mariadb-install-db", "--no-defaults", f"--datadir={self.folder}/data", f"--tmpdir={self.folder}",
                 "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")
        self.start()
        self.url = f"mysql://stampede@127.0.0.1:{self.port}/stampede"
        self.ask("CREATE DATABASE stampede; CREATE USER stampede@'%'; GRANT ALL ON stampede.* TO stampede@'%'", "mysql")

    def begin(self):
        self.spawn(shutil.which("mariadbd"), f"--defaults-file={DEPLOYED}/mariadb.cnf", f"--datadir={self.folder}/data", f"--tmpdir={self.folder}",
                   f"--socket={self.folder}/s.sock", f"--pid-file={self.folder}/pid", f"--port={self.port}", *self.settings)

    def answer(self):
        self.ask("SELECT 1", "mysql")

    def ask(self, sql, name="stampede"):
        return self.run("mariadb", "--no-defaults", f"--socket={self.folder}/s.sock", "--user=root", "-N", "-B", name,
                        "-e", sql)

    def cut(self):
        found = self.ask("SELECT id FROM information_schema.processlist WHERE user = 'stampede' ORDER BY rand() LIMIT 1")
        if not found:
            return "0"
        self.ask(f"KILL CONNECTION {found}")
        return "1"


KINDS = {"postgres": Postgres, "mariadb": Mariadb}


class Redis:
    """One server, without a cluster. What it had is gone when it starts again, unless it keeps a file (appendonly)."""

    def __init__(self):
        self.folder, self.port, self.process = harness.temp_folder("stampede-redis-"), harness.spare_port(), None

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def start(self):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(
                ["redis-server", os.path.join(DEPLOYED, "redis.conf"), "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder,
                 "--cluster-enabled", "no", "--appendonly", "no"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder)
        atexit.register(self.kill)
        harness.eventually(self.answers, "Redis does not start", START_S)
        return self

    def answers(self):
        try:
            return self.ask("PING") == "PONG"
        except Away:
            return False

    def ask(self, *words):
        done = subprocess.run(["redis-cli", "-p", str(self.port), *map(str, words)], capture_output=True, text=True, timeout=START_S, check=False)
        if done.returncode:
            raise Away(done.stderr)
        return done.stdout.strip()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def pause(self):
        harness.halt(self.process.pid)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)


class Relay:
    """Passes connections on to a port of this machine. cut(): all of them break, and no other one is taken; mend(): it takes them again.
    hush(): it keeps them and takes others, and passes nothing on, until it is cut."""

    def __init__(self, target):
        self.target, self.port = target, harness.spare_port()
        self.pairs, self.lock, self.listener, self.is_deaf = [], threading.Lock(), None, False
        self.mend()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def hush(self):
        self.is_deaf = True

    def mend(self):
        self.is_deaf = False
        self.listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self.take, args=(self.listener,), daemon=True).start()

    def take(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return  # cut() has closed it
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                client.close()  # as the target would have refused it
                continue
            with self.lock:
                self.pairs.append((client, server))
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    def carry(self, one, other):
        try:
            while data := one.recv(65536):
                if not self.is_deaf:
                    other.sendall(data)
        except OSError:
            pass
        for end in (one, other):
            Relay.break_off(end)

    def cut(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        with self.lock:
            for pair in self.pairs:
                for end in pair:
                    self.break_off(end)
            self.pairs = []

    @staticmethod
    def break_off(end):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it is closed already
