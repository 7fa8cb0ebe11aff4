# SPDX-License-Identifier: Apache-2.0
"""docs/configuration.md says the same as the program: names, defaults, bounds, and what SIGHUP applies, and what must agree
on several machines."""
import os
import re
import subprocess

from kit.harness import REPOSITORY, binary_path, equal, rule, run, true

PROVIDERS = ("alipay", "wechat", "stripe")  # their settings are in docs/payments.md
NOTHING = ("empty", "–", "payment.public_url")  # or words: "this server's address and port"


def stampede(*words):
    plain = {name: value for name, value in os.environ.items() if not name.startswith("STAMPEDE_")}
    return subprocess.run([binary_path(plain=True), *words], capture_output=True, text=True, timeout=20, env=plain)


def of_the_program():
    """{name: (default, reloaded, agreed)}"""
    done = stampede("config", "--data", "/x", "--set", "session.guests=yes")
    equal(done.returncode, 0, done.stderr)
    settings, section, reloaded, agreed = {}, None, False, False
    for line in done.stdout.splitlines():
        if line.startswith("["):
            section = line[1:-1]
        elif line.startswith("; SIGHUP"):
            reloaded = True
        elif line.startswith("; the same in each process"):
            agreed = True
        elif line:
            key, _, value = line.partition(" =")
            settings[f"{section}.{key}"] = (value.strip(), reloaded, agreed)
            reloaded = agreed = False
    settings["data.folder"] = ("", *settings["data.folder"][1:])
    settings["session.guests"] = ("no", *settings["session.guests"][1:])
    return {name: row for name, row in settings.items() if name.split(".")[0] not in PROVIDERS}


def of_the_document():
    """{name: (default, reloaded, agreed, bounds)}"""
    settings, section = {}, None
    with open(os.path.join(REPOSITORY, "docs", "configuration.md"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("## "):
                section = re.findall(r"\[(\w+)\]", line)
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            names = re.findall(r"`([a-z_0-9.]+)`", cells[0])
            if not line.startswith("| `") or not section:
                continue
            each = [cell.split(", ") if len(names) > 1 else [cell] for cell in cells[1:3]]
            for at, name in enumerate(names):
                default, bounds = (values[at if len(values) == len(names) else 0] for values in each)
                default = default.strip("`")
                full = name if "." in name else f"{section[0]}.{name}"
                true(full not in settings, f"{full} stands twice")
                settings[full] = ("" if default in NOTHING or " " in default else default, "↻" in cells[0], "≡" in cells[0], bounds)
    return settings


@rule
def the_document_has_every_setting_with_its_default_and_whether_it_can_be_reloaded_or_must_agree():
    program, document = of_the_program(), of_the_document()
    equal(sorted(document), sorted(program))
    for name, (default, reloaded, agreed, _) in document.items():
        equal((name, default, reloaded, agreed), (name, *program[name]))


@rule
def the_bounds_of_numbers_are_the_ones_that_the_program_checks():
    checked = 0
    for name, (_, _, _, bounds) in of_the_document().items():
        said = re.match(r"([\d,]+) – ([\d,]+)", bounds)
        if said:
            done = stampede("config", "--data", "/x", "--set", "session.guests=yes", "--set", f"{name}=18446744073709551615")
            least, most = (number.replace(",", "") for number in said.groups())
            true(f"({least} to {most})" in done.stderr, f"{name}: {bounds}: {done.stderr}")
            checked += 1
    true(checked > 60, checked)


run()
