# SPDX-License-Identifier: Apache-2.0
"""The pages as they are served: few files, small, kept by browsers for as long as they do not change."""
import gzip
import os
import re
import shutil
import subprocess
import sys

from kit.harness import REPOSITORY, Server, among, equal, rule, run, temp_folder, true

STOREFRONT_BYTES_MAX = 60_000  # compressed: the page, all its scripts and styles, also those loaded later; no pictures
CONSOLE_BYTES_MAX = 150_000
FIRST_BYTES_MAX = 51_000  # what the page can't start without

server = Server().start()


def named_by(path):
    """What a file of ours names: a page its scripts and styles, a script the scripts that it loads later."""
    text = server.get(path).body.decode()
    if path.endswith(".css"):
        return []
    if path.endswith(".js"):
        later = re.findall(r'(?:import\(|from ?|import ?)"\./([\w-]+\.js)"', text) + re.findall(r'Worker\("/([\w-]+\.js)"', text)
        return [os.path.join(os.path.dirname(path), name) for name in later]
    return re.findall(r'(?:src|href)="(/[\w./-]+\.(?:js|css))"', text)


def all_files_of(page):
    found = [page]
    for path in found:
        found += [name for name in named_by(path) if name not in found]
    return found


def compressed(path, encoding):
    reply = server.get(path, headers={"Accept-Encoding": encoding})
    equal(reply.headers["content-encoding"], encoding, path)
    return len(reply.body)


@rule
def the_storefront_is_one_script_and_one_style_sheet_and_parts_that_load_later():
    first = named_by("/")
    equal(sorted(path.rsplit(".", 1)[1] for path in first), ["css", "js"])
    later = sorted(re.sub(r"-\w+\.js$", "", path) for path in all_files_of("/") if path not in ["/", *first])
    among("/qr", later)
    among("/draw_check", later)
    among("/pow_worker", later)


@rule
def the_storefront_is_small():
    for encoding in ("br", "gzip"):
        first = sum(compressed(path, encoding) for path in ["/", *named_by("/")])
        every = sum(compressed(path, encoding) for path in all_files_of("/"))
        print(f"     storefront, {encoding}: {first} bytes to start, {every} with all parts")
        true(first <= FIRST_BYTES_MAX, f"{first} bytes to start")
        true(every <= STOREFRONT_BYTES_MAX, f"{every} bytes with all parts")


@rule
def the_first_screen_of_the_console_is_small():
    for encoding in ("br", "gzip"):
        first = sum(compressed(path, encoding) for path in all_files_of("/console/"))
        print(f"     console, {encoding}: {first} bytes with all parts")
        true(first <= CONSOLE_BYTES_MAX, f"{first} bytes")


@rule
def no_page_has_a_policy_with_unsafe():
    item = server.open_item()
    for page in ("/", f"/items/{item}/", "/console/", "/sandbox/pay.html", "/nothing"):
        policy = server.get(page, headers={"Accept": "text/html"}).headers["content-security-policy"]
        true("unsafe" not in policy and "default-src" in policy, f"{page}: {policy}")


@rule
def a_name_with_a_hash_is_kept_for_ever_and_a_page_is_asked_for_again():
    for page in ("/", "/sandbox/pay.html"):
        equal(server.get(page).headers["cache-control"], "no-cache", page)
        for path in all_files_of(page)[1:]:
            reply = server.get(path)
            equal((reply.status, reply.headers["cache-control"]), (200, "public, max-age=31536000, immutable"), path)


@rule
def the_compressed_forms_are_the_file():
    for path in [*all_files_of("/"), *all_files_of("/sandbox/pay.html"), "/openapi.json"]:
        plain = server.get(path).body
        equal(gzip.decompress(server.get(path, headers={"Accept-Encoding": "gzip"}).body), plain, path)
        packed = server.get(path, headers={"Accept-Encoding": "br"}).body
        unpacked = subprocess.run(["brotli", "--decompress", "--stdout", "-"], input=packed, capture_output=True, check=True)
        equal(unpacked.stdout, plain, path)


def bundle_in(folder):
    return subprocess.run([sys.executable, os.path.join(REPOSITORY, "tools/bundle.py"), os.path.join(folder, "out")], cwd=folder,
                          capture_output=True, text=True, check=False)


@rule
def another_content_has_another_name_and_the_same_content_the_same():
    folder = temp_folder()
    names = []
    for text in ("one", "two", "one"):
        os.makedirs(os.path.join(folder, "web"), exist_ok=True)
        with open(os.path.join(folder, "web", "index.html"), "w", encoding="utf-8") as file:
            file.write('<head><script type="module" src="/a.js"></script></head>\n')
        with open(os.path.join(folder, "web", "a.js"), "w", encoding="utf-8") as file:
            file.write(f"document.title = '{text}';\n")
        equal(bundle_in(folder).returncode, 0)
        names.append(sorted(os.listdir(os.path.join(folder, "out"))))
    equal(names[0], names[2])
    true(names[0] != names[1], names)


@rule
def a_page_that_names_a_file_which_is_not_there_stops_the_build():
    folder = temp_folder()
    shutil.copytree(os.path.join(REPOSITORY, "web"), os.path.join(folder, "web"))
    os.remove(os.path.join(folder, "web", "style.css"))
    done = bundle_in(folder)
    equal(done.returncode, 1)
    among("names /style.css, which does not exist", done.stderr)


run()
