# SPDX-License-Identifier: Apache-2.0
"""A shop of many machines moves to one (`stampede migrate --from FILE --to DIR`): killed after each of its changes, run again, and
then everything that was told before goes on: tickets of all partitions and epochs, held and paid orders, waitlists, places, keys."""
import os

from kit import databases, moving
from kit.harness import Buyer, Server, equal, eventually, rule, run, temp_folder, true

KIND = os.environ.get("MIGRATE_KIND", "postgres")
databases.beside(KIND, "redis")

from kit.cluster import Cluster, at, reconcile  # noqa: E402
from kit.moving import enter, pay, refused, three_buy, two_pay, verified  # noqa: E402

KILLS_MAX = 200
PAGE = 7  # rows in a transaction: so that tables have many pages
ONE = {"orders.grace_ms": 0, "waitlist.window_ms": 600000, "room.open_ms": 600000, "server.threads": 1}
store, database = databases.fresh(KIND)
SHARED = {**ONE, **store, **databases.inventory_settings(temp_folder()), "inventory.tell_ms": 5000, "inventory.timeout_ms": 5000}
worker = Server(settings={**SHARED, "cluster.role": "worker"})
gateway = Server(settings={**SHARED, "cluster.role": "gateway"})
folder = temp_folder() + "/one"
one = Server(settings=ONE, data=folder)
kept = {}  # what was told before the move


def migrate(to=folder, kill=0):
    return moving.migrate(worker.config, to, PAGE, kill)


def sealed():
    return databases.ask(KIND, database, "SELECT filling FROM store_identity")


def all_start():
    for process in (worker, gateway):
        process.spawn()
        Cluster.ready(process)


@rule
def a_shop_of_many_machines_sells():
    equal(databases.migrate(worker).returncode, 0)
    all_start()
    item = kept["item"] = worker.open_item(total=4, pay_window_ms=3600000)
    sharded = kept["sharded"] = worker.open_item(total=8, pay_window_ms=3600000, sale_fields={"shards": 3})
    for one_item in (item, sharded):
        eventually(lambda i=one_item: gateway.get(f"/v1/items/{i}").status == 200, "the item is not shown")
    kept.update(three_buy(gateway, item))
    two_pay(worker, kept)
    eventually(lambda: worker.counts(item)["free"] == 2, "the refund gives no unit back")
    kept["shards"] = []
    for _ in range(4):
        buyer = Buyer(gateway)
        won = buyer.win(sharded)
        kept["shards"].append((buyer, won, buyer.order(won["ticket"])))
    brief = kept["brief"] = worker.open_item(total=1, pay_window_ms=25000)
    eventually(lambda: gateway.get(f"/v1/items/{brief}").status == 200, "the item is not shown")
    late, waiter = Buyer(gateway), Buyer(gateway)
    kept["late"] = late, late.win(brief)
    eventually(lambda: waiter.wait(brief).status == 201, "nobody can wait")
    kept["waiter"] = waiter
    room = kept["room"] = worker.sale(start_in_ms=600000, waiting_room=True)
    worker.item(room, total=1)
    worker.publish(room)
    guest = kept["guest"] = Buyer(gateway)
    eventually(lambda: enter(gateway, room, guest), "the room does not open")
    kept["draft"] = worker.sale()
    kept["draft_item"] = worker.item(kept["draft"], total=2)


@rule
def a_later_epoch_has_tickets_too():
    """Processes start again, so the partitions are opened anew, and numbers have another epoch."""
    for process in (gateway, worker):
        process.stop()
    all_start()
    buyer = Buyer(gateway)
    won = eventually(lambda: (reply := buyer.buy(kept["item"])).status == 202 and reply.json(), "nobody can buy after a restart")
    kept["after"] = buyer, won, buyer.order(won["ticket"])
    eventually(lambda: worker.counts(kept["item"])["free"] == 1, "the units differ")


@rule
def while_a_process_runs_it_is_refused_and_nothing_changes():
    refused(migrate(), "stop all processes")
    gateway.stop()
    refused(migrate(), "worker", "stop all processes")
    equal(sealed(), "0")
    true(not os.path.exists(folder))
    worker.stop()


@rule
def a_folder_in_use_and_dead_letters_are_refused_and_nothing_changes():
    used = temp_folder()
    with open(os.path.join(used, "identity"), "w", encoding="ascii") as file:
        file.write("not ours\n")
    refused(migrate(to=used), "in use")
    databases.ask(KIND, database, "INSERT INTO dead_letters(lsn, record_type, ticket, item, user_id, quantity, time_ms, reason, record)"
                  " VALUES(1, 7, 1, 1, 1, 1, 1, 'test', '')")
    refused(migrate(), "dead letters")
    databases.ask(KIND, database, "DELETE FROM dead_letters")
    equal(sealed(), "0")
    true(not os.path.exists(folder))


