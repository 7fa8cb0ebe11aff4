# SPDX-License-Identifier: Apache-2.0
"""What the documents say is what the code and the program say: settings, metrics, numbers, paths, versions, both README files."""
import glob
import json
import os
import re
import subprocess

from kit.harness import REPOSITORY, Server, binary_path, equal, rule, run, true

# Everything is registered: sandbox, webhook, external human check are set.
server = Server(settings={"payment.providers": "sandbox", "webhook.url": "https://shop.example/hook"}, binary=binary_path(plain=True))
secret = os.path.join(server.folder, "webhook.secret")
with open(secret, "w", encoding="utf-8") as file:
    file.write("0123456789abcdef0123456789abcdef\n")
server.write_config(webhook__secret_file=secret)
server.start()

DOCUMENTS = sorted(
    os.path.relpath(path, REPOSITORY)
    for pattern in ("*.md", "docs/**/*.md", "bench/*.md")
    for path in glob.glob(os.path.join(REPOSITORY, pattern), recursive=True)
)


def read(path):
    with open(os.path.join(REPOSITORY, path), encoding="utf-8") as file:
        return file.read()


def sources(endings=(".c", ".h")):
    for folder, _, names in os.walk(os.path.join(REPOSITORY, "src")):
        for name in sorted(names):
            if name.endswith(endings):
                yield read(os.path.join(folder, name))


def program(*words):
    return subprocess.run([server.binary, *words], capture_output=True, text=True, timeout=60)


# ---- settings ----------------------------------------------------------------------------------------


def documented_settings():
    """section.key -> (default, bounds) of docs/configuration.md. A row may have several keys, with their values in the same order."""
    found, section = {}, None
    for line in read("docs/configuration.md").splitlines():
        if line.startswith("## "):
            section = (re.findall(r"\[(\w+)\]", line) or [None])[0]
        cells = [cell.strip() for cell in line.split(" | ")]
        keys = re.findall(r"`([\w.]+)`", cells[0]) if section and line.startswith("| `") and len(cells) >= 4 else []
        defaults, bounds = cells[1:2] * len(keys), cells[2:3] * len(keys)
        if keys and len(cells[1].split(", ")) == len(keys):
            defaults = cells[1].split(", ")
        if keys and len(cells[2].split(", ")) == len(keys):
            bounds = cells[2].split(", ")
        for key, default, bound in zip(keys, defaults, bounds):
            found[key if "." in key else f"{section}.{key}"] = (default, bound)
    return found


def real_settings():
    """section.key -> default, as the program prints them."""
    done = program("config", "--set", "data.folder=x", "--set", "session.guests=yes")
    equal(done.returncode, 0, done.stderr)
    found, section = {}, None
    for line in done.stdout.splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif " =" in line:
            key, _, value = line.partition(" =")
            found[f"{section}.{key}"] = value.strip()
    return found


@rule
def every_setting_is_documented_and_no_other():
    documented, real = documented_settings(), real_settings()
    true(len(real) > 60, "the settings were not understood")
    # Those of providers are documented in docs/payments.md.
    real = {name for name in real if name.split(".")[0] not in ("alipay", "wechat", "stripe")}
    equal(sorted(set(documented) ^ real), [], "in one of the two only")


@rule
def every_default_is_the_documented_one():
    real = real_settings()
    for name, (default, _) in documented_settings().items():
        if name in ("data.folder", "session.guests"):  # set for this test
            continue
        # A number or a word in code letters is the value; anything else says what no value means.
        exact = re.fullmatch(r"`([^`]+)`|(\d+)", default)
        equal(real[name], (exact.group(1) or exact.group(2)) if exact else "", name)


@rule
def every_bound_of_a_number_is_the_documented_one():
    checked = 0
    for name, (_, bounds) in documented_settings().items():
        done = program("config", "--set", "data.folder=x", "--set", "session.guests=yes", "--set", f"{name}=99999999999999999999")
        told = re.search(r"\((\d+) to (\d+)\)", done.stderr)
        if not told:
            continue  # not a number
        written = re.match(r"(\d+) – (\d+)", bounds)
        true(written, f"{name}: no bounds in {bounds!r}")
        equal(written.groups(), told.groups(), name)
        checked += 1
    true(checked > 40, f"only {checked} numbers")


