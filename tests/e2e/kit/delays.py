# SPDX-License-Identifier: Apache-2.0
"""A server whose answers take a known time: of a hundred requests about 65 take 5 ms, 30 take 20 ms and 5 take 50 ms, so that p50, p90
and p99 are well within one of them. Chosen by chance with a fixed seed: several clients at once see the same shares. A thread of its own;
loopback only."""
import asyncio
import random
import threading

DELAYS_MS, SHARES = (5, 20, 50), (65, 30, 5)
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class DelayServer:
    def __init__(self):
        self.port = None
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._random = random.Random(1)

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
                [delay_ms] = self._random.choices(DELAYS_MS, SHARES)
                await asyncio.sleep(delay_ms / 1000)
                writer.write(ANSWER)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    def __enter__(self):
        self._thread.start()
        self._ready.wait(10)
        return self

    def _end(self):
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.call_later(0.1, self._loop.stop)

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._end)
        self._thread.join(10)
        self._loop.close()
