# SPDX-License-Identifier: Apache-2.0
"""The broker that tools/with-kafka runs, or three of them, for shops on several processes.

    databases.beside("postgres", "cluster", "kafka")
    shop = Cluster(settings=kafka.settings())
    with kafka.down():        # it is killed; afterwards it comes back with its data
        …
    kafka.put(topic, 0, b"…")  # a stranger writes a message
"""
import contextlib
import ctypes
import os
import signal

from kit import databases
from kit.harness import equal, eventually, true

PRODUCER, COPY = 0, 2  # RD_KAFKA_PRODUCER, RD_KAFKA_MSG_F_COPY
FLUSH_MS = 30000


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


def put(topic, partition, message):
    """Writes it as any program could; returns when the broker has it. librdkafka is there: the server needs it."""
    library, error = ctypes.CDLL("librdkafka.so.1"), ctypes.create_string_buffer(512)
    library.rd_kafka_conf_new.restype = library.rd_kafka_new.restype = library.rd_kafka_topic_new.restype = ctypes.c_void_p
    settings_of_client = ctypes.c_void_p(library.rd_kafka_conf_new())
    equal(library.rd_kafka_conf_set(settings_of_client, b"bootstrap.servers", ",".join(brokers()).encode(), error, len(error)), 0, error.value)
    client = ctypes.c_void_p(library.rd_kafka_new(PRODUCER, settings_of_client, error, ctypes.c_size_t(len(error))))
    true(client, error.value)
    opened = ctypes.c_void_p(library.rd_kafka_topic_new(client, topic.encode(), None))
    equal(library.rd_kafka_produce(opened, ctypes.c_int32(partition), COPY, message, ctypes.c_size_t(len(message)), None, ctypes.c_size_t(0), None), 0)
    equal(library.rd_kafka_flush(client, FLUSH_MS), 0, "the broker does not take the message")
    library.rd_kafka_topic_destroy(opened)
    library.rd_kafka_destroy(client)
