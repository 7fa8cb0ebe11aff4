# SPDX-License-Identifier: Apache-2.0
"""`stampede draw verify`, beside an implementation of its own: what was published is the draw, forgeries are found."""
import json
import os
import subprocess

from kit.harness import equal, rule, run, temp_folder, true
from kit.room_guests import Guest, drawn, mark_of, marks_of, open_now, room, server, work_out



def cli(*arguments):
    done = subprocess.run([server.binary, "draw", "verify", *arguments], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


@rule
def the_draw_is_what_was_published_and_forgeries_are_found():
    sale, _, probe = room(total=2)
    before = server.get(f"/v1/sales/{sale}/draw").json()
    guests = [probe] + [Guest(server) for _ in range(40)]
    for guest in guests[1:]:
        guest.enter(sale)
    open_now(sale)
    draw, marks = drawn(sale), marks_of(sale)
    late = Guest(server)
    late.enter(sale)
    commitment, chain, places = work_out(draw, marks)
    equal((commitment, chain, draw["count"]), (before["commitment"], draw["arrivals_hash"], 41))
    equal(draw["commitment"], before["commitment"])
    equal(sorted(places), list(range(41)))
    url = f"http://127.0.0.1:{server.port}"
    saved = os.path.join(temp_folder(), "draw.json")
    code, out = cli("--url", url, "--sale", str(sale), "--save", saved, "--commitment", before["commitment"], "--places")
    equal(code, 0, out)
    told = [tuple(map(int, line.split())) for line in out.splitlines() if line.split()[0].isdigit()]
    equal(told, list(enumerate(places)))
    session = server.request("POST", "/v1/session").json()
    someone = Guest(server, token=None)
    equal(cli("--file", saved, "--user", session["user"])[0], 1, "who was not there")
    someone.session = session["session"]
    equal(cli("--file", saved)[0], 0)
    for path, forge in (("secret", lambda d: d["draw"].update(secret="0" * 64)),
                        ("commitment", lambda d: d["draw"].update(commitment="0" * 64)),
                        ("arrivals_hash", lambda d: d["draw"].update(arrivals_hash="0" * 64)),
                        ("count", lambda d: d["draw"].update(count=40)),
                        ("one mark", lambda d: d.update(marks="0" * 16 + d["marks"][16:])),
                        ("two swapped", lambda d: d.update(marks=d["marks"][16:32] + d["marks"][:16] + d["marks"][32:])),
                        ("one more", lambda d: d.update(marks=d["marks"] + "0" * 16)),
                        ("sale", lambda d: d["draw"].update(sale=sale + 1)),
                        ("state", lambda d: d["draw"].update(state="open")),
                        ("no marks", lambda d: d.pop("marks"))):
        with open(saved) as file:
            forged = json.load(file)
        forge(forged)
        path = os.path.join(temp_folder(), "forged.json")
        with open(path, "w") as file:
            json.dump(forged, file)
        code, out = cli("--file", path)
        equal(code, 1, f"{path}: {out}")
    equal(cli("--file", saved, "--commitment", "0" * 64)[0], 1, "another commitment than the one that was noted")
    equal(cli("--file", "/nonexistent")[0], 2)
    equal(cli("--url", "http://127.0.0.1:1", "--sale", "1")[0], 2)
    equal(cli("--sale", "x")[0], 2)
    equal(cli("--help")[0], 0)


@rule
def ones_own_mark_is_found_by_the_user_alone():
    sale, _, _ = room(total=2)
    session = server.request("POST", "/v1/session").json()
    number = server.request("POST", f"/v1/sales/{sale}/room", session=session["session"]).json()["number"]
    open_now(sale)
    draw, marks = drawn(sale), marks_of(sale)
    equal(marks[number], mark_of(draw, session["user"]))
    code, out = cli("--url", f"http://127.0.0.1:{server.port}", "--sale", str(sale), "--user", session["user"])
    equal(code, 0, out)
    true(f"number {number} and has place {work_out(draw, marks)[2][number]}" in out, out)


run()
