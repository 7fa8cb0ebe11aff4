# SPDX-License-Identifier: Apache-2.0
"""A server whose answers take a known time: of ten requests six take 5 ms, three 20 ms and one 50 ms, in turn. A thread of its own;
loopback only."""
import asyncio
import threading

PATTERN_MS = (5, 20, 5, 5, 50, 5, 20, 5, 20, 5)
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class DelayServer:
    def __init__(self):
        self.port = None
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._asked = 0

    def _run(self):
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1024))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()

    async def _serve(self, reader, writer):
        try:
            while True:
                await reader.readuntil(b"\r\n\r\n")
                delay_ms = PATTERN_MS[self._asked % len(PATTERN_MS)]
                self._asked += 1
                await asyncio.sleep(delay_ms / 1000)
                writer.write(ANSWER)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def __enter__(self):
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
