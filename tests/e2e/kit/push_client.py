# SPDX-License-Identifier: Apache-2.0
"""A WebSocket client for the tests, standard library only: what a browser does, and what it never would."""
import base64
import hashlib
import json
import os
import socket
import struct
import time

from kit.harness import Closed, Connection, Failure, PATIENCE_S, equal, true

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


def handshake(session=None, path="/v1/push", headers=None, without=()):
    """(bytes of the upgrade request, its key). The session goes the way a browser sends it."""
    key = base64.b64encode(os.urandom(16)).decode()
    fields = {"Host": "shop.test", "Upgrade": "websocket", "Connection": "Upgrade",
              "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key}
    if session is not None:
        fields["Sec-WebSocket-Protocol"] = f"stampede.v1, bearer.{session}"
    fields.update(headers or {})
    lines = [f"{name}: {value}" for name, value in fields.items() if name not in without]
    return "\r\n".join([f"GET {path} HTTP/1.1", *lines]).encode() + b"\r\n\r\n", key


def frame(opcode, payload=b"", mask=b"\x01\x02\x03\x04", final=True, reserved=0, length=None):
    head = bytes([(0x80 if final else 0) | reserved << 4 | opcode])
    size = len(payload) if length is None else length
    flag = 0x80 if mask else 0
    if size < 126:
        head += bytes([flag | size])
    elif size < 65536:
        head += bytes([flag | 126]) + struct.pack(">H", size)
    else:
        head += bytes([flag | 127]) + struct.pack(">Q", size)
    if not mask:
        return head + payload
    return head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))


def upgrade(server, session=None, **how):
    """The reply to an upgrade that is refused."""
    with Connection(server.port) as connection:
        connection.send(handshake(session, **how)[0])
        return connection.read_reply()


class Push:
    """A push connection; messages are read one by one."""

    def __init__(self, server, session, path="/v1/push", headers=None, receive_bytes=None, timeout_s=PATIENCE_S):
        self.socket = socket.socket()
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.settimeout(timeout_s)
        self.socket.connect(("127.0.0.1", getattr(server, "push_port", server.port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = getattr(server, "wrapped", lambda plain: plain)(self.socket)
        self.rest = b""
        data, key = handshake(session, path, headers)
        self.socket.sendall(data)
        while b"\r\n\r\n" not in self.rest:
            self._more()
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        equal(lines[0], "HTTP/1.1 101 Switching Protocols", "upgrade")
        self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        equal(self.headers["sec-websocket-accept"], base64.b64encode(digest).decode(), "accept")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def _more(self):
        try:
            data = self.socket.recv(65536)
        except ConnectionError:
            data = b""
        if not data:
            raise Closed(self.rest)
        self.rest += data

    def _take(self, size):
        while len(self.rest) < size:
            self._more()
        data, self.rest = self.rest[:size], self.rest[size:]
        return data

    def send(self, data):
        self.socket.sendall(data)

    def watch(self, *items):
        self.send(frame(TEXT, json.dumps({"watch": items}).encode()))

    def read_frame(self):
        """(opcode, payload); Closed at the end, socket.timeout if nothing comes."""
        first, second = self._take(2)
        true(first & 0x70 == 0 and first & 0x80, "a server's frame is whole")
        true(second & 0x80 == 0, "a server's frame is not masked")
        size = second
        if second == 126:
            size, = struct.unpack(">H", self._take(2))
        elif second == 127:
            size, = struct.unpack(">Q", self._take(8))
        return first & 15, self._take(size)

    def answered(self):
        """The next frame that is not a ping of the server's own."""
        while True:
            opcode, payload = self.read_frame()
            if opcode != PING:
                return opcode, payload

    def message(self):
        """The next text message; pings are answered."""
        while True:
            opcode, payload = self.read_frame()
            if opcode == PING:
                self.send(frame(PONG, payload))
            elif opcode == TEXT:
                return json.loads(payload)
            else:
                raise Failure(f"wanted a message, got opcode {opcode} {payload!r}")

    def until(self, wanted, patience_s=PATIENCE_S):
        """The first message for which `wanted` says true."""
        end = time.monotonic() + patience_s
        while time.monotonic() < end:
            message = self.message()
            if wanted(message):
                return message
        raise Failure("the message did not come")

    def closed(self):
        """(code, reason) of the server's close; nothing but messages and pings before it."""
        while True:
            opcode, payload = self.read_frame()
            if opcode == CLOSE:
                return (struct.unpack(">H", payload[:2])[0], payload[2:].decode()) if payload else (0, "")
