# SPDX-License-Identifier: Apache-2.0
"""Commands that the documents show are commands that the program takes; docs/cli.md has every verb with every option."""
import glob
import os
import re
import shlex
import subprocess
import tempfile

from kit.harness import REPOSITORY, equal, binary_path, rule, run, true

PROGRAM = binary_path(plain=True)
NOWHERE = "http://127.0.0.1:1"  # nobody listens there
KEY = "sk_" + "a" * 43
# What stands in examples for a value.
VALUES = {"N": "1", "DIR": "/nonexistent", "FILE": "/nonexistent", "T": "+1h", "TIME": "+1h", "ORDER": "0123456789abcdef", "URL": NOWHERE,
          "DELTA": "1", "PATH": "/media/x", "VALUE": "x", "NAME": "x", "SUBJECT": "x", "ID": "0123456789abcdef", "HEX": "00", "TEXT": "x"}


def read(path):
    with open(os.path.join(REPOSITORY, path), encoding="utf-8") as file:
        return file.read()


FOLDER = tempfile.TemporaryDirectory()
with open(os.path.join(FOLDER.name, "stampede.ini"), "w", encoding="utf-8") as settings:
    settings.write("[data]\nfolder = /nonexistent\n[session]\nguests = yes\n")


def program(words):
    environment = {"PATH": os.environ["PATH"], "STAMPEDE_ADMIN_KEY": KEY, "STAMPEDE_URL": NOWHERE}
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=60, env=environment, cwd=FOLDER.name, stdin=subprocess.DEVNULL)


def examples():
    """(document, words) of each `stampede …` in a code block or between backticks that is meant to be typed as it is."""
    for path in ["README.md", "README.zh-CN.md", "CONTRIBUTING.md", "SECURITY.md"] + sorted(glob.glob("docs/*.md", root_dir=REPOSITORY)):
        text = read(path)
        lines = [line for block in re.findall(r"```(?:sh|console)?\n(.*?)```", text, re.S) for line in block.splitlines()]
        # Between backticks a command without an argument is only named.
        lines += [line for line in re.findall(r"`(stampede [^`\n]+)`", text) if re.search(r" (--|[A-Z]+\b|\d)", line)]
        for line in lines:
            line = re.sub(r"^\$ ", "", line.strip())
            line = re.sub(r"\s+#.*$|\s+>\s.*$", "", line)
            if not line.startswith("stampede ") or re.search(r"[\[\]|]|\.\.\.|COMMAND|VERB", line):
                continue  # a grammar, not an example
            line = line.rstrip(",;:")
            yield path, line


def typed(line):
    """The words of an example, with values where it leaves them out."""
    words = [VALUES.get(word, word) for word in shlex.split(line)[1:]]
    return [re.sub("…", "0", word) if word != "…" else None for word in words]


@rule
def every_example_is_taken_by_the_program():
    checked = 0
    for path, line in examples():
        words = typed(line)
        if None in words or words[0] not in ("admin", "verify", "reconcile", "draw", "key", "mint", "config", "restore", "version"):
            continue  # left open, or a server that would stay
        if words[0] == "admin" and len(words) < 2:
            continue
        if words[0] == "admin" and "--url" in words:
            words[words.index("--url") + 1] = NOWHERE
        words = [word if not word.endswith("stampede.ini") else "stampede.ini" for word in words]
        if words[0] == "key":
            words = [word if not word.startswith("/") else "/nonexistent/keys" for word in words]
        done = program(words)
        told = done.stdout + done.stderr
        if re.search(r"stampede admin: .* needs ", told):
            continue  # the options that it shows are right; it leaves others out
        # A verb that is known and whose options are right gets as far as the server or the file.
        true("usage:" not in told and "unknown" not in told and "--help'" not in told and "must be" not in told,
             f"{path}: {line}: {told.strip()[:200]}")
        if words[0] == "admin":
            true(done.returncode in (1, 3) or "can't be read" in told, f"{path}: {line}: exit {done.returncode}: {told.strip()[:200]}")
        checked += 1
    true(checked >= 25, f"only {checked} examples")


def verbs():
    """verb -> its options, as `stampede admin` tells them."""
    done = program(["admin", "--help"])
    equal(done.returncode, 0, done.stderr)
    found = {}
    for line in done.stdout.split("\n\n", 1)[1].splitlines():
        for name in (" ".join(line.split()[:2]), line.split()[0]):  # "sale open", else "orders"
            told = program(["admin", *name.split(), "--help"])
            if told.stdout.startswith(f"usage: stampede admin {name}"):
                found[name] = set(re.findall(r"^  (--[a-z-]+) ", told.stdout, re.M))
                break
        true(told.returncode == 0, line)
    return found


def documented_verbs():
    """verb -> its options, of the table in docs/cli.md. `sale open N`, `pause N`: the second has the first's noun."""
    found = {}
    for line in read("docs/cli.md").splitlines():
        row = re.match(r"\| (`.*?) \| ", line.replace("\\|", "/"))
        if not row:
            continue
        noun = ""
        for part in re.findall(r"`([^`]+)`", row.group(1)):
            words = [word for word in part.split() if re.fullmatch(r"[a-z][a-z-]*", word)]
            plain = []
            for word in part.split():
                if not re.fullmatch(r"[a-z][a-z-]*", word):
                    break
                plain.append(word)
            true(words, line)
            name = " ".join(plain[:2])
            if noun and name not in REAL and f"{noun} {name}" in REAL:
                name = f"{noun} {name}"
            noun = name.split()[0]
            found[name] = set(re.findall(r"--[a-z-]+", part))
    return found


REAL = verbs()


@rule
def every_verb_and_every_option_is_documented_and_no_other():
    documented = documented_verbs()
    true(len(REAL) > 50, f"only {len(REAL)} verbs were understood")
    equal(sorted(set(documented) ^ set(REAL)), [], "verbs in one of the two only")
    for name, options in REAL.items():
        equal(sorted(documented[name] ^ options), [], f"{name}: options in one of the two only")


@rule
def every_command_is_listed():
    told = program(["help"]).stdout
    for command in re.findall(r"^## `stampede (\w+)`", read("docs/cli.md"), re.M):
        true(f"  {command} " in told, f"docs/cli.md: there is no command {command}")


run()
