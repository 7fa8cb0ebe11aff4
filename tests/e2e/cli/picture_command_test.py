# SPDX-License-Identifier: Apache-2.0
"""Pictures are decoded in a process of its own: bounded, with nothing of the server's, and its end is not the server's."""
import os
import subprocess
import tempfile
import time

from kit.harness import Server, equal, eventually, rule, run, true
from kit.pictures import JPEG, png

server = Server().start()


def clean(picture):
    """(exit code, what it wrote) of the command by itself."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as made:
        given.write(picture)
        given.seek(0)
        done = subprocess.run([server.binary, "clean-picture"], stdin=given, stdout=made, stderr=subprocess.PIPE, timeout=60)
        made.seek(0)
        return done.returncode, made.read()


def send(picture):
    reply = server.request("POST", "/admin/v1/media", picture, {"Authorization": f"Bearer {server.keys['admin']}",
                                                                "Content-Type": "image/png"})
    equal(reply.status, 202, str(reply.body))
    return reply.json()["upload"]


def ended(upload):
    def look():
        answer = server.admin_ok("GET", f"/media/uploads/{upload}")
        return answer if answer["state"] != "working" else None
    return eventually(look, "it never ends", patience_s=90)


@rule
def a_picture_goes_in_and_a_clean_one_comes_out():
    code, made = clean(JPEG + b"Hidden")
    equal((code, made[:3], b"Hidden" in made), (0, b"\xff\xd8\xff", False))


@rule
def what_is_no_picture_ends_with_a_code_of_its_own_and_writes_nothing():
    for wrong in (b"no picture", JPEG[:200], png(10, 10)[:60], png(4, 4, said=(5000, 4800))):
        equal(clean(wrong), (3, b""))
    equal(clean(b"")[1], b"")


@rule
def a_packed_bomb_is_stopped_by_its_size_before_it_unfolds():
    began = time.monotonic()
    equal(clean(png(2, 2, said=(60000, 60000))), (3, b""))
    true(time.monotonic() - began < 20, "it took long")


@rule
def the_largest_picture_that_is_allowed_stays_in_its_bounds():
    code, made = clean(png(6000, 4000))
    equal(code, 0)
    equal(made[16:24], (1600).to_bytes(4, "big") + (1066).to_bytes(4, "big"))


@rule
def while_pictures_are_worked_on_the_server_answers_and_sells():
    item = server.open_item(total=5)
    upload = send(png(4000, 3000))
    slowest = 0.0
    for _ in range(20):
        began = time.monotonic()
        equal(server.get(f"/v1/items/{item}").status, 200)
        server.admin_ok("GET", "/alarms", role="viewer")
        slowest = max(slowest, time.monotonic() - began)
    answer = ended(upload)
    equal((answer["state"], answer["width"]), ("done", 1600))
    true(slowest < 5, f"an answer took {slowest:.1f} s")


@rule
def several_uploads_at_once_are_done_one_after_the_other():
    uploads = [send(png(800 + i, 600)) for i in range(4)]
    paths = {ended(upload)["path"] for upload in uploads}
    equal(len(paths), 4)
    children = os.path.join("/proc", str(server.process.pid), "task", str(server.process.pid), "children")
    if os.path.exists(children):
        with open(children) as file:
            equal(file.read().strip(), "", "a process is left over")


run()
