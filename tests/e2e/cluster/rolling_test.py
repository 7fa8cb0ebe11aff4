# SPDX-License-Identifier: Apache-2.0
"""All processes of a shop are restarted one after the other, behind nginx and HAProxy and under load: no answer is lost, and the same with
two versions of the program. The other version is a copy of the program that tells another number; it behaves the same. nginx does not
ask /readyz, so behind it only requests that may be repeated are sure of an answer."""
import os
import shutil
import time

from kit import databases

databases.beside("postgres", "redis")

from kit.cluster import Cluster, reconcile  # noqa: E402
from kit.fronts import FRONTS, Load  # noqa: E402
from kit.harness import binary_path, equal, eventually, rule, run, skip, temp_folder, true  # noqa: E402

NOTICE_MS = {"haproxy": 4000, "nginx": 100}  # above what HAProxy needs to notice (docs/cluster.md); nginx does not ask
SEEN_S = {"haproxy": 3, "nginx": 1}  # then HAProxy has seen that a gateway is ready
VERSION, OTHER = b"0.2.0", b"0.2.9"


def other_version():
    """The path of a program that says that it is another version."""
    with open(binary_path(), "rb") as file:
        program = file.read()
    if program.count(VERSION + b"\0") == 0:
        skip(f"the program is not version {VERSION.decode()}")
    path = os.path.join(temp_folder(), "stampede")
    with open(path, "wb") as file:
        file.write(program.replace(VERSION + b"\0", OTHER + b"\0"))
    shutil.copymode(binary_path(), path)
    return path


def versions(shop):
    return databases.ask("postgres", shop.settings["store.url"].rpartition("/")[2], "SELECT DISTINCT version FROM members ORDER BY version").split()


def rolled(front_kind, binary=None):
    """Restarts everything under load; the load, when it has ended, the shop and the versions that were seen together."""
    front_class = FRONTS[front_kind]
    shop = Cluster(gateways=3, workers=2, settings={"inventory.tell_ms": 2000}, gateway_kind=front_class.gateway_kind,
                   gateway_settings={**front_class.gateway_settings, "server.drain_notice_ms": NOTICE_MS[front_kind]}).start()
    front = front_class(shop).start()
    item = shop.worker.open_item(total=100000)
    shop.everywhere(item)
    load, together = Load(front, item).start(), []
    time.sleep(SEEN_S[front_kind])
    for number, server in enumerate(shop.all):
        server.binary = binary or server.binary
        shop.restart(server)
        if number == 0:
            eventually(lambda: len(versions(shop)) == (2 if binary else 1), f"versions {versions(shop)}")
            together = versions(shop)
        time.sleep(SEEN_S[front_kind] if server in shop.gateways else 0.5)
    load.end()
    front.end()
    print(f"     {front_kind}: {len(shop.all)} restarts: {dict(load.answers)}")
    return shop, item, load, together


def judged(shop, item, load, *whats):
    """whats: these requests must all have an answer; none named: all."""
    equal(load.lost(*whats), {}, "requests without an answer")
    equal({what: count for what, count in load.answers.items() if what[1] == 503}, {}, "told to come again")
    true(load.answers["buy", 202] > 100, "hardly anybody bought")
    name = shop.settings["store.url"].rpartition("/")[2]
    counted = lambda: int(databases.ask("postgres", name, f"SELECT count(*) FROM orders WHERE item = {item}"))  # noqa: E731
    eventually(lambda: counted() == load.answers["buy", 202], f"{counted()} orders")
    code, report = reconcile(shop.worker)
    equal((code, report["found"]), (0, 0), report)
    shop.stop()
    shop.worker.verify()


@rule
def haproxy_loses_no_answer_while_all_processes_are_restarted():
    shop, item, load, _ = rolled("haproxy")
    judged(shop, item, load)


@rule
def nginx_loses_no_answer_that_may_be_repeated_while_all_processes_are_restarted():
    shop, item, load, _ = rolled("nginx")
    judged(shop, item, load, "buy", "view")


@rule
def nothing_is_lost_either_while_two_versions_run_side_by_side_and_each_tells_of_the_other():
    shop, item, load, together = rolled("nginx", other_version())
    equal(together, [VERSION.decode(), OTHER.decode()])
    equal(versions(shop), [OTHER.decode()])
    true(any("runs version" in server.log() for server in shop.all), "no process tells that another version runs")
    judged(shop, item, load, "buy", "view")


run()