@rule
def killed_after_each_change_it_goes_on_and_both_are_never_open():
    kills = 0
    while True:
        done = migrate(kill=1)
        if done.returncode == 0:
            break
        equal(done.returncode, -9, done.stderr)
        kills += 1
        true(kills < KILLS_MAX, "it never comes to its end")
        code, text = Server(settings={**SHARED, "cluster.role": "all"}).start_refused()
        true(code != 0 and ("sealed" in text or "has moved" in text), text)
        if os.path.exists(os.path.join(folder, "moved")):
            code, text = Server(settings=ONE, data=folder).start_refused()
            true(code == 1 and "sealed" in text, text)
        elif os.path.exists(folder):
            true(done.stdout.endswith("The folder is open.\n"), done.stdout)
            break
    true(kills > 15, f"killed only {kills} times: {done.stdout}")


@rule
def the_many_machines_never_open_again_and_another_folder_is_refused():
    code, text = Server(settings={**SHARED, "cluster.role": "worker"}).start_refused()
    true(code != 0 and "has moved to one machine" in text, text)
    refused(migrate(to=folder + "-2"), "another folder already")
    refused(migrate(), "in use")
    verified(folder)


@rule
def what_was_told_is_shown_and_a_key_finds_its_ticket():
    one.start()
    for name, state in (("holder", "pending"), ("payer", "paid"), ("refunded", "refunded"), ("after", "pending")):
        buyer, won, order = kept[name]
        shown = at(one, buyer).order(won["ticket"])
        equal((shown["order"], shown["state"]), (order["order"], state))
    for buyer, won, order in kept["shards"]:
        equal(at(one, buyer).order(won["ticket"])["order"], order["order"])
    buyer, won, _ = kept["holder"]
    equal(at(one, buyer).win(kept["item"], key="the-key-of-the-holder")["ticket"], won["ticket"])
    equal(one.counts(kept["item"])["free"], 1)
    equal((one.counts(kept["sharded"])["free"], one.counts(kept["sharded"])["held"]), (4, 4))


@rule
def held_orders_are_paid_and_given_back_and_sales_go_on():
    buyer, won, order = kept["holder"]
    equal(pay(one, order).status, 200)
    equal(at(one, buyer).order(won["ticket"])["state"], "paid")
    eventually(lambda: one.counts(kept["item"])["sold"] == 2, "the inventory does not know that it is paid")
    buyer, won, order = kept["shards"][0]
    equal(pay(one, order).status, 200)
    one.admin_ok("POST", f"/orders/{order['order']}/refund", {"to": "stock"})
    eventually(lambda: one.counts(kept["sharded"])["free"] == 5, "a refund gives no unit back")
    told = {kept[name][1]["ticket"] for name in ("holder", "payer", "refunded", "after")} | {won["ticket"] for _, won, _ in kept["shards"]}
    for item in (kept["item"], kept["sharded"]):
        late = Buyer(one)
        new = late.win(item)
        true(new["ticket"] not in told)
        told.add(new["ticket"])
        equal(late.order(new["ticket"])["state"], "pending")
    again = at(one, kept["after"][0]).buy(kept["item"])  # the limit of one is known
    true(again.status in (200, 202, 409) and (again.status == 409 or again.json()["ticket"] == kept["after"][1]["ticket"]), again.body)


@rule
def an_order_expires_and_whoever_waited_has_its_unit():
    buyer, won = kept["late"]
    eventually(lambda: at(one, buyer).order(won["ticket"])["state"] == "closed", "it does not expire", patience_s=60)
    waiter = at(one, kept["waiter"])
    eventually(lambda: waiter.get("/v1/orders").json()["orders"], "nobody is offered the unit", patience_s=60)


@rule
def a_place_in_the_waiting_room_stays_and_a_draft_can_be_sold():
    guest = kept["guest"]
    equal(one.get(f"/v1/sales/{kept['room']}/room", session=guest.session).status, 200)
    true(enter(one, kept["room"], guest))
    one.publish(kept["draft"])
    buyer = Buyer(one)
    equal(buyer.order(buyer.win(kept["draft_item"])["ticket"])["state"], "pending")


@rule
def after_a_kill_it_starts_again_and_reconciliation_finds_nothing():
    one.kill()
    one.start()
    buyer, won, _ = kept["holder"]
    equal(at(one, buyer).order(won["ticket"])["state"], "paid")
    code, report = reconcile(one)
    equal((code, report["found"]), (0, 0), report)


run()
