# SPDX-License-Identifier: Apache-2.0
"""The file high-water: kept beside the database, so that no number is given twice and an older database is known."""
import os

from kit.harness import Buyer, Server, equal, eventually, rule, run, true

server = Server().start()
PATH = os.path.join(server.data, "high-water")


def marks():
    with open(PATH) as file:
        lines = file.read().splitlines()
    equal(lines[0], "stampede-high-water 1")
    return {line.split()[0]: [int(number) for number in line.split()[1:]] for line in lines[1:-1]}


@rule
def a_number_that_was_told_is_in_the_file_before_it_is_told():
    for _ in range(3):
        sale = server.sale()
        equal(marks()["sales"], [sale, sale])
        item = server.item(sale)
        equal(marks()["items"], [item, item])


@rule
def places_get_new_numbers_after_a_kill():
    item = server.open_item(total=1)
    Buyer(server).win(item)
    equal(Buyer(server).wait(item).status, 201)
    first = server.admin_ok("GET", f"/items/{item}/waitlist")["waitlist"][-1]["id"]
    eventually(lambda: "waitlist" in marks() and marks()["waitlist"][1] > first, "nothing is reserved")
    reserved = marks()["waitlist"][1]
    server.restart(kill=True)
    equal(Buyer(server).wait(item).status, 201)
    second = server.admin_ok("GET", f"/items/{item}/waitlist")["waitlist"][-1]["id"]
    equal(second, reserved + 1, "what may have been given is left out")
    server.stop()
    equal(marks()["waitlist"], [second, second], "a clean stop gives back what it did not use")
    server.start()
    equal(Buyer(server).wait(item).status, 201)
    equal(server.admin_ok("GET", f"/items/{item}/waitlist")["waitlist"][-1]["id"], second + 1)


@rule
def a_damaged_file_is_named_and_a_missing_one_is_made():
    server.stop()
    with open(PATH, "r+b") as file:
        file.seek(30)
        byte = file.read(1)
        file.seek(30)
        file.write(bytes([byte[0] ^ 1]))
    code, told = server.start_refused()
    equal(code, 1)
    true("the file high-water is damaged" in told, told)
    os.unlink(PATH)
    server.start()
    true(marks()["sales"][0] > 0)


run()
