# SPDX-License-Identifier: Apache-2.0
"""Pages as a folder: `stampede export`, the export that follows each change, and the same pages from the server itself."""
import html
import json
import os
import re
import subprocess

from kit.exported_shop import Pages, exported_shop, nginx_path
from kit.harness import equal, eventually, rule, run, skip, temp_folder, true

told = os.path.join(temp_folder(), "published")
program = os.path.join(temp_folder(), "publish")
with open(program, "w") as script:
    script.write(f'#!/bin/sh\necho "$1" >> {told}\n')
os.chmod(program, 0o755)
server, folder, pages_port = exported_shop(**{"page.on_publish": program})


def export(*words, folder_of=None):
    return subprocess.run([server.binary, "export", folder_of or temp_folder(), *words], capture_output=True, text=True, timeout=60)


def page_of(item):
    path = os.path.join(folder, "items", str(item), "index.html")
    if not os.path.exists(path):
        return None
    with open(path) as file:
        return file.read()


def lines_of(path):
    """Whole lines only: the program may still be writing."""
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return [line[:-1] for line in file if line.endswith("\n")]


@rule
def what_is_published_or_changed_is_exported_by_itself_and_what_goes_is_removed():
    product = server.product(name='Tea <b>"pot"</b>', description="Green & warm.")
    sale = server.sale(title="Today")
    item = server.item(sale, product=product, flash_price=9900)
    true(page_of(item) is None)
    server.publish(sale)
    page = eventually(lambda: page_of(item), "not exported")
    true("<h1>Tea &lt;b&gt;&quot;pot&quot;&lt;/b&gt;</h1>" in page, page)
    equal(eventually(lambda: lines_of(told), "page.on_publish did not run")[0], folder)
    server.admin_ok("PATCH", f"/products/{product}", {"name": "Tea cup"})
    eventually(lambda: "<h1>Tea cup</h1>" in page_of(item), "not exported again")
    server.admin_ok("POST", f"/sales/{sale}/end")
    server.admin_ok("POST", f"/sales/{sale}/archive")
    eventually(lambda: page_of(item) is None, "an archived sale keeps its page")


@rule
def the_server_sends_the_same_page_that_it_exports():
    item = server.open_item(total=1)
    exported = eventually(lambda: page_of(item), "not exported")
    own = server.get(f"/items/{item}/")
    equal(own.status, 200)
    equal(own.headers["content-type"], "text/html; charset=utf-8")
    equal(own.headers["cache-control"], "no-cache")
    policy = own.headers["content-security-policy"]
    equal(policy, server.get("/").headers["content-security-policy"])
    api = f"http://127.0.0.1:{server.port}"
    inside = (f'<meta charset="utf-8">\n    <meta http-equiv="Content-Security-Policy" content="'
              + html.escape(policy.replace("; frame-ancestors 'none'", "") + f"; connect-src 'self' {api} {api.replace('http', 'ws')}")
              .replace("&#x27;", "&#39;") + f'">\n    <meta name="api" content="{api}">')
    equal(exported, own.body.decode().replace('<meta charset="utf-8">', inside))
    equal(server.get(f"/items/{item}").body, own.body)
    for path in ("/items/999/", "/items/x/", "/items/"):
        equal(server.get(path).status, 404, path)
    equal(server.request("POST", f"/items/{item}/").status, 405)


@rule
def a_page_carries_product_and_offer_for_those_who_make_previews():
    item = server.open_item(flash_price=9900)
    page = server.get(f"/items/{item}/").body.decode()
    product = json.loads(re.search(r'<script type="application/ld\+json">(.*?)</script>', page)[1])
    equal([product["@type"], product["name"], product["offers"]["price"], product["offers"]["priceCurrency"]],
          ["Product", "Phone", "99.00", "CNY"])
    base = server.settings["page.url"]
    for line in (f'<meta property="og:url" content="{base}/items/{item}/">', f'<meta property="og:image" content="{base}/demo/phone.svg">',
                 '<meta property="og:title" content="Phone">', f'<link rel="canonical" href="{base}/items/{item}/">'):
        true(line in page, f"{line} is not in {page}")


@rule
def an_export_by_hand_takes_all_that_the_pages_name():
    target = os.path.join(temp_folder(), "a")
    first = export("--api", f"http://127.0.0.1:{server.port}", folder_of=target)
    equal(first.returncode, 0, first.stderr)
    with open(os.path.join(target, "index.html")) as file:
        index = file.read()
    for name in re.findall(r'(?:src|href)="(/[\w.-]+\.\w+)"', index):
        true(os.path.exists(target + name), f"{name} is missing")
    for gone in ("console", "sandbox", "openapi.json"):
        true(not os.path.exists(os.path.join(target, gone)), gone)
    again = export("--api", f"http://127.0.0.1:{server.port}", folder_of=target)
    true(again.stdout.endswith(" 0 of them new\n"), again.stdout)


@rule
def mistakes_are_told():
    for words, code in ((("--api",), 2), ((), 2), (("--api", "ftp://x"), 2), (("--api", "http://x/"), 2), (("--api", "http://x\"y"), 2),
                        (("--what", "x", "--api", "http://x"), 2), (("--api", "http://127.0.0.1:1"), 1),
                        (("--api", f"http://127.0.0.1:{server.port}", "--then", "/nonexistent"), 1)):
        done = export(*words)
        equal(done.returncode, code, f"{words} {done.stderr}")
        true(done.stderr, f"{words}: not a word")


@rule
def behind_nginx_what_has_a_hash_is_kept_for_ever_and_pages_are_asked_for_again():
    if nginx_path() is None:
        skip("nginx is not installed")
    item = server.open_item(total=1)
    eventually(lambda: page_of(item), "not exported")
    nginx = Pages(folder, pages_port)
    for path in ("/", f"/items/{item}/"):
        page = nginx.get(path)
        equal([page.status, page.headers["cache-control"]], [200, "no-cache"], path)
        true("frame-ancestors 'none'" in page.headers["content-security-policy"])
        for name in re.findall(r'(?:src|href)="(/[\w.-]+\.(?:js|css))"', page.body.decode()):
            equal(nginx.get(name).headers["cache-control"], "public, max-age=31536000, immutable", name)
    equal(nginx.get("/nothing").status, 404)
    nginx.stop()


run()
