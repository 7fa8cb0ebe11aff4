# SPDX-License-Identifier: Apache-2.0
"""Database servers for end-to-end tests: real ones, which tools/with-postgres and tools/with-mariadb start.

    E2E_STORE=postgres tools/with-postgres python3 tests/e2e/orders/order_requests_test.py

runs any test file with its orders in PostgreSQL (mysql and tools/with-mariadb: in MariaDB). Each Server of the kit then
has a database of its own. Tests that open the SQLite file themselves can't run so; Server.sql() asks any of the three.

    E2E_STORE=postgres E2E_INVENTORY=redis tools/with-postgres tools/with-redis python3 tests/e2e/orders/order_requests_test.py

runs it on Redis too, with role all: each Server has a secret of its own, and so keys of its own in Redis. A cluster:
tools/with-redis --cluster. With E2E_QUEUE=kafka beside tools/with-kafka what Redis proposes goes by way of Kafka, by a topic of its own.
"""
import contextlib
import itertools
import os
import secrets
import shutil
import sqlite3
import subprocess
import sys

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))
WRAPPERS = {"postgres": ("with-postgres", "STAMPEDE_TEST_POSTGRES"), "mysql": ("with-mariadb", "STAMPEDE_TEST_MYSQL"),
            "redis": ("with-redis", "STAMPEDE_TEST_REDIS"), "cluster": ("with-cluster", "STAMPEDE_TEST_CLUSTER"),
            "kafka": ("with-kafka", "STAMPEDE_TEST_KAFKA")}
numbers, topics = itertools.count(1), itertools.count(1)


def beside(*kinds):
    """Goes on only beside servers of these kinds: starts this program again under the wrappers that run them. Where one is
    not installed, its wrapper says so and ends with 77."""
    missing = [WRAPPERS[kind][0] for kind in kinds if WRAPPERS[kind][1] not in os.environ]
    if missing:
        paths = [os.path.join(REPOSITORY, "tools", wrapper) for wrapper in missing]
        os.execv(paths[0], [*paths, sys.executable, os.path.realpath(sys.argv[0]), *sys.argv[1:]])


def command_of(kind, *words, sql):
    if kind == "postgres":
        program = shutil.which("psql") or "psql"
        return [program, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", *words, "-c", sql]
    root = os.environ["STAMPEDE_TEST_MYSQL_ROOT"]
    socket = root.partition("socket=")[2]
    return ["mariadb", "--no-defaults", "--unbuffered", f"--socket={socket}", "--user=root", "-N", "-B", *words, "-e", sql]


def client(kind, *words, sql):
    """What the server's own client answers."""
    command = command_of(kind, *words, sql=sql)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stderr}")
    return done.stdout.strip()


def url_of(kind, database):
    url = os.environ[WRAPPERS[kind][1]]
    head, _, query = url.partition("?")
    return head.rpartition("/")[0] + "/" + database + ("?" + query if query else "")


