#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes what a package ships besides the program, from what the program and the documents say of themselves.

Usage: package_texts.py SERVER OUT_FOLDER
  stampede.ini        every setting with its default, its bounds and what it means (docs/configuration.md)
  stampede.1          the commands (their --help)
  stampede.ini.5      the same settings as a manual page
  stampede.bash       completion of commands, their verbs and options
"""
import collections
import os
import re
import subprocess
import sys
import textwrap

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SETTINGS = os.path.join(REPOSITORY, "docs", "configuration.md")
WIDTH = 100
# What a fresh machine needs to differ from the defaults, so that the server starts.
SET = {"data.folder": "/var/lib/stampede", "session.guests": "yes"}
SET_WHY = {"session.guests": "So that a fresh installation starts. A shop sets session.jwt_keys and says no here."}

Setting = collections.namedtuple("Setting", "section key default bounds meaning running")


def plain(text):
    """Markdown as plain text."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return text.replace("**", "").replace("`", "").replace("\\|", "|").strip()


def settings_read():
    settings = []
    with open(SETTINGS, encoding="utf-8") as file:
        for line in file:
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if len(cells) != 5 or not re.fullmatch(r"`STAMPEDE_[A-Z0-9_]+`", cells[3]):
                continue
            section, key = cells[3].strip("`").lower().removeprefix("stampede_").split("_", 1)
            settings.append(Setting(section, key, plain(cells[1]), plain(cells[2]), plain(cells[4]), "↻" in cells[0]))
    if not settings:
        sys.exit(f"package_texts: no settings in {SETTINGS}")
    return settings


def by_section(settings):
    sections = collections.OrderedDict()
    for setting in settings:
        sections.setdefault(setting.section, []).append(setting)
    return sections


def about(setting):
    """Sentences: what it means, its bounds, its default, when it can change."""
    parts = [setting.meaning[:1].upper() + setting.meaning[1:] + "." if setting.meaning else "",
             f"Allowed: {setting.bounds}." if setting.bounds else "",
             "No default." if setting.default == "–" else f"Default: {setting.default}.",
             "A reload (SIGHUP) applies it." if setting.running else ""]
    return " ".join(part for part in parts if part).replace("..", ".")


def ini(settings):
    lines = ["# Settings of Stampede. A line that begins with # is a comment: the default counts.",
             "# stampede.ini(5) has the same texts; `stampede config --config FILE` prints what the server would see.", ""]
    for section, rows in by_section(settings).items():
        lines.append(f"[{section}]")
        for row in rows:
            name = f"{section}.{row.key}"
            lines += [f"# {line}" for line in textwrap.wrap(about(row), WIDTH - 2)]
            if name in SET:
                lines += [f"# {SET_WHY[name]}"] if name in SET_WHY else []
                lines.append(f"{row.key} = {SET[name]}")
            else:
                default = "" if row.default in ("–", "empty") else row.default
                lines.append(f"# {row.key} = {default}".rstrip())
            lines.append("")
    return "\n".join(lines)


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def manual(name, section, title, parts):
    """parts: (heading, lines of roff)"""
    lines = [f'.\\" SPDX-License-Identifier: Apache-2.0', f'.TH {name.upper()} {section} "" "Stampede" "{title}"']
    for heading, body in parts:
        lines += [f".SH {heading}", *body]
    return "\n".join(lines) + "\n"


def manual_settings(settings):
    body = []
    for section, rows in by_section(settings).items():
        body.append(f".SS [{section}]")
        for row in rows:
            body += [".TP", f".B {roff(row.key)}", roff(about(row))]
    return manual("stampede.ini", 5, "File formats", [
        ("NAME", ["stampede.ini \\- settings of the flash\\-sale server Stampede"]),
        ("DESCRIPTION", ["Sections in square brackets, then lines of the form", ".IR key = value .",
                         "A setting is also read from the environment: STAMPEDE_SECTION_KEY, or STAMPEDE_SECTION_KEY_FILE for a file whose first",
                         "line is the value. The environment overrides the file, the command line overrides both.",
                         "An unknown name or a value out of bounds is an error, and nothing is started."]),
        ("SETTINGS", body),
        ("FILES", [".TP", ".I /etc/stampede/stampede.ini", "read by the systemd units"]),
        ("SEE ALSO", [".BR stampede (1)"])])


