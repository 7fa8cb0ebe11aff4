# SPDX-License-Identifier: Apache-2.0
"""A second machine: a follower keeps a copy, and takes over when the first one is lost (docs/follow.md)."""
import os
import resource
import shutil
import signal
import socket
import subprocess
import threading

from kit.following import SECRET, Followed, Follower, heir, heir_keeps, order_of, pair, ready
from kit.harness import Buyer, Server, equal, eventually, halt, rule, run, temp_folder, true

server, follower = pair({"payment.providers": "sandbox", "payment.query_ms": 300, "follow.away_ms": 1500})
item = server.open_item(total=100000, limit_per_user=1)


def sell(count, to=None, of=None):
    """Who was told what."""
    told = []
    for _ in range(count):
        buyer = Buyer(to or server)
        reply = buyer.buy(of or item)
        equal(reply.status, 202, reply)
        told.append((buyer, reply.json()["ticket"]))
    return told


def paid(buyer, ticket, to=None):
    """The order's id, when its payer was told that it is paid."""
    to = to or server
    order = order_of(to, buyer, ticket)["order"]
    reply = to.request("POST", f"/v1/orders/{order}/pay", session=buyer.session)
    equal(reply.status, 200, reply)
    payment = reply.json()["payment"]["url"].split("id=")[1]
    equal(to.request("POST", f"/sandbox/v1/pay/{payment}", {"how": "pay"}).status, 200)
    eventually(lambda: to.get(f"/v1/orders/{order}", session=buyer.session).json()["state"] == "paid")
    return order


@rule
def a_copy_is_made_and_says_how_it_is():
    done = follower.status()
    equal(done.returncode, 0, done.stdout + done.stderr)
    true("copy: whole" in done.stdout and "follows the server" in done.stdout, done.stdout)
    true(server.metrics()["stampede_follow_connected"] == 1)


@rule
def a_copy_is_not_served_before_it_takes_over():
    copy = Server(data=follower.data)
    follower.kill()
    code, said = copy.start_refused()
    equal(code, 1, said)
    true("copy of a follower" in said, said)
    follower.start()
    server.current()


@rule
def files_are_the_same_when_nothing_happens():
    sell(30)
    key = os.path.join(server.data, "note-of-a-person")
    with open(key, "w") as file:
        file.write("a small file")
    eventually(lambda: os.path.exists(os.path.join(follower.data, "note-of-a-person")))

    def same():
        for name in sorted(os.listdir(os.path.join(server.data, "journal"))) + ["../stampede.db", "../stampede.db-wal"]:
            ours, theirs = (os.path.join(data, "journal", name) for data in (server.data, follower.data))
            with open(ours, "rb") as a, open(theirs, "rb") as b:
                if a.read() != b.read():
                    return False
        return sorted(os.listdir(os.path.join(server.data, "journal"))) == sorted(os.listdir(os.path.join(follower.data, "journal")))
    eventually(same, "files differ")


@rule
def a_follower_that_is_killed_goes_on_where_it_was():
    bases = server.metrics()["stampede_follow_bases_total"]
    follower.kill()
    follower.start()
    server.current()
    sell(3)
    equal(server.metrics()["stampede_follow_bases_total"], bases, "no new base")


@rule
def without_the_follower_nothing_is_won_and_then_it_goes_on():
    follower.kill()
    eventually(lambda: b"follower is away" in server.get("/readyz").body, "wins go on")
    equal(server.get("/readyz").status, 503)
    reply = Buyer(server).buy(item)
    equal(reply.status, 503, reply)
    eventually(lambda: server.metrics()['stampede_alarm{name="follower-away"}'] == 1)
    eventually(lambda: server.metrics()["stampede_wins_stopped"] == 5)
    follower.start()
    eventually(lambda: server.get("/readyz").status == 200)
    sell(3)
    eventually(lambda: server.metrics()['stampede_alarm{name="follower-away"}'] == 0)


@rule
def a_wrong_secret_and_another_shop_are_refused():
    other = Follower(server.address, server.binary, secret=SECRET[::-1]).start()
    eventually(lambda: "does not know the secret" in other.log())
    other.kill()
    true(not os.path.exists(os.path.join(other.data, "identity")))
    stranger = Followed({"follow.away_ms": 1500})
    stranger.spawn()
    try:
        copy = temp_folder()
        os.rmdir(copy)
        second = Follower(server.address, server.binary, data=copy).start()
        eventually(lambda: "has a follower already" in second.log())
        second.kill()
        shutil.rmtree(copy)
        follower.stop()
        first = Follower(stranger.address, server.binary, data=follower.data)
        code, said = first.refused()
        equal(code, 1, said)
        true("another shop" in said, said)
    finally:
        stranger.kill()
    follower.start()
    server.current()


