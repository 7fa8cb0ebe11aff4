#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the pages of web/ as they are served: few files, small, with names that change with the content.

Usage: bundle.py OUTPUT_FOLDER, from the top of the repository. Each script and style sheet that a page names becomes
one minified file with a hash in its name (app-3KQ2ZLWB.js); the page gets that name. What a script loads with import()
is a file of its own. A script x_worker.js is bundled first; the other scripts know its address as X_WORKER. embed.js keeps
its name, since other pages name it, and is one file with its style sheet and workers inside. Other files are copied. What only the tools need (package files, tests, notes) stays out. Needs esbuild.
"""
import base64
import json
import os
import re
import shutil
import subprocess
import sys

WEB = "web"
EMBED = "embed.js"
LEFT_OUT_ENDINGS = (".md", ".test.js", ".test.mjs", "~")
LEFT_OUT_NAMES = ("package.json", "package-lock.json", "node_modules", "test", "tests")
NAMED = re.compile(r'(src|href)="([\w./-]+\.(?:js|css))"')
COMMENT = re.compile(r"[ \t]*<!--.*?-->\n?", re.DOTALL)


def is_left_out(name):
    return name.startswith(".") or name in LEFT_OUT_NAMES or name.endswith(LEFT_OUT_ENDINGS)


def web_files():
    found = []
    for folder, folders, files in os.walk(WEB):
        folders[:] = sorted(name for name in folders if not is_left_out(name))
        found += [os.path.relpath(os.path.join(folder, name), WEB) for name in sorted(files) if not is_left_out(name)]
    return found


def esbuild(entry, output, defined):
    """Bundles web/ENTRY. Its address, and those of the files that it can't start without."""
    report = os.path.join(output, ".report.json")
    command = ["esbuild", entry, "--bundle", "--minify", "--format=esm", "--target=es2022", "--charset=utf8",
               "--legal-comments=none", "--log-level=warning", "--outbase=.", f"--outdir={os.path.abspath(output)}",
               "--entry-names=[dir]/[name]-[hash]", f"--metafile={os.path.abspath(report)}"]
    command += ["--splitting"] if entry.endswith(".js") else []
    command += [f'--define:{name}="{address}"' for name, address in defined.items()]
    try:
        done = subprocess.run(command, cwd=WEB, check=False)
    except FileNotFoundError:
        sys.exit("bundle.py: esbuild is not installed; tools/setup build installs it")
    if done.returncode != 0:
        sys.exit(f"bundle.py: esbuild can't bundle web/{entry}")
    with open(report) as file:
        made = json.load(file)["outputs"]
    os.remove(report)
    main = next(path for path, facts in made.items() if facts.get("entryPoint") == entry)
    needed = [main]
    for path in needed:
        needed += [part["path"] for part in made[path]["imports"]
                   if part["kind"] == "import-statement" and part["path"] not in needed]
    return [address_of(path, output) for path in needed]


def address_of(path, output):
    return "/" + os.path.relpath(os.path.join(WEB, path), output)


def embed_write(output, workers):
    """A classic script: a page of another origin can load it without asking for leave."""
    defined = {}
    for name, address in workers.items():
        with open(os.path.join(output, address[1:]), "rb") as file:
            defined[name] = "data:text/javascript;base64," + base64.b64encode(file.read()).decode()
    command = ["esbuild", EMBED, "--bundle", "--minify", "--format=iife", "--target=es2022", "--charset=utf8",
               "--legal-comments=none", "--log-level=warning", "--loader:.css=text",
               f"--outfile={os.path.join(os.path.abspath(output), EMBED)}"]
    command += [f'--define:{name}="{address}"' for name, address in defined.items()]
    if subprocess.run(command, cwd=WEB, check=False).returncode != 0:
        sys.exit(f"bundle.py: esbuild can't bundle web/{EMBED}")


class Bundles:
    """The bundle of each script and style sheet, made when a page first names it."""

    def __init__(self, output, defined):
        self.output, self.defined, self.made = output, defined, {}

    def of(self, page, name):
        file = os.path.normpath(name[1:] if name.startswith("/") else os.path.join(os.path.dirname(page), name))
        if not os.path.isfile(os.path.join(WEB, file)):
            sys.exit(f"bundle.py: web/{page} names {name}, which does not exist")
        if file not in self.made:
            self.made[file] = esbuild(file, self.output, self.defined)
        return self.made[file]


def page_write(page, bundles):
    with open(os.path.join(WEB, page)) as file:
        text = COMMENT.sub("", file.read())
    at_once = []

    def renamed(match):
        main, *others = bundles.of(page, match[2])
        at_once.extend(others)
        return f'{match[1]}="{main}"'

    text = NAMED.sub(renamed, text)
    preloads = "".join(f'    <link rel="modulepreload" href="{address}">\n' for address in at_once)
    with open(os.path.join(bundles.output, page), "w") as file:
        file.write(text.replace("</head>", preloads + "</head>"))


def main():
    output = sys.argv[1]
    shutil.rmtree(output, ignore_errors=True)
    files = web_files()
    for file in files:
        os.makedirs(os.path.join(output, os.path.dirname(file)), exist_ok=True)
    workers = [file for file in files if file.endswith("_worker.js")]
    defined = {os.path.basename(file)[:-3].upper(): esbuild(file, output, {})[0] for file in workers}
    bundles = Bundles(output, defined)
    for file in files:
        if file.endswith(".html"):
            page_write(file, bundles)
        elif not file.endswith((".js", ".css")):
            shutil.copyfile(os.path.join(WEB, file), os.path.join(output, file))
    if EMBED in files:
        embed_write(output, defined)


main()
