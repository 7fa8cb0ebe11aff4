# SPDX-License-Identifier: Apache-2.0
"""Product pictures: sent whole or in pieces, made anew, listed, removed; by API and command line."""
from kit.harness import Server, equal, eventually, problem, rule, run, true
from kit.pictures import JPEG, WEBP, chunk, png

PIECE = 60000
server = Server(settings={"media.upload_bytes": 1000000, "media.quota_bytes": 2000000}).start()


def send(body, query="", role="admin", kind="application/octet-stream"):
    return server.request("POST", f"/admin/v1/media{query}", body,
                          {"Authorization": f"Bearer {server.keys[role]}", "Content-Type": kind})


def ended(upload):
    """What became of an upload."""
    def look():
        answer = server.admin_ok("GET", f"/media/uploads/{upload}", role="viewer")
        return answer if answer["state"] != "working" else None
    return eventually(look, "the picture is not worked on", patience_s=60)


def added(picture):
    """The path of a picture that must be taken, sent in as many pieces as it needs."""
    upload = None
    for at in range(0, len(picture), PIECE):
        query = f"?bytes={len(picture)}" if upload is None else f"?upload={upload}&at={at}"
        reply = send(picture[at:at + PIECE], query)
        equal(reply.status, 202, reply.body[:300])
        upload = reply.json()["upload"]
    answer = ended(upload)
    equal(answer["state"], "done", str(answer))
    return answer["path"]


@rule
def each_format_is_taken_made_anew_and_served():
    hidden = b"<script>alert(1)</script>"
    pictures = {"jpg": JPEG[:2] + b"\xff\xfe" + (len(hidden) + 2).to_bytes(2, "big") + hidden + JPEG[2:] + hidden,
                "png": png(40, 30, more=chunk(b"tEXt", b"Comment\0" + hidden)) + hidden, "webp": WEBP + hidden}
    for ending, picture in pictures.items():
        path = added(picture)
        true(path.startswith("/media/") and path.endswith("." + ending), path)
        reply = server.get(path)
        equal(reply.status, 200)
        true(hidden not in reply.body, f"{ending}: what was hidden is still there")
        equal(added(picture), path, "the same picture has the same name")


@rule
def a_long_picture_comes_in_pieces_and_a_lost_answer_does_no_harm():
    picture = png(300, 300, noise=True)
    true(len(picture) > 3 * PIECE)
    problem(send(picture[:65537]), 413, "malformed-request")
    first = send(picture[:PIECE], f"?bytes={len(picture)}").json()
    equal((first["state"], first["received"], first["bytes"]), ("receiving", PIECE, len(picture)))
    upload = first["upload"]
    for _ in range(2):  # the second time the first answer was lost
        equal(send(picture[PIECE:2 * PIECE], f"?upload={upload}&at={PIECE}").json()["received"], 2 * PIECE)
    said = problem(send(picture[:100], f"?upload={upload}&at=100"), 409, "conflict")["detail"]
    true(f"{2 * PIECE} of {len(picture)}" in said, said)
    problem(send(b"", f"?upload={upload}&at={2 * PIECE}"), 422, "bad-value")
    for at in range(2 * PIECE, len(picture), PIECE):
        equal(send(picture[at:at + PIECE], f"?upload={upload}&at={at}").status, 202)
    answer = ended(upload)
    equal((answer["state"], answer["width"], answer["height"]), ("done", 300, 300))
    problem(send(b"x", f"?upload={upload}&at=5"), 409, "conflict")
    problem(server.admin("GET", "/media/uploads/99999"), 404, "not-found")
    problem(send(b"x", "?upload=99999&at=0"), 404, "not-found")