# ---- metrics -----------------------------------------------------------------------------------------


def documented_metrics():
    """name -> its row, of the table in docs/operations.md."""
    found = {}
    for line in read("docs/operations.md").splitlines():
        if line.startswith("| `stampede_"):
            for name in re.findall(r"`(stampede_\w+)(?:\{\w+\})?`", line.split("|")[1]):
                found[name] = line
    return found


@rule
def every_metric_of_the_code_is_documented_and_no_other():
    names = {name for text in sources((".c", ".h")) for name in re.findall(r'"(stampede_[a-z_]+)"', text)}
    true(len(names) > 40, "the metrics were not understood")
    equal(sorted(set(documented_metrics()) ^ names), [], "in one of the two only")


@rule
def every_value_of_a_label_is_documented():
    rows, values = documented_metrics(), {}
    for name, value in re.findall(r'^(stampede_\w+)\{\w+="([^"]+)"\}', server.get("/metrics").body.decode(), re.M):
        values.setdefault(re.sub("_seconds_(sum|count)$", "_seconds", name), set()).add(value)
    true(len(values) >= 10, f"only {sorted(values)}")
    for name, shown in values.items():
        if name in ("stampede_alarm", "stampede_switch", "stampede_watch_found_total", "stampede_watch_banned_total") or name.endswith("_bucket"):
            continue  # alarms, switches and rules have tables of their own, a bucket's end is a number
        equal(sorted(value for value in shown if f"`{value}`" not in rows[name]), [], f"{name}: not in its row of docs/operations.md")
    operations, funnel = read("docs/operations.md"), read("docs/funnel.md")
    for value in sorted(values["stampede_alarm"]):
        true(f"`{value}`" in operations, f"alarm {value}")
    for value in sorted(values["stampede_switch"] | values["stampede_watch_found_total"]):
        true(f"`{value}`" in funnel, f"switch or rule {value}")


# ---- numbers -----------------------------------------------------------------------------------------


def constants():
    """NAME -> value, of the enums and macros in src that are plain numbers or sums and products of such."""
    texts = {}
    for text in sources():
        for name, value in re.findall(r"^\s*(?:enum \{ )?([A-Z][A-Z0-9_]+) = ([^,/}]+)", text, re.M):
            texts.setdefault(name, value.strip())
        for name, value in re.findall(r"[,{] ([A-Z][A-Z0-9_]+) = ([^,/}]+)", text):
            texts.setdefault(name, value.strip())

    def value_of(text, depth=0):
        text = re.sub(r"[A-Z][A-Z0-9_]+", lambda m: str(value_of(texts.get(m.group(), "?"), depth + 1)) if depth < 8 else "?", text)
        return eval(text) if re.fullmatch(r"[\d\s+*()<-]+", text) else "?"  # pylint: disable=eval-used
    return {name: value_of(text) for name, text in texts.items()}


@rule
def a_number_with_the_name_of_a_constant_is_its_value():
    """In documents: 2,048 (`ORDER_BATCH_MAX`)."""
    known, checked = constants(), 0
    for path in DOCUMENTS:
        for number, name in re.findall(r"([\d,]*\d)[^\d`|()\n]{0,30}\(`([A-Z][A-Z0-9]*_[A-Z0-9_]+)`\)", read(path)):
            true(name in known, f"{path}: there is no constant {name}")
            equal(int(number.replace(",", "")), known[name], f"{path}: {name}")
            checked += 1
    true(checked >= 8, f"only {checked} numbers are marked")


@rule
def the_libraries_of_the_build_are_those_of_the_documents():
    libraries = re.search(r"^LIBRARIES := (.*)$", read("Makefile"), re.M).group(1).split()
    names = {"openssl": "OpenSSL", "libturbojpeg": "libturbojpeg", "libpng": "libpng", "libwebp": "libwebp",
             "sqlite3": "SQLite", "jansson": "jansson", "inih": "inih", "libcurl": "curl", "libsystemd": "systemd", "libpq": "libpq", "libmariadb": "libmariadb",
             "rdkafka": "librdkafka", "zlib": "zlib"}
    text = re.search(r"shared libraries of Debian 12 \(([^)]*)\)", read("docs/operations.md").replace("\n", " ")).group(1)
    equal(sorted(text.split(", ")), sorted([names[library] for library in libraries] + ["wslay", "hiredis"]))


