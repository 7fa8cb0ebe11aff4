# SPDX-License-Identifier: Apache-2.0
"""The broker that tools/with-kafka runs, for shops on several processes.

    databases.beside("postgres", "cluster", "kafka")
    shop = Cluster(settings=kafka.settings())
    with kafka.down():        # it is killed; afterwards it comes back with its data
        …
"""
import contextlib
import itertools
import os
import signal

from kit.harness import eventually

numbers = itertools.count(1)


def settings(**more):
    """Of a topic that nobody else uses."""
    return {"queue.kind": "kafka", "queue.url": os.environ["STAMPEDE_TEST_KAFKA"], "queue.topic": f"e2e-{os.getpid()}-{next(numbers)}",
            "queue.partitions": 2, "queue.replication": 1, **more}


def pid():
    with open(os.path.join(os.environ["STAMPEDE_TEST_KAFKA_FOLDER"], "pid"), encoding="ascii") as file:
        return int(file.read() or 0)


@contextlib.contextmanager
def down():
    path = os.path.join(os.environ["STAMPEDE_TEST_KAFKA_FOLDER"], "down")
    with open(path, "w", encoding="ascii"):
        pass
    before = pid()
    try:
        os.kill(before, signal.SIGKILL)
        yield
    finally:
        os.unlink(path)
        eventually(lambda: pid() not in (0, before), "the broker does not come back")
