# SPDX-License-Identifier: Apache-2.0
"""Damaged files of the data folder: what can be told is told, and what only makes starting faster stops nothing."""
import glob
import os
import subprocess

from kit.harness import Buyer, Server, equal, rule, run, true

server = Server().start()


def flip(name, at, bit=1):
    with open(os.path.join(server.data, name), "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ bit]))


def verify():
    done = subprocess.run([server.binary, "verify", server.data], capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


@rule
def a_flipped_digit_of_the_secret_refuses_to_start():
    item, buyer = server.open_item(total=5), Buyer(server)
    buyer.win(item)
    server.stop()
    server.verify()
    flip("identity", 40)
    code, said = server.start_refused()
    true(code != 0 and "identity: is damaged" in said, said)
    equal(verify()[0], 2)
    flip("identity", 40)
    server.start()
    equal(buyer.mine(item)["bought"], True, "sessions and ids are as they were")


@rule
def an_old_identity_with_another_digit_is_told_by_the_database():
    server.stop()
    path = os.path.join(server.data, "identity")
    with open(path, encoding="ascii") as file:
        kept = file.read()
    digit = "7" if kept[40] != "7" else "8"
    with open(path, "w", encoding="ascii") as file:  # the form without a checksum
        file.write("stampede-data 1 " + kept[16:40] + digit + kept[41:97] + "\n")
    code, said = server.start_refused()
    true(code != 0 and "the secret in the file identity does not belong" in said, said)
    equal(verify()[0], 1)
    with open(path, "w", encoding="ascii") as file:
        file.write("stampede-data 1 " + kept[16:97] + "\n")
    server.start()
    with open(path, encoding="ascii") as file:
        equal(file.read(), kept, "it has its checksum again")


@rule
def a_damaged_snapshot_never_stops_the_start():
    server.stop()
    names = [os.path.relpath(path, server.data) for path in glob.glob(os.path.join(server.data, "journal", "snapshot-*"))]
    true(names, "no snapshot")
    for at in (12, 16, 20, 83, 91, 99):  # the high bits of counts, too
        for name in names:
            flip(name, at, 0x80)
        server.start()
        true("is damaged" in server.log(), "it says so")
        server.kill()
        for name in names:
            flip(name, at, 0x80)
    server.start()


@rule
def a_folder_without_a_whole_database_does_not_verify():
    server.stop()
    server.verify()
    path = os.path.join(server.data, "stampede.db")
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        kept = file.read()
    for part in (7, 4, 1):
        os.truncate(path, size * part // 8 // 4096 * 4096)
        code, said = verify()
        equal(code, 1, said[-600:])
    os.unlink(path)
    code, said = verify()
    true(code == 1 and "there is no stampede.db" in said and "not checked, no database" in said, said)
    with open(path, "wb") as file:
        file.write(kept)
    server.verify()


run()
