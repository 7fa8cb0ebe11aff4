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
AT_ONCE = 125
SALE_MS = 20000
# With many archived sales instead of one: what a start may take more, in all; memory and disk for each sale. A sale, its item, its sums and
# its row in `archives` stay in the database, and the server has sale and item in its catalog.
START_MORE_MS = 250  # on a busy machine
MEMORY_MORE_EACH = 24 << 10
DISK_MORE_EACH = 8 << 10
SPARE = 4 << 20


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


def elsewhere_verifies(server, name):
    """Another folder, no server, no secret, no setting, another user where that is possible."""
    with tempfile.TemporaryDirectory(prefix="elsewhere-") as elsewhere:
        os.chmod(elsewhere, 0o755)
        program, bundle = os.path.join(elsewhere, "stampede"), os.path.join(elsewhere, name)
        shutil.copy(server.binary, program)
        shutil.copy(os.path.join(server.data, "archive", name), bundle)
        os.chmod(program, 0o755)
        os.chmod(bundle, 0o644)
        user = "nobody" if os.geteuid() == 0 else None
        done = subprocess.run([program, "verify", bundle], capture_output=True, text=True, timeout=60, env={}, cwd=elsewhere, user=user)
    return done.stdout.strip() + done.stderr.strip()


def leave(server):
    """All that are over, and how long each took (ms)."""
    before, began = server.metrics().get("stampede_sales_archived_total", 0), time.monotonic()
    stampede(server, "archive", "--after-days", "0")
    count = server.metrics()["stampede_sales_archived_total"] - before
    return (time.monotonic() - began) * 1000 / max(count, 1)


def archived():
    with serving(data__sales_max=SALES + 16, data__items_max=SALES + 16, data__segment_bytes=1024 * 1024 + 4096) as server:
        server.start()
        product = server.product()
        sales_hold(server, 1, product)
        leave(server)
        one = figures(server)
        each_ms, left = [], SALES - 1
        while left > 0:
            count = min(left, AT_ONCE)
            sales_hold(server, count, product)
            each_ms.append(leave(server))
            left -= count
        figures(server)
        leave(server)  # segments before the last snapshots
        many = figures(server)
        told = elsewhere_verifies(server, f"sale-{SALES // 2:05d}.bundle")
        tickets = server.metrics()['stampede_bound_used{of="tickets"}']
        series = sum(1 for line in server.get("/metrics").body.decode().splitlines() if 'sale="' in line)
        server.stop()
        verified = stampede(server, "verify", server.data, "--quiet")
    more = [many[0] - one[0], many[1] - one[1], many[2] - one[2]]
    good = (more[0] <= START_MORE_MS and more[1] <= SALES * MEMORY_MORE_EACH + SPARE and more[2] <= SALES * DISK_MORE_EACH + SPARE
            and tickets == 0 and "all checks hold" in told and "all checks hold" in verified)
    return (f"{SALES:,} archived sales, {each_ms[0]:.0f} ms for each of the first {AT_ONCE} and {each_ms[-1]:.0f} ms of the last: start {many[0]:.0f} ms "
            f"(one: {one[0]:.0f}), memory {many[1] / 1048576:.1f} MiB ({one[1] / 1048576:.1f}), disk {many[2] >> 10} KiB ({one[2] >> 10}), "
            f"{tickets:.0f} tickets, {series} series of sales; allowed {START_MORE_MS} ms, {MEMORY_MORE_EACH >> 10} KiB and "
            f"{DISK_MORE_EACH >> 10} KiB a sale; a bundle elsewhere, as another user: {told}", good)


def parts(bars):
    bars.part("5", f"start, memory and disk with {SALES:,} archived sales as with one; a bundle verifies elsewhere", archived)