@rule
def what_is_no_picture_or_too_large_is_refused_and_leaves_nothing():
    before = server.admin_ok("GET", "/media")["media"]
    for wrong in (b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", b"GIF89a" + b"." * 100, b"x", png(4, 4)[:20],
                  png(4, 4, said=(30000, 30000)), png(4, 4, said=(17000, 1)), png(4, 4, said=(0, 4))):
        problem(send(wrong), 422, "bad-value")
    for damaged in (JPEG[:300], png(50, 50)[:-40], WEBP[:40], png(4, 4, said=(4000, 4000))):
        answer = ended(send(damaged).json()["upload"])
        equal(answer["state"], "refused", str(answer))
        true("can't be decoded" in answer["detail"], answer)
    problem(send(b""), 422, "bad-value")
    problem(send(b"x", "?bytes=1000001"), 422, "bad-value")
    problem(send(JPEG, kind="application/json"), 415, "media-type")
    problem(send(JPEG, kind="text/html"), 415, "media-type")
    problem(server.admin("POST", "/media", {"path": "x"}), 415, "media-type")
    problem(send(JPEG, role="operator"), 403, "admin-role")
    problem(send(JPEG, "?size=3"), 400, "bad-query")
    equal(server.admin_ok("GET", "/media")["media"], before)
    true(server.alive())


@rule
def pictures_are_there_after_a_restart_and_after_a_kill():
    path = added(png(21, 22))
    whole = server.get(path).body
    server.restart()
    equal(server.get(path).body, whole)
    server.restart(kill=True)
    equal(server.get(path).body, whole)
    true(path in [one["path"] for one in server.admin_ok("GET", "/media", role="viewer")["media"]])


@rule
def a_product_shows_only_pictures_that_are_there():
    path = added(png(31, 32))
    product = server.product(images=[path, "/demo/phone.svg"])
    sale = server.sale()
    item = server.item(sale, product)
    server.publish(sale)
    equal(server.get(f"/v1/items/{item}").json()["product"]["images"], [path, "/demo/phone.svg"])
    body = {"name": "P", "list_price": 1, "currency": "CNY"}
    for wrong in ("/media/" + "0" * 32 + ".jpg", "/media/", "//evil.example/x", "/\\evil.example", "\\\\evil", "http://a.example/x.jpg",
                  "https://a.example/x.jpg", "javascript:alert(1)", "data:image/png;base64,AAAA", "x.jpg", "", "/a b", 7, None):
        problem(server.admin("POST", "/products", {**body, "images": [wrong]}), 422, "bad-value")
    problem(server.admin("POST", "/media/remove", {"path": path}), 409, "conflict")
    equal(server.get(path).status, 200)


@rule
def a_picture_that_nobody_shows_can_be_removed():
    path = added(png(33, 34))
    equal(server.admin_ok("POST", "/media/remove", {"path": path})["path"], path)
    problem(server.get(path), 404, "not-found")
    problem(server.admin("POST", "/media/remove", {"path": path}), 404, "not-found")
    for wrong in ("/v1/sales", "/media/../stampede.db", "/media/"):
        problem(server.admin("POST", "/media/remove", {"path": wrong}), 404, "not-found")
    problem(server.admin("POST", "/media/remove", {"path": path}, role="operator"), 403, "admin-role")
    entries, after = [], 0
    while True:
        page = server.admin_ok("GET", f"/audit?after={after}", role="viewer")
        entries += [(entry["actor"], entry["action"], entry["detail"]) for entry in page["audit"]]
        if "next" not in page:
            break
        after = page["next"]
    true(any(actor == "admin" and action == "media.add" and detail.startswith(path + " 33 x 34") for actor, action, detail in entries))
    true(("admin", "media.remove", path) in entries)


@rule
def the_quota_holds():
    full = None
    for side in range(400, 430):  # about half a megabyte each
        picture = png(side, side, noise=True)
        upload = None
        for at in range(0, len(picture), PIECE):
            query = f"?bytes={len(picture)}" if upload is None else f"?upload={upload}&at={at}"
            upload = send(picture[at:at + PIECE], query).json()["upload"]
        full = ended(upload)
        if full["state"] == "refused":
            break
    true(full["state"] == "refused" and "media.quota_bytes" in full["detail"], full)
    listed = server.admin_ok("GET", "/media")
    true(listed["used_bytes"] <= listed["quota_bytes"] == 2000000, listed)
    equal(sum(one["bytes"] for one in listed["media"]) <= 2000000, True)


run()