@rule
def the_page_of_the_api_has_every_route_of_the_api_document_and_no_other():
    """Rows may shorten: `POST /sales/{sale}/open`, `/pause`."""
    text, routes = read("docs/http-api.md"), json.loads(read("docs/openapi.json"))["paths"]
    others = "".join(read(f"docs/{page}.md") for page in ("human-check", "waiting-room", "payments"))
    real = {(method.upper(), path) for path, methods in routes.items() for method in methods if method != "parameters"}
    public, admin = text.split("## Admin", 1)
    for part, prefix in ((public, ""), (admin, "/admin/v1")):
        for method, path in re.findall(r"`(GET|POST|PUT|PATCH|DELETE) (/[\w/{}.-]*)", part):
            path = path if path.startswith(("/admin/v1", "/v1")) else prefix + path
            true((method, path) in real or path == "/sandbox/pay.html", f"docs/http-api.md: there is no {method} {path}")
    for path in routes:
        short = path.removeprefix("/admin/v1")
        parent, _, last = short.rpartition("/")
        shown = f"{short}`" in text or f"{short}?" in text or f"{short} " in text or (f"/{last}`" in text and parent in text)
        true(shown or short in others or path.startswith("/sandbox/"), f"docs/http-api.md does not have {path}")


# ---- paths and links ---------------------------------------------------------------------------------


@rule
def every_path_in_a_document_exists():
    checked = 0
    for path in DOCUMENTS:
        if path == "CHANGELOG.md":
            continue  # it tells of the past
        for name in re.findall(r"`((?:src|tests|docs|tools|bench|deploy|web)/[\w./*-]+)`", read(path)):
            true(glob.glob(os.path.join(REPOSITORY, name)) or glob.glob(os.path.join(REPOSITORY, name) + ".*"), f"{path}: there is no {name}")
            checked += 1
    true(checked > 60, f"only {checked} paths")


def anchors(text):
    """As GitHub makes them of headings."""
    found = set(re.findall(r'<a id="([^"]+)"', text))
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.S), re.M):
        plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", lambda m: m.group(1) or "", heading).strip().lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


@rule
def every_link_leads_somewhere():
    for path in DOCUMENTS:
        text = re.sub(r"```.*?```", "", read(path), flags=re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"https?:", target):
                continue
            name, _, anchor = target.partition("#")
            place = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            true(os.path.exists(os.path.join(REPOSITORY, place)), f"{path}: {target} leads nowhere")
            if anchor and place.endswith(".md"):
                true(anchor in anchors(read(place)), f"{path}: {target}: there is no such heading")


@rule
def every_document_is_in_the_list_of_documents():
    listed = read("docs/README.md")
    for path in glob.glob(os.path.join(REPOSITORY, "docs", "*.md")):
        name = os.path.basename(path)
        true(name == "README.md" or f"]({name})" in listed, f"docs/README.md does not list {name}")


@rule
def each_decision_has_its_own_number_a_date_and_a_status():
    numbers = []
    for path in sorted(glob.glob(os.path.join(REPOSITORY, "docs", "decisions", "0*.md"))):
        name, lines = os.path.basename(path), read(path).splitlines()
        numbers.append(int(name[:4]))
        true(lines[0].startswith(f"# {name[:4]} "), f"{name}: the title does not begin with its number")
        true(re.match(r"Date: \d{4}-\d{2}-\d{2}\. Status: (accepted|superseded by \d{4}|withdrawn)\.", lines[2]), f"{name}: no date and status")
    equal(numbers, list(range(1, len(numbers) + 1)), "numbers of decisions")


