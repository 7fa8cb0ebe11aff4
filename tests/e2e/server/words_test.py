# SPDX-License-Identifier: Apache-2.0
"""What an operator reads at 3 a.m.: every command has help, and what is wrong is named with what to do."""
import os
import re
import subprocess
import sys

from kit.harness import REPOSITORY, Server, binary_path, equal, rule, run, temp_folder, true

PROGRAM = binary_path(plain=True)


def program(*words):
    environment = {"PATH": os.environ["PATH"]}
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=60, env=environment, stdin=subprocess.DEVNULL)


def commands():
    return re.findall(r"^  ([a-z]+) +\w", program("--help").stdout, re.M)


def refused(words, *says):
    done = program(*words)
    equal(done.returncode, 2, f"{words}: {done.stdout}{done.stderr}")
    for text in says:
        true(text in done.stderr, f"{words}: {text!r} is not in {done.stderr!r}")


@rule
def every_command_has_help_on_standard_output():
    equal(len(commands()), 18, commands())
    for command in commands():
        for words in ((command, "--help"), (command, "-h"), ("help", command)):
            done = program(*words)
            equal((done.returncode, done.stderr), (0, ""), words)
            true(command == "version" or done.stdout.startswith("usage: stampede " + command), f"{words}: {done.stdout[:80]}")
    for words in (("key", "new", "--help"), ("follow", "takeover", "--help"), ("store", "migrate", "--help"), ("admin", "sale", "open", "-h")):
        done = program(*words)
        equal((done.returncode, done.stderr), (0, ""), words)
    true("--from BACKUP" in program("restore", "--help").stdout, "restore does not tell of --from")


@rule
def a_wrong_argument_is_named():
    refused(("serve", "--frob", "1"), "unknown option '--frob'", "--help")
    refused(("serve", "--port"), "'--port' has no value")
    refused(("serve", "extra"), "'extra' has no value")
    refused(("serve", "--set", "foo"), "--set foo must be like section.key=value")
    refused(("serve",), "data.folder must be set: --data DIR", "--config FILE")
    refused(("demo", "--config", "x"), "'--config' is not known here")
    refused(("frobnicate",), "unknown command 'frobnicate'", "stampede help")


@rule
def a_wrong_line_of_a_settings_file_is_named_with_its_cause():
    path = os.path.join(temp_folder(), "bad.ini")
    for text, says in (("port = 80\n", "line 1: port is in no section, like [server]"), ("[server]\nport 80\n", "line 2: neither [section] nor name = value"),
                       ("[server]\nprot = 80\n", "line 2: unknown setting server.prot (see `stampede config`)")):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        refused(("serve", "--config", path), says)
        true("no settings file" not in program("serve", "--config", path).stderr, text)


@rule
def a_settings_file_tells_all_its_mistakes_and_a_setting_that_stands_twice():
    path = os.path.join(temp_folder(), "bad.ini")
    with open(path, "w", encoding="utf-8") as file:
        file.write("[server]\nport = 80\nprot = 80\n[session]\nguests = maybe\n[server]\nport = 81\n")
    for command in ("serve", "config"):
        refused((command, "--config", path), "line 3: unknown setting server.prot", "line 5: session.guests = maybe must be yes or no",
                "line 7: server.port stands in line 2 already")


@rule
def completion_knows_the_verbs_and_options_of_each_command():
    folder = temp_folder()
    subprocess.run([sys.executable, os.path.join(REPOSITORY, "tools/package_texts.py"), PROGRAM, folder], check=True)
    for words, says in ((["follow", ""], ["status", "takeover", "--from"]), (["restore", "--"], ["--from", "--until", "--config"]), (["key", "pa"], ["password"]),
                        (["admin", "sale", "pub"], ["publish"])):
        script = f"source {folder}/stampede.bash; COMP_WORDS=(stampede {' '.join(repr(word) for word in words)}); COMP_CWORD={len(words)}; _stampede; echo ${{COMPREPLY[@]}}"
        found = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.split()
        true(set(says) <= set(found), f"{words}: {found}")


@rule
def a_port_in_use_says_who_to_ask():
    first = Server().start()
    second = Server(settings={"server.port": first.port})
    done = program("serve", "--config", second.config)
    equal(done.returncode, 1, done.stderr)
    true("another program does (`ss -ltnp` shows it)" in done.stdout + done.stderr, done.stderr)


run()
