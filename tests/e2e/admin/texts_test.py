# SPDX-License-Identifier: Apache-2.0
"""Products and sales in several languages: what the API takes and shows, pages in a language, the exported ones, kill -9."""
import html
import json
import os
import re

from kit.exported_shop import exported_shop
from kit.harness import equal, eventually, problem, rule, run, true

EVIL = '</script><img src=x onerror="alert(1)">'
KETTLE = {"en": {"name": "Tea kettle", "description": "Steel, 1 litre."}, "pt-BR": {"name": "Chaleira"}}
server, folder, _ = exported_shop()


def shop(texts, sale_texts=None):
    """(product, sale, item), published."""
    product = server.product(name="茶壶", description="不锈钢。", texts=texts)
    more = {} if sale_texts is None else {"texts": sale_texts}
    made = server.sale(title="早市", **more)
    item = server.item(made, product=product)
    server.publish(made)
    eventually(lambda: server.get(f"/v1/items/{item}").status == 200, "not public")
    return product, made, item


def page(path):
    answer = server.get(path)
    return answer.body.decode() if answer.status == 200 else None


def data_of(text):
    return json.loads(re.search(r'<script type="application/ld\+json">(.*?)</script>', text).group(1))


@rule
def an_item_carries_every_language_and_a_list_the_names():
    _, sale, item = shop(KETTLE, {"en": {"title": "Morning sale"}})
    shown = server.get(f"/v1/items/{item}").json()["product"]
    equal((shown["name"], shown["texts"]), ("茶壶", KETTLE))
    whole = server.get(f"/v1/sales/{sale}").json()
    equal(whole["texts"], {"en": {"title": "Morning sale"}})
    names = {tag: {"name": texts["name"]} for tag, texts in KETTLE.items()}
    equal(whole["items"][0]["product"]["texts"], names)
    listed = next(row for row in server.get("/v1/sales").json()["sales"] if row["id"] == sale)
    equal((listed["texts"], listed["items"][0]["product"]["texts"]), (whole["texts"], names))


@rule
def they_are_changed_as_a_whole_removed_and_refused_without_a_change():
    product, sale, item = shop(KETTLE)
    texts = lambda: server.get(f"/v1/items/{item}").json()["product"].get("texts")  # noqa: E731
    true("texts" not in server.admin_ok("GET", f"/sales/{sale}"))
    for wrong in ([], "en", {"EN": {"name": "x"}}, {"en": {"name": "x" * 201}}, {"en": {"sku": "x"}}, {"en": {}},
                  {tag: {"description": "x" * 4000} for tag in ("en", "de", "fr", "es")}):
        problem(server.admin("PATCH", f"/products/{product}", {"name": "changed", "texts": wrong}), 422, "bad-value")
    problem(server.admin("PATCH", f"/sales/{sale}", {"texts": {"en": {"name": "x"}}}), 422, "bad-value")
    equal((server.admin_ok("GET", f"/products/{product}")["name"], texts()), ("茶壶", KETTLE))
    server.admin_ok("PATCH", f"/products/{product}", {"texts": {"en": {"name": "Kettle"}}})
    eventually(lambda: texts() == {"en": {"name": "Kettle"}}, "not changed")
    server.admin_ok("PATCH", f"/sales/{sale}", {"texts": {"en": {"title": "Early"}}})
    eventually(lambda: server.get(f"/v1/sales/{sale}").json().get("texts") == {"en": {"title": "Early"}}, "not changed")
    server.admin_ok("PATCH", f"/products/{product}", {"texts": {}})
    eventually(lambda: texts() is None, "not removed")
    told = [row["detail"] for row in server.admin_ok("GET", "/audit")["audit"] if "texts" in row["detail"]]
    true(f"product {product} texts: now 0 bytes" in told and any(row.startswith(f"sale {sale} texts: now ") for row in told), told)


@rule
def a_page_in_a_language_has_it_for_people_and_for_previews():
    _, _, item = shop(KETTLE)
    plain, english, brazilian = (page(f"/items/{item}/{tag}") for tag in ("", "en/", "pt-BR"))
    for text, name, about, lang in ((plain, "茶壶", "不锈钢。", "zh-CN"), (english, "Tea kettle", "Steel, 1 litre.", "en"), (brazilian, "Chaleira", "不锈钢。", "pt-BR")):
        true(f"<h1>{name}</h1>" in text and f'<html lang="{lang}">' in text, text[:200])
        true(f'<meta property="og:title" content="{name}">' in text)
        true(f'<meta property="og:description" content="{about}">' in text)
        equal((data_of(text)["name"], data_of(text)["description"]), (name, about))
    true(f'<a href="/items/{item}/en/" lang="en">Tea kettle</a>' in plain and f'<a href="/items/{item}/">茶壶</a>' in english)
    true('hreflang="en" href="' in plain and f'/items/{item}/en/">' in plain and 'hreflang="x-default"' in english)
    for path in (f"/items/{item}/de/", f"/items/{item}/EN/", f"/items/{item}//", f"/items/{item}/en/x", f"/items/{item}/en//"):
        equal(server.get(path).status, 404, path)


@rule
def what_is_written_in_another_language_runs_nothing_either():
    _, _, item = shop({"en": {"name": EVIL, "description": EVIL}})
    text = page(f"/items/{item}/en/")
    true("<img src=x" not in text and f"<h1>{html.escape(EVIL)}</h1>" in text, text)
    equal(data_of(text)["name"], EVIL)
    true("<img src=x" not in page(f"/items/{item}/"))


@rule
def pages_of_each_language_are_exported_and_go_with_it():
    product, sale, item = shop(KETTLE)
    file = lambda tag: os.path.join(folder, "items", str(item), tag, "index.html")  # noqa: E731
    eventually(lambda: os.path.exists(file("en")) and os.path.exists(file("pt-BR")), "not exported")
    with open(file("en")) as exported:
        true("<h1>Tea kettle</h1>" in exported.read())
    server.admin_ok("PATCH", f"/products/{product}", {"texts": {"en": {"name": "Kettle"}}})
    eventually(lambda: not os.path.exists(os.path.dirname(file("pt-BR"))), "the page of a language that is gone stays")
    true(os.path.exists(file("en")) and os.path.exists(file("")))
    server.admin_ok("POST", f"/sales/{sale}/end")
    server.admin_ok("POST", f"/sales/{sale}/archive")
    eventually(lambda: not os.path.exists(os.path.join(folder, "items", str(item))), "an archived sale keeps its pages")


@rule
def a_clone_has_them_unless_it_has_another_title():
    _, sale, _ = shop(KETTLE, {"en": {"title": "Morning sale"}})
    times = {"start_ms": server.now_ms() + 3_600_000, "end_ms": server.now_ms() + 7_200_000}
    equal(server.admin_ok("POST", f"/sales/{sale}/clone", times).get("texts"), {"en": {"title": "Morning sale"}})
    true("texts" not in server.admin_ok("POST", f"/sales/{sale}/clone", {**times, "title": "晚市"}))


@rule
def they_are_kept_over_a_crash():
    product, sale, item = shop(KETTLE, {"en": {"title": "Morning sale"}})
    server.kill()
    server.start()
    equal(server.get(f"/v1/items/{item}").json()["product"]["texts"], KETTLE)
    equal(server.admin_ok("GET", f"/products/{product}")["texts"], KETTLE)
    equal(server.get(f"/v1/sales/{sale}").json()["texts"], {"en": {"title": "Morning sale"}})


run(server)
