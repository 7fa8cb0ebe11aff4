# SPDX-License-Identifier: Apache-2.0
"""A shop of one machine moves to many (`stampede migrate`): killed after each of its changes, run again, and then everything
that was told before goes on: held and paid orders, the waitlist, places in a waiting room, keys."""
import os
import shutil

from kit import databases, moving
from kit.harness import Buyer, Server, equal, eventually, rule, run, temp_folder, true

KIND = os.environ.get("MIGRATE_KIND", "postgres")
databases.beside(KIND, "redis")

from kit.cluster import Cluster, at, reconcile  # noqa: E402
from kit.moving import enter, pay, refused, three_buy, two_pay, verified  # noqa: E402

KILLS_MAX = 200
PAGE = 5  # rows in a transaction: so that tables have many pages
ONE = {"orders.grace_ms": 0, "waitlist.window_ms": 600000, "room.open_ms": 600000, "server.threads": 1}
one = Server(settings=ONE)
kept = {}      # what was told before the move
processes = []  # of the many machines


def target():
    """Settings of many machines whose secret does not exist yet, with empty tables."""
    folder = temp_folder()
    store, name = databases.fresh(KIND)
    settings = {**ONE, **store, **databases.inventory_settings(folder), "inventory.tell_ms": 5000, "inventory.timeout_ms": 5000,
                "cluster.role": "all"}
    os.remove(settings["cluster.secret_file"])
    server = Server(settings=settings)
    equal(databases.migrate(server).returncode, 0)
    kept["settings"] = settings
    return server, name


def migrate(folder, server, kill=0):
    return moving.migrate(folder, server.config, PAGE, kill)


@rule
def a_shop_of_one_machine_sells():
    one.start()
    item = kept["item"] = one.open_item(total=4, pay_window_ms=3600000)
    kept.update(three_buy(one, item))
    two_pay(one, kept)
    eventually(lambda: one.counts(item)["free"] == 2, "the refund gives no unit back")
    # An order that nobody will pay, and one who waits for its unit.
    brief = kept["brief"] = one.open_item(total=1, pay_window_ms=20000)
    late, waiter = Buyer(one), Buyer(one)
    kept["late"] = late, late.win(brief)
    equal(waiter.wait(brief).status, 201)
    kept["waiter"] = waiter
    room = kept["room"] = one.sale(start_in_ms=600000, waiting_room=True)
    one.item(room, total=1)
    one.publish(room)
    guest = kept["guest"] = Buyer(one)
    eventually(lambda: enter(one, room, guest), "the room does not open")
    kept["draft"] = one.sale()
    kept["draft_item"] = one.item(kept["draft"], total=2)


@rule
def a_folder_that_a_server_holds_is_refused_and_nothing_changes():
    server, name = target()
    refused(migrate(one.data, server), "locked by another process")
    equal(databases.ask(KIND, name, "SELECT data_id FROM store_identity"), "0")
    true(not os.path.exists(os.path.join(one.data, "moved")))
    one.kill()  # orders may lag, and the journal ends as it ends


@rule
def what_can_not_be_a_target_is_refused_and_nothing_changes():
    server, name = target()
    used, _ = target()
    with open(used.settings["cluster.secret_file"], "w", encoding="utf-8") as file:
        file.write("another secret that is long enough for a shop\n")
    refused(migrate(one.data, used), "another secret")
    databases.ask(KIND, name, "INSERT INTO products(id, name, description, images, currency, list_price)"
                  " VALUES(1, 'a', '', '', 'CNY', 1)")
    refused(migrate(one.data, server), "not empty")
    refused(migrate(one.data, Server(settings=ONE)), "inventory.kind")
    refused(migrate(one.data + ".none", server), "does not exist")
    true(not os.path.exists(os.path.join(one.data, "moved")))


@rule
def a_journal_that_does_not_verify_is_refused():
    server, _ = target()
    broken = temp_folder() + "/data"
    shutil.copytree(one.data, broken)
    path = os.path.join(broken, "journal", "segment-0000000000000001")
    with open(path, "r+b") as file:
        file.seek(4096 + 100)
        byte = file.read(1)
        file.seek(4096 + 100)
        file.write(bytes([byte[0] ^ 1]))
    refused(migrate(broken, server), "does not verify")
    true(not os.path.exists(os.path.join(broken, "moved")))


