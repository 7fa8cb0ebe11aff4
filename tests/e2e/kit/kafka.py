# SPDX-License-Identifier: Apache-2.0
"""The broker that tools/with-kafka runs, or three of them, for shops on several processes.

    databases.beside("postgres", "cluster", "kafka")
    shop = Cluster(settings=kafka.settings())
    with kafka.down():        # it is killed; afterwards it comes back with its data
        …
"""
import contextlib
import os
import signal

from kit import databases
from kit.harness import eventually


def brokers():
    return os.environ["STAMPEDE_TEST_KAFKA"].split(",")


def settings(**more):
    return {**databases.kafka_settings(), **more}


def folder_of(number):
    """Of a broker; the first is 1."""
    return os.path.join(os.environ["STAMPEDE_TEST_KAFKA_FOLDER"], *([] if number == 1 else [str(number)]))


def pid(number=1):
    with open(os.path.join(folder_of(number), "pid"), encoding="ascii") as file:
        return int(file.read() or 0)


@contextlib.contextmanager
def down(number=1):
    path = os.path.join(folder_of(number), "down")
    with open(path, "w", encoding="ascii"):
        pass
    before = pid(number)
    try:
        os.kill(before, signal.SIGKILL)
        yield
    finally:
        os.unlink(path)
        eventually(lambda: pid(number) not in (0, before), "the broker does not come back")