@rule
def the_documented_user_of_redis_may_run_what_the_scripts_run():
    rights = re.search(r"^ACL SETUSER .*$", read("docs/redis.md"), re.M).group()
    allowed = set(re.findall(r"\+([a-z]+)(?=[ |]|$)", rights))
    texts = "".join(sources((".lua",))) + read("src/inventory/redis/opening.c") + read("src/inventory/redis/comparison.c")
    run_by_scripts = set(re.findall(r"\bcall\('([a-z]+)'", texts))
    sent = {word.lower() for word in re.findall(r'REDIS_WORDS\(SPAN\("([A-Z]+)"\)', "".join(sources((".c",))))}
    true(len(run_by_scripts) >= 8 and len(sent) >= 8, "the commands were not understood")
    equal(sorted((run_by_scripts | sent) - allowed - {"auth"}), [], "commands that the documented user may not run")


# ---- README, glossary, versions ----------------------------------------------------------------------


def outline(text):
    """Levels of headings, and for each code block its commands; what a translation must not change."""
    levels = [len(marks) for marks in re.findall(r"^(#+) ", re.sub(r"```.*?```", "", text, flags=re.S), re.M)]
    blocks = [[line.split("  #")[0].rstrip() for line in block.splitlines() if re.match(r"(\$ |make |stampede )", line)]
              for block in re.findall(r"```\w*\n(.*?)```", text, re.S)]
    return levels, [block for block in blocks if block]


@rule
def both_readmes_have_the_same_headings_commands_figures_and_links():
    english, chinese = read("README.md"), read("README.zh-CN.md")
    equal(outline(chinese), outline(english))
    true(len(outline(english)[1]) >= 3, "README.md has hardly any commands")

    def links(text):
        return sorted(set(re.findall(r"\]\(([^)\s]+)\)", text)) - {"README.md", "README.zh-CN.md"})
    equal(links(chinese), links(english))

    def figures(text):
        return sorted(re.findall(r"\d+\.\d+", "\n".join(line for line in text.splitlines() if line.startswith("|"))))
    equal(figures(chinese), figures(english))


@rule
def a_readme_can_be_read_in_one_sitting():
    for path in ("README.md", "README.zh-CN.md"):
        true(len(read(path).splitlines()) <= 150, f"{path} has more than 150 lines")
    true(os.path.getsize(os.path.join(REPOSITORY, "docs", "screens", "storefront.png")) < 200 * 1000)


@rule
def figures_of_the_readme_are_those_of_the_performance_page():
    table = read("docs/performance.md")
    rows = [line for line in read("README.md").splitlines() if line.startswith("| ") and re.search(r"`\w+_\w+`", line)]
    true(len(rows) >= 3, "no rows of `make bench` in README.md")
    for row in rows:
        for name in re.findall(r"`(\w+_\w+)`", row):
            same = [line for line in table.splitlines() if line.startswith("|") and f"`{name}`" in line]
            true(same and row.split("|")[-2].strip() in same[0], f"{name}: docs/performance.md says otherwise")


@rule
def the_glossary_has_at_most_eighty_words_in_order():
    words = re.findall(r"^\| ([a-z][^|]*) \| ", read("docs/glossary.md").split("|---|", 1)[1], re.M)
    true(30 <= len(words) <= 80, f"{len(words)} words")
    equal(words, sorted(set(words)))


@rule
def program_changelog_and_api_document_have_one_version():
    version = program("version").stdout.split()[1]
    text = read("CHANGELOG.md")
    headings = re.findall(r"^## \[([^\]]+)\](.*)$", text, re.M)
    equal(headings[0], ("Unreleased", ""), "the first heading")
    for _, date in headings[1:]:
        true(re.fullmatch(r" - \d{4}-\d{2}-\d{2}", date), f"a version without a date: {date}")
    equal(headings[1][0], version, "the newest version of CHANGELOG.md")
    equal(re.search(r'"version": "([^"]+)"', read("docs/openapi.json")).group(1), version, "docs/openapi.json")
    equal(sorted((tuple(map(int, name.split("."))) for name, _ in headings[1:]), reverse=True),
          [tuple(map(int, name.split("."))) for name, _ in headings[1:]])


@rule
def the_changelog_keeps_its_form():
    """Keep a Changelog: each kind of change once in a version."""
    for part in re.split(r"^## ", read("CHANGELOG.md"), flags=re.M)[1:]:
        kinds = re.findall(r"^### (.*)$", part, re.M)
        equal(len(kinds), len(set(kinds)), part.splitlines()[0])
        true(set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}, f"{part.splitlines()[0]}: {kinds}")


run()
