# SPDX-License-Identifier: Apache-2.0
"""Many archived sales in one data folder: what they cost a start, memory and disk, and that a bundle verifies alone."""
import os
import shutil
import subprocess
import tempfile
import time

from bars import Ended, asked
from growth_kit import serving
from kit.harness import Buyer, eventually

SALES, LONG = asked("ARCHIVED_SALES", 1000)
AT_ONCE = 25
SALE_MS = 6000
START_MORE_MS = 150  # on a busy machine
MEMORY_MORE = 8 << 20
DISK_MORE_EACH = 4096


def stampede(server, *words):
    environment = {**os.environ, "STAMPEDE_ADMIN_KEY": server.keys["admin"], "STAMPEDE_URL": f"http://127.0.0.1:{server.port}"}
    done = subprocess.run([server.binary, *words], capture_output=True, text=True, timeout=3600, env=environment)
    if done.returncode != 0:
        raise Ended(f"{' '.join(words)}: {(done.stdout + done.stderr)[-300:]}")
    return done.stdout


def sales_hold(server, count, product):
    """Sales with one paid order each, over when this returns."""
    items = []
    for _ in range(count):
        sale = server.sale(lasts_ms=SALE_MS)
        item = server.item(sale, product=product, total=2)
        server.publish(sale, visible=False)
        items.append((sale, item))
    for _, item in items:
        reply = eventually(lambda: (lambda r: r if r.status == 202 else None)(Buyer(server).buy(item)), "nobody can buy")
        assert reply.status == 202
    for sale, item in items:
        order = eventually(lambda: server.admin_ok("GET", f"/orders?item={item}")["orders"], "no order")[0]["view"]
        server.admin_ok("POST", f"/orders/{order['order']}/paid",
                        {"reference": f"r-{order['order']}", "amount": order["amount"], "currency": order["currency"]})
    end_ms = max(server.admin_ok("GET", f"/sales/{sale}")["end_ms"] for sale, _ in items)
    eventually(lambda: server.now_ms() > end_ms + 10, "a sale does not end")
    eventually(lambda: server.metrics()["stampede_stock_events_open"] == 0, "stock events are open")


def disk_bytes(folder):
    """Without the bundles, which may lie anywhere."""
    return sum(os.stat(os.path.join(where, name)).st_blocks * 512 for where, _, names in os.walk(folder)
               for name in names if not name.endswith(".bundle"))


def figures(server):
    """(ms until it serves, resident bytes, bytes on the disk) after a clean stop."""
    server.stop()
    began = time.monotonic()
    server.start()
    started_ms = (time.monotonic() - began) * 1000
    with open(f"/proc/{server.process.pid}/status") as file:
        memory = next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS"))
    return started_ms, memory, disk_bytes(server.data)


def archived():
    with serving(archive__after_days=0, data__sales_max=SALES + 16, data__items_max=SALES + 16,
                 data__segment_bytes=1024 * 1024 + 4096) as server:
        server.start()
        product = server.product()
        sales_hold(server, 1, product)
        stampede(server, "archive", "--after-days", "0", "--data", server.data)
        one = figures(server)
        for _ in range(0, SALES - 1, AT_ONCE):
            sales_hold(server, AT_ONCE, product)
            stampede(server, "archive", "--after-days", "0", "--data", server.data)
        many = figures(server)
        stampede(server, "archive", "--after-days", "0", "--data", server.data)  # segments before the last snapshots
        many = figures(server)
        with tempfile.TemporaryDirectory(prefix="elsewhere-") as elsewhere:
            name = f"sale-{SALES // 2:05d}.bundle"
            shutil.copy(os.path.join(server.data, "archive", name), elsewhere)
            told = stampede(server, "verify", os.path.join(elsewhere, name))
        server.stop()
        verified = stampede(server, "verify", server.data, "--quiet")
    good = (many[0] <= one[0] + START_MORE_MS and many[1] <= one[1] + MEMORY_MORE
            and many[2] <= one[2] + SALES * DISK_MORE_EACH + (4 << 20) and "all checks hold" in told
            and "all checks hold" in verified)
    return (f"{SALES:,} archived sales: start {many[0]:.0f} ms (one: {one[0]:.0f}), memory {many[1] >> 20} MiB ({one[1] >> 20}), "
            f"disk {many[2] >> 10} KiB ({one[2] >> 10}); a bundle: {told.strip()}", good)


def parts(bars):
    bars.part("5", f"start, memory and disk with {SALES:,} archived sales as with one; a bundle verifies elsewhere", archived)