@rule
def killed_after_each_change_it_goes_on_and_both_are_never_open():
    server, name = kept["target"] = target()
    kept["many"] = kept["settings"]
    folder, kills = one.data, 0
    source = Server(settings=ONE, data=folder)
    while True:
        done = migrate(folder, server, kill=1)
        if done.returncode == 0:
            break
        equal(done.returncode, -9, done.stderr)
        kills += 1
        true(kills < KILLS_MAX, "it never comes to its end")
        code, text = source.start_refused()
        true(code == 1 and "sealed" in text, text)
        if databases.ask(KIND, name, "SELECT filling FROM store_identity") == "1":
            code, text = Server(settings=kept["settings"]).start_refused()
            true(code != 0 and "being moved" in text, text)
    true(kills > 15, f"killed only {kills} times: {done.stdout}")
    kept["lines"] = done.stdout
    code, text = source.start_refused()
    true(code == 1 and "has moved" in text, text)


@rule
def the_same_words_again_change_nothing_and_another_target_is_refused():
    server, name = kept["target"]
    entries = databases.ask(KIND, name, "SELECT count(*) FROM journal_entries")
    done = migrate(one.data, server)
    equal(done.returncode, 0, done.stderr)
    true("moved already" in done.stdout, done.stdout)
    equal(databases.ask(KIND, name, "SELECT count(*) FROM journal_entries"), entries)
    refused(migrate(one.data, target()[0]), "another database")


@rule
def the_target_verifies_and_two_gateways_and_a_worker_start():
    server, _ = kept["target"]
    verified("--config", server.config)
    for role in ("worker", "gateway", "gateway"):
        processes.append(Server(settings={**kept["many"], "cluster.role": role}).spawn())
        Cluster.ready(processes[-1])


@rule
def what_was_told_is_shown_and_a_key_finds_its_ticket():
    worker, gateway, other = processes
    for name, state in (("holder", "pending"), ("payer", "paid"), ("refunded", "refunded")):
        buyer, won, order = kept[name]
        shown = at(gateway, buyer).order(won["ticket"])
        equal((shown["order"], shown["state"]), (order["order"], state))
    buyer, won, _ = kept["holder"]
    again = at(other, buyer).win(kept["item"], key="the-key-of-the-holder")
    equal(again["ticket"], won["ticket"])
    equal(worker.counts(kept["item"])["free"], 2)


@rule
def a_held_order_is_paid_and_the_sale_goes_on_at_both_gateways():
    worker, gateway, other = processes
    buyer, won, order = kept["holder"]
    equal(pay(worker, order).status, 200)
    eventually(lambda: at(gateway, buyer).order(won["ticket"])["state"] == "paid", "it is not shown as paid")
    tickets = {kept[name][1]["ticket"] for name in ("holder", "payer", "refunded")}
    for process in (gateway, other):
        late = Buyer(process)
        new = late.win(kept["item"])
        true(new["ticket"] not in tickets)
        tickets.add(new["ticket"])
        equal(late.order(new["ticket"])["state"], "pending")
    eventually(lambda: worker.counts(kept["item"])["free"] == 0, "units are left")


@rule
def an_order_expires_and_whoever_waited_has_its_unit():
    worker, gateway, _ = processes
    buyer, won = kept["late"]
    eventually(lambda: at(gateway, buyer).order(won["ticket"])["state"] == "closed", "it does not expire", patience_s=60)
    waiter = at(gateway, kept["waiter"])
    eventually(lambda: waiter.get("/v1/orders").json()["orders"], "nobody is offered the unit", patience_s=60)


@rule
def a_place_in_the_waiting_room_stays():
    gateway = processes[1]
    guest = kept["guest"]
    equal(gateway.get(f"/v1/sales/{kept['room']}/room", session=guest.session).status, 200)
    true(enter(gateway, kept["room"], guest))
    eventually(lambda: enter(gateway, kept["room"], Buyer(gateway)), "nobody else can enter")


@rule
def a_draft_that_moved_and_a_new_sale_can_be_sold():
    worker, gateway, _ = processes
    worker.publish(kept["draft"])
    items = [kept["draft_item"], worker.open_item(total=2, sale_fields={"shards": 2})]
    for item in items:
        eventually(lambda: gateway.get(f"/v1/items/{item}").status == 200, "the item is not shown", patience_s=60)
        buyer = Buyer(gateway)
        equal(buyer.order(buyer.win(item)["ticket"])["state"], "pending")
    equal(worker.admin("PATCH", f"/sales/{kept['draft']}", {"shards": 4}).status, 409)
    _, name = kept["target"]
    true(int(databases.ask(KIND, name, "SELECT count(*) FROM parts WHERE part > 0")) == 2)


@rule
def reconciliation_and_verify_find_nothing():
    code, report = reconcile(processes[0])
    equal((code, report["found"]), (0, 0), report)
    server, _ = kept["target"]
    verified("--config", server.config)


run()
