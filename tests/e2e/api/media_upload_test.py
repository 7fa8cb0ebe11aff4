# SPDX-License-Identifier: Apache-2.0
"""How pictures are served, and which the pages may show."""
import re
import time

from kit.harness import Server, equal, eventually, problem, rule, run, true
from kit.pictures import JPEG, png

ORIGINS = "https://img.example, https://cdn.example:8443"
server = Server(settings={"page.image_origins": ORIGINS, "cors.origins": "https://shop.example"}).start()


def added(picture):
    upload = server.request("POST", "/admin/v1/media", picture, {"Authorization": f"Bearer {server.keys['admin']}",
                                                                 "Content-Type": "image/png"}).json()["upload"]
    return eventually(lambda: server.admin_ok("GET", f"/media/uploads/{upload}").get("path"), "it is not kept", patience_s=60)


@rule
def a_picture_may_be_kept_for_ever_and_is_nothing_but_a_picture():
    path = added(JPEG)
    true(re.fullmatch(r"/media/[0-9a-f]{32}\.jpg", path), path)
    reply = server.get(path)
    equal((reply.status, reply.headers["content-type"]), (200, "image/jpeg"))
    equal(reply.headers["cache-control"], "public, max-age=31536000, immutable")
    equal(reply.headers["x-content-type-options"], "nosniff")
    equal(reply.headers["content-security-policy"], "default-src 'none'")
    equal(int(reply.headers["content-length"]), len(reply.body))
    again = server.get(path, headers={"If-None-Match": reply.headers["etag"]})
    equal((again.status, again.body), (304, b""))
    head = server.request("HEAD", path)
    equal((head.status, head.headers["content-length"], head.body), (200, reply.headers["content-length"], b""))
    problem(server.request("POST", path, b""), 405, "method-not-allowed")
    shop = server.get(path, headers={"Origin": "https://shop.example"})
    equal(shop.headers["access-control-allow-origin"], "https://shop.example")


@rule
def other_names_are_not_there():
    path = added(JPEG)
    for wrong in ("/media/", "/media", path + "x", path[:-4], path[:-4] + ".png", path.upper(), "/media/../stampede.db",
                  "/media/%2e%2e/identity", "/media/..", path + "/", "//" + path):
        equal(server.get(wrong).status, 404, wrong)


@rule
def many_readers_and_a_slow_one_get_all_of_it():
    whole = server.get(path := added(png(140, 140, noise=True))).body
    true(len(whole) > 50000)
    with server.connect() as slow:
        slow.send(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode() * 20)
        time.sleep(0.3)
        for _ in range(20):
            equal(server.get(path).body, whole)
        for _ in range(20):
            equal(slow.read_reply().body, whole)


@rule
def products_show_pictures_of_named_origins_and_the_policy_lets_just_those_in():
    policy = server.get("/").headers["content-security-policy"]
    true("img-src 'self' data: https://img.example https://cdn.example:8443; " in policy, policy)
    product = server.product(images=["https://img.example/a.jpg", "https://cdn.example:8443/b.webp"])
    true(product > 0)
    body = {"name": "P", "list_price": 1, "currency": "CNY"}
    for wrong in ("https://img.example.evil/a", "https://img.example:444/a", "http://img.example/a", "//img.example/a",
                  "https://img.example", "https://cdn.example/a", "https://img.example@evil/a"):
        problem(server.admin("POST", "/products", {**body, "images": [wrong]}), 422, "bad-value")


@rule
def without_a_setting_pages_show_our_own_pictures_only():
    plain = Server().start()
    true("img-src 'self' data:; " in plain.get("/").headers["content-security-policy"])
    problem(plain.admin("POST", "/products", {"name": "P", "list_price": 1, "currency": "CNY", "images": ["https://img.example/a.jpg"]}),
            422, "bad-value")
    plain.stop()


@rule
def a_wrong_origin_in_the_settings_stops_the_start():
    for wrong in ("img.example", "https://img.example/", "https://*", "https://a.example;script-src *"):
        code, said = Server(settings={"page.image_origins": wrong}).start_refused()
        true(code != 0 and "page.image_origins" in said, said)


run()
