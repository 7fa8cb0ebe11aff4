# SPDX-License-Identifier: Apache-2.0
"""Starts and ends the servers that are measured. Everything listens on a free port of 127.0.0.1, keeps its files in a
folder of its own below the run's temporary folder, runs on one core, and is ended by process id.

A server sleeps (SIGSTOP) while another one is measured, so that what it still has to do (Stampede's order writer, say)
does not slow that one down.
"""

import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
START_SECONDS_MAX = 120
STOP_SECONDS_MAX = 180  # a clean stop under valgrind takes its time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def must_find(program):
    path = shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")
    if not path:
        raise FileNotFoundError(f"{program} is not installed")
    return path


def peer_file(name, **words):
    """A file of peers/ with its @WORD@s filled in."""
    with open(os.path.join(HERE, "peers", name), encoding="utf-8") as file:
        text = file.read()
    for word, value in words.items():
        text = text.replace(f"@{word}@", str(value))
    return text


class Server:
    """One process (and its children) in a process group of its own."""

    def __init__(self, folder, core):
        self.folder = folder
        self.core = core
        self.port = free_port()
        self.process = None
        os.makedirs(folder, exist_ok=True)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def spawn(self, command):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(["taskset", "-c", str(self.core), *command], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + START_SECONDS_MAX
        while not self.ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"{command[0]} did not start: {self.log_tail()}")
            time.sleep(0.02)

    def ready(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return True
        except OSError:
            return False

    def log_tail(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as log:
            return log.read()[-800:].strip()

    def running(self):
        return self.process is not None and self.process.poll() is None

    def pause(self):
        if self.running():
            os.killpg(self.process.pid, signal.SIGSTOP)

    def resume(self):
        if not self.running():
            raise RuntimeError(f"{type(self).__name__} is not running: {self.log_tail()}")
        os.killpg(self.process.pid, signal.SIGCONT)

    def stop(self):
        if not self.running():
            return
        os.killpg(self.process.pid, signal.SIGCONT)
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def cpu_seconds(self):
        """Processor time of the whole process group so far."""
        total_ns = 0
        for name in os.listdir("/proc"):
            try:
                if not name.isdigit() or os.getpgid(int(name)) != self.process.pid:
                    continue
                for thread in os.listdir(f"/proc/{name}/task"):
                    with open(f"/proc/{name}/task/{thread}/schedstat", encoding="ascii") as stat:
                        total_ns += int(stat.read().split()[0])
            except OSError:
                continue  # it ended meanwhile
        return total_ns / 1e9

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"^VmRSS:\s+(\d+) kB", status.read(), re.M).group(1)) * 1024


class BareEpoll(Server):
    def __init__(self, folder, core, binary, body):
        super().__init__(folder, core)
        self.command = [binary, str(self.port), self.write("body", body)]

    def start(self):
        self.spawn(self.command)


def nginx_quoted(text):
    return text.replace("\\", "\\\\").replace("'", "\\'")


class Nginx(Server):
    def __init__(self, folder, core, body):
        super().__init__(folder, core)
        if "$" in body:
            raise ValueError("nginx would expand the $ in the body")
        self.write("nginx.conf", peer_file("nginx.conf", PORT=self.port, BODY=nginx_quoted(body)))

    def start(self):
        self.spawn([must_find("nginx"), "-p", self.folder, "-c", "nginx.conf"])


class Redis(Server):
    """Redis with the deduct script loaded; `durable`: every answer waits for its sync."""

    def __init__(self, folder, core, durable):
        super().__init__(folder, core)
        self.script = peer_file("deduct.lua")
        self.script_sha = hashlib.sha1(self.script.encode()).hexdigest()
        self.config = self.write("redis.conf", peer_file("redis.conf", PORT=self.port, DIR=self.folder,
                                                         APPENDONLY="yes" if durable else "no"))

    def start(self):
        self.spawn([must_find("redis-server"), self.config])
        loaded = self.ask("SCRIPT", "LOAD", self.script)
        if self.script_sha.encode() not in loaded:
            raise RuntimeError(f"redis did not take the script: {loaded!r}")

    def ask(self, *words):
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(resp(*words))
            return connection.recv(4096)

    def stock_set(self, item, units):
        self.ask("DEL", f"seckill:{{{item}}}:users")
        if not self.ask("SET", f"seckill:{{{item}}}:stock", str(units)).startswith(b"+OK"):
            raise RuntimeError("redis did not set the stock")

    def buy_template(self, item):
        return resp("EVALSHA", self.script_sha, "2", f"seckill:{{{item}}}:stock", f"seckill:{{{item}}}:users",
                    "@" * 16).decode()


def resp(*words):
    parts = [f"*{len(words)}\r\n".encode()]
    for word in words:
        parts.append(b"$%d\r\n%s\r\n" % (len(word.encode()), word.encode()))
    return b"".join(parts)


class LuaRedis(Server):
    """nginx + Lua in front of a Redis that keeps nothing; both on the same core. Sleeps and wakes together with it."""

    def __init__(self, folder, core, won_body, refused_body):
        super().__init__(folder, core)
        self.redis = Redis(os.path.join(folder, "redis"), core, durable=False)
        modules = subprocess.run([must_find("nginx"), "-V"], capture_output=True, text=True, check=True).stderr
        self.write("nginx.conf", peer_file(
            "lua_redis.conf", PORT=self.port, REDIS_PORT=self.redis.port, SCRIPT_SHA=self.redis.script_sha,
            MODULES=re.search(r"--modules-path=(\S+)", modules).group(1),
            WON_BODY=won_body, WON_BYTES=len(won_body.encode()),
            REFUSED_BODY=refused_body, REFUSED_BYTES=len(refused_body.encode())))

    def start(self):
        self.redis.start()
        self.spawn([must_find("nginx"), "-p", self.folder, "-c", "nginx.conf"])

    def cpu_seconds(self):
        return super().cpu_seconds() + self.redis.cpu_seconds()

    def pause(self):
        super().pause()
        self.redis.pause()

    def resume(self):
        self.redis.resume()
        super().resume()

    def stop(self):
        super().stop()
        self.redis.stop()