@rule
def settings_that_do_not_fit_are_refused():
    for settings, word in (({"follow.mode": "sometimes"}, "follow.mode"), ({"follow.alone": "perhaps"}, "follow.alone"),
                           ({"follow.listen": "7000"}, "follow.listen"), ({"follow.secret_file": ""}, "follow.secret_file"),
                           ({"inventory.kind": "redis", "inventory.url": "127.0.0.1:1"}, "follow.listen"),
                           ({"follow.listen": "", "follow.peer": "127.0.0.1:1"}, "follow.peer")):
        code, said = Followed(settings).start_refused()
        if "inventory.kind" not in settings:
            true(word in said, said)
        equal(code, 2, f"{settings}: {said}")
    code, said = Followed({"follow.secret_file": "/nonexistent"}).start_refused()
    equal(code, 2, said)
    done = subprocess.run([server.binary, "follow", "--data", "x"], capture_output=True, text=True, timeout=60)
    equal(done.returncode, 2, done.stderr)
    done = subprocess.run([server.binary, "follow", "takeover", "--data", server.data], capture_output=True, text=True, timeout=60)
    equal(done.returncode, 1, done.stderr)
    true("not the copy of a follower" in done.stderr, done.stderr)
    true(server.alive())


@rule
def a_lost_disk_loses_nothing_that_was_told():
    told = sell(40)
    orders = [(buyer, paid(buyer, ticket)) for buyer, ticket in told[:5]]
    cancelled, ticket = sell(1)[0]
    order = order_of(server, cancelled, ticket)["order"]
    equal(server.request("POST", f"/v1/orders/{order}/cancel", session=cancelled.session).status, 200)
    keep = temp_folder()
    told += sell(5)
    server.kill()
    shutil.copytree(server.data, os.path.join(keep, "data"))
    shutil.rmtree(server.data)
    follower.took_over()
    new = heir(follower, server)
    new.spawn()
    second = Follower(new.address, server.binary).start()
    ready(new)
    for buyer, ticket in told:
        true(order_of(new, buyer, ticket)["state"] in ("pending", "paid"), ticket)
    for buyer, id in orders:
        equal(new.get(f"/v1/orders/{id}", session=buyer.session).json()["state"], "paid")
    equal(new.get(f"/v1/orders/{order}", session=cancelled.session).json()["state"], "closed")
    sell(3, new)
    # The old one, from a copy of its folder: its peer has taken over.
    old = Server(data=os.path.join(keep, "data"), settings={
        **{name: value for name, value in server.settings.items() if name not in ("server.port", "data.folder", "follow.listen")},
        "follow.listen": "127.0.0.1:0", "follow.peer": new.address})
    code, said = old.start_refused()
    equal(code, 1, said)
    true("has taken over this shop (generation 2, ours is 1)" in said, said)
    old.write_config(follow__peer="")
    code, said = old.start_refused()
    equal(code, 1, said)
    true("sells no more" in said, said)
    second.whole()
    new.current()
    new.stop()
    new.verify()
    second.stop()


@rule
def a_server_that_is_cut_off_is_fenced_when_it_is_heard_of():
    first, copy = pair({"follow.away_ms": 1500})
    thing = first.open_item(total=1000)
    told = sell(5, first, thing)
    # It stands still, as one whose network is cut; the copy takes over without its answer.
    halt(first.process.pid)
    done = copy.takeover()
    equal(done.returncode, 0, done.stdout + done.stderr)
    true("does not answer" in done.stdout, done.stdout)
    new = heir(copy, first, **{"follow.listen": "127.0.0.1:0", "follow.peer": first.address, "follow.alone": "sell"})
    new.spawn()
    first.process.send_signal(signal.SIGCONT)
    equal(first.wait(), 1, first.log()[-1000:])
    true("has taken over this shop" in first.log(), first.log()[-1000:])
    code, said = first.start_refused()
    equal(code, 1, said)
    heir_keeps(new, told)


@rule
def a_takeover_while_the_server_runs_stops_it():
    first, copy = pair({"follow.away_ms": 1500})
    thing = first.open_item(total=1000)
    told = sell(5, first, thing)
    done = copy.takeover()
    equal(done.returncode, 0, done.stdout + done.stderr)
    true("was told, and has stopped" in done.stdout, done.stdout)
    equal(first.wait(), 1)
    code, said = copy.refused()
    equal(code, 1, said)
    true("not the copy of a follower" in said, said)
    new = heir(copy, first, **{"follow.alone": "sell"})
    heir_keeps(new.spawn(), told)


@rule
def alone_may_sell_with_an_alarm():
    first, copy = pair({"follow.away_ms": 500, "follow.alone": "sell"})
    thing = first.open_item(total=1000)
    copy.kill()
    sell(5, first, thing)
    eventually(lambda: first.metrics()['stampede_alarm{name="follower-away"}'] == 1)
    equal(first.get("/readyz").status, 200)
    copy.start()
    first.current()
    told = sell(2, first, thing)
    first.kill()
    copy.took_over()
    new = heir(copy, first)
    heir_keeps(new.spawn(), told)