def said(server, *words):
    """What a command says of itself, without its own name for errors."""
    result = subprocess.run([server, *words], capture_output=True, text=True, check=False, timeout=30)
    text = result.stdout + result.stderr
    return "\n".join(line for line in text.splitlines() if not re.match(r"stampede [a-z]+: ", line))


def commands_read(server):
    return re.findall(r"^  ([a-z]+) +(.+)$", said(server, "--help"), re.MULTILINE)


def verbs_read(server):
    return re.findall(r"^  ([a-z-]+ [a-z-]+|[a-z-]+) {2,}(.+)$", said(server, "admin", "--help").split("\n\n", 1)[-1], re.MULTILINE)


def manual_commands(server, commands, verbs):
    body = []
    for name, does in commands:
        body += [f".SS {name}", roff(does[:1].upper() + does[1:] + "."), ".PP", ".nf"]
        usage = "" if name in ("version", "help") else said(server, name, "--help").split("\n\n")[0]
        body += [roff(line) for line in usage.splitlines()] + [".fi"]
    listed = []
    for verb, does in verbs:
        listed += [".TP", f".B {roff(verb)}", roff(does)]
    return manual("stampede", 1, "User commands", [
        ("NAME", ["stampede \\- flash\\-sale server"]),
        ("SYNOPSIS", [".B stampede", ".I COMMAND", ".RI [ ARGUMENT ...]"]),
        ("DESCRIPTION", ["Sells a few units to very many people at one moment, and proves afterwards that each unit is accounted for.",
                         "One program: the server, and the commands to manage and check it."]),
        ("COMMANDS", body),
        ("VERBS OF STAMPEDE ADMIN", listed),
        ("FILES", [".TP", ".I /etc/stampede/stampede.ini", "settings,", ".BR stampede.ini (5)",
                   ".TP", ".I /var/lib/stampede", "the data folder: the log of all wins, orders, snapshots"]),
        ("SEE ALSO", [".BR stampede.ini (5)"])])


def words_of(server, name):
    """The verbs and options that the help of a command names."""
    text = "" if name in ("admin", "version") else said(server, name, "--help")
    return list(dict.fromkeys(re.findall(rf"stampede {name} ([a-z]+) ", text) + re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text)))


def completion(server, commands, verbs):
    words = collections.OrderedDict()
    for verb, _ in verbs:
        first, _, second = verb.partition(" ")
        words.setdefault(first, []).append(second)
    cases = "\n".join(f'        {first}) words="{" ".join(filter(None, seconds))}" ;;' for first, seconds in words.items())
    others = "\n".join(f'        {name}) words="{" ".join(words_of(server, name))}" ;;' for name, _ in commands if name not in ("admin", "version"))
    return f"""# SPDX-License-Identifier: Apache-2.0
# Completion of stampede(1) for bash.
_stampede() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} words=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="{" ".join(name for name, _ in commands)}"
    elif [ "${{COMP_WORDS[1]}}" = admin ] && [ "$COMP_CWORD" -eq 2 ]; then
        words="{" ".join(words)}"
    elif [ "${{COMP_WORDS[1]}}" = admin ] && [ "$COMP_CWORD" -eq 3 ]; then
        case ${{COMP_WORDS[2]}} in
{cases}
        esac
    else
        case ${{COMP_WORDS[1]}} in
{others}
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}}
complete -o default -F _stampede stampede
"""


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    server, out = os.path.abspath(sys.argv[1]), sys.argv[2]
    settings, commands, verbs = settings_read(), commands_read(server), verbs_read(server)
    os.makedirs(out, exist_ok=True)
    for name, text in {"stampede.ini": ini(settings), "stampede.1": manual_commands(server, commands, verbs),
                       "stampede.ini.5": manual_settings(settings), "stampede.bash": completion(server, commands, verbs)}.items():
        with open(os.path.join(out, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