def fresh(kind):
    """The settings of a new, empty database, and its name."""
    name = f"e2e_{os.getpid()}_{next(numbers)}"
    if kind == "postgres":
        client(kind, os.environ["STAMPEDE_TEST_POSTGRES"],
               sql=f"CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    else:
        client(kind, sql=f"CREATE DATABASE {name}; GRANT ALL ON {name}.* TO stampede@'%'")
    return {"store.kind": kind, "store.url": url_of(kind, name)}, name


def kafka_settings():
    """The settings of a topic that nobody else uses, as many copies as there are brokers."""
    brokers = os.environ["STAMPEDE_TEST_KAFKA"]
    return {"queue.kind": "kafka", "queue.url": brokers, "queue.topic": f"e2e-{os.getpid()}-{next(topics)}",
            "queue.partitions": 2, "queue.replication": brokers.count(",") + 1}


def inventory_settings(folder):
    """The settings of an inventory in Redis that nobody else uses."""
    secret = os.path.join(folder, "cluster.secret")
    with open(secret, "w", encoding="utf-8") as file:
        file.write(secrets.token_hex(32) + "\n")
    os.chmod(secret, 0o600)
    servers = os.environ.get("STAMPEDE_TEST_CLUSTER") or os.environ["STAMPEDE_TEST_REDIS"]
    queue = kafka_settings() if os.environ.get("E2E_QUEUE") == "kafka" else {"queue.kind": "stream"}
    return {"inventory.kind": "redis", "inventory.url": servers, "cluster.secret_file": secret, **queue}


def ask(kind, name, sql):
    """One answer of the database, as text."""
    return client(kind, url_of(kind, name), sql=sql) if kind == "postgres" else client(kind, name, sql=sql)


@contextlib.contextmanager
def holding(kind, name, sql):
    """with holding(…): a transaction of another session holds what this statement locks."""
    command = command_of(kind, url_of(kind, name) if kind == "postgres" else name, sql="")[:-2]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        holder.stdin.write(f"BEGIN;\n{sql};\n")
        holder.stdin.flush()
        if not holder.stdout.readline():
            raise RuntimeError("the lock was not taken")
        yield  # then its input ends, and the session with it


@contextlib.contextmanager
def file_locked(path):
    """The server may write between the tries to lock the file."""
    connection = sqlite3.connect(path, timeout=60, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")
    finally:
        connection.close()


def orders_locked(server):
    """with orders_locked(…): no order of now can be changed; SQLite: nothing can."""
    kind, url = server.settings.get("store.kind", "sqlite"), server.settings.get("store.url", "")
    if kind == "sqlite":
        return file_locked(os.path.join(server.data, "stampede.db"))
    return holding(kind, url.partition("?")[0].rpartition("/")[2], "SELECT ticket FROM orders FOR UPDATE")


# For planting what the rules of the tables forbid. PostgreSQL keeps its CHECKs.
WITHOUT_RULES = {"postgres": "SET session_replication_role = replica;",
                 "mysql": "SET foreign_key_checks = 0, check_constraint_checks = 0, sql_mode = 'PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES';"}


def literal(value):
    return "NULL" if value is None else str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def sql_filled(statement):
    """One text of (text with ?, (values)), or the text itself."""
    if isinstance(statement, str):
        return statement
    text, values = statement
    pieces = text.split("?")
    return pieces[0] + "".join(literal(value) + piece for value, piece in zip(values, pieces[1:], strict=True))


def row_read(line):
    """Columns as numbers where they look so; NULL as None."""
    return tuple(None if value in ("", "NULL") else int(value) if value.lstrip("-").isdigit() else value
                 for value in line.split("\t"))


def file_run(path, statements):
    """On a SQLite file that no server has open for writing; leaves no log beside it."""
    connection = sqlite3.connect(path, timeout=10)
    try:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        answers = [connection.execute(*statement if isinstance(statement, tuple) else (statement,)).fetchall()
                   for statement in statements]
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        connection.close()
    return answers[-1]


def sql_run(server, statements):
    """The rows of the last statement, in the database of the server, which is stopped if they change something."""
    kind, url = server.settings.get("store.kind", "sqlite"), server.settings.get("store.url", "")
    if kind == "sqlite":
        return file_run(os.path.join(server.data, "stampede.db"), statements)
    text = WITHOUT_RULES[kind] + ";".join(sql_filled(statement) for statement in statements)
    if kind == "postgres":
        answer = client(kind, "-F", "\t", url, sql=text)
    else:
        answer = client(kind, url.partition("?")[0].rpartition("/")[2], sql=text)
    return [row_read(line) for line in answer.splitlines()]


def hex_of(server, column):
    """An expression: the bytes of a column in hexadecimal."""
    return f"encode({column}, 'hex')" if server.settings.get("store.kind") == "postgres" else f"hex({column})"


def migrate(server):
    return subprocess.run([server.binary, "store", "migrate", "--config", server.config], capture_output=True, text=True,
                          timeout=120)
