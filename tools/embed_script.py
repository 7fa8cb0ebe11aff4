#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a C file with the text of the Redis script, so that it is part of the binary.

Usage: embed_script.py OUTPUT.c FILE.lua…, in the order of the script. Lines that are only a comment are left out, and so
are blanks at the start of a line: Redis keeps the text of each epoch.
"""
import sys


def line_of(line):
    text = line.strip()
    if not text or text.startswith("--"):
        return ""
    return '    "' + text.replace("\\", "\\\\").replace('"', '\\"') + '\\n"\n'


def main():
    output, *files = sys.argv[1:]
    with open(output, "w", encoding="ascii") as out:
        out.write('#include "inventory/redis/script.h"\n\nconst char script_template[] =\n')
        for path in files:
            with open(path, encoding="utf-8") as source:
                out.write("".join(map(line_of, source)))
        out.write("    ;\n")


main()