@rule
def a_follower_that_lags_raises_an_alarm_and_catches_up():
    first, copy = pair({"follow.mode": "async", "follow.buffer_mib": 1, "follow.away_ms": 60000})
    thing = first.open_item(total=100000)
    alarm = lambda: first.metrics()['stampede_alarm{name="follower-lag"}']
    halt(copy.process.pid)
    try:
        eventually(lambda: alarm() == 1 or not sell(5, first, thing))
    finally:
        copy.process.send_signal(signal.SIGCONT)
    eventually(lambda: alarm() == 0)
    first.current()
    first.stop()
    copy.kill()


@rule
def a_clean_stop_hands_everything_over_in_mode_async_too():
    first, copy = pair({"follow.mode": "async"})
    thing = first.open_item(total=1000)
    told = sell(20, first, thing)
    first.stop()
    copy.took_over()
    new = heir(copy, first)
    heir_keeps(new.spawn(), told)


class Between:
    """A cable between server and follower that can be cut after some bytes, in the middle of whatever is on its way."""

    def __init__(self, port):
        self.to, self.left, self.cuts = port, None, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near = self.listener.accept()[0]
            try:
                far = socket.create_connection(("127.0.0.1", self.to))
            except OSError:  # the server does not listen yet
                near.close()
                continue
            for source, sink, counts in ((near, far, False), (far, near, True)):
                threading.Thread(target=self.carry, args=(source, sink, counts), daemon=True).start()

    def carry(self, source, sink, counts):
        try:
            while data := source.recv(65536):
                if counts and self.left is not None:
                    data, self.left = data[:self.left], self.left - len(data)
                    if self.left <= 0:
                        sink.sendall(data)
                        self.left, self.cuts = None, self.cuts + 1
                        break
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


@rule
def a_cable_that_is_cut_in_the_middle_of_anything_loses_nothing():
    first = Followed({"follow.away_ms": 10000})
    first.spawn()
    cable = Between(first.follow_port)
    copy = Follower(f"127.0.0.1:{cable.port}", first.binary).start()
    ready(first)
    copy.whole()
    first.current()
    thing = first.open_item(total=1000)
    told = []
    for bytes_left in (0, 1, 19, 100, 4000, 5000, 9999, 20000):
        cable.left, cuts = bytes_left, cable.cuts
        told += sell(4, first, thing)
        eventually(lambda: cable.cuts > cuts or not told.extend(sell(1, first, thing)))
        first.current()
    equal(first.metrics()["stampede_follow_bases_total"], 1, "it goes on where it was")
    first.kill()
    shutil.rmtree(first.data)
    copy.took_over()
    new = heir(copy, first, **{"follow.alone": "sell"})
    heir_keeps(new.spawn(), told)


@rule
def a_follower_that_is_killed_while_the_copy_is_made_begins_again_and_keeps_the_old_one():
    first, copy = pair({"follow.away_ms": 10000, "follow.buffer_mib": 1})
    thing = first.open_item(total=1000)
    told = sell(3, first, thing)
    copy.kill()
    first.kill()  # another run: a whole copy is needed
    first.spawn()
    for _ in range(5):
        copy.start()
        eventually(lambda: os.path.exists(copy.data + ".part") or "copy is whole" in copy.log())
        copy.kill()
        equal(Server(data=copy.data).start_refused()[0], 1)
        true("copy: whole" in copy.status().stdout, copy.status().stdout)
    copy.start()
    first.current()
    told += sell(3, first, thing)
    first.kill()
    copy.took_over()
    new = heir(copy, first, **{"follow.alone": "sell"})
    true(not os.path.exists(copy.data + ".part"))
    heir_keeps(new.spawn(), told)


@rule
def a_followers_disk_that_takes_no_more_stops_wins_and_loses_nothing():
    # As a full disk does, a limit of the process makes writes fail; it can be lifted while it runs.
    first = Followed({"follow.away_ms": 1500})
    first.spawn()
    copy = Follower(first.address, first.binary, preexec=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN)).start()
    ready(first)
    copy.whole()
    first.current()
    thing = first.open_item(total=1000)
    told = sell(3, first, thing)
    most = resource.prlimit(copy.process.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    note = os.path.join(first.data, "a-note")
    with open(note, "wb") as file:
        file.write(os.urandom(1 << 17))
    eventually(lambda: "can't be written" in copy.log(), "it takes more")
    eventually(lambda: b"follower is away" in first.get("/readyz").body)
    resource.prlimit(copy.process.pid, resource.RLIMIT_FSIZE, most)
    first.current()
    eventually(lambda: first.get("/readyz").status == 200)
    told += sell(3, first, thing)
    first.kill()
    copy.took_over()
    with open(os.path.join(copy.data, "a-note"), "rb") as file:
        equal(len(file.read()), 1 << 17)
    new = heir(copy, first, **{"follow.alone": "sell"})
    heir_keeps(new.spawn(), told)


run()
