#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes assets.S and assets_table.c, which put web/ and the API document into the binary.

Usage: embed.py OUTPUT_FOLDER, from the top of the repository. A file web/a/b.js gets the path /a/b.js,
docs/openapi.json gets /openapi.json. What only the tools need (package files, node_modules, tests, hidden
files, notes) stays out. The table is sorted by path, in byte order, for a binary search.
"""
import os
import sys

WEB = "web"
API = "docs/openapi.json"
LEFT_OUT_ENDINGS = (".md", ".test.js", ".test.mjs", "~")
LEFT_OUT_NAMES = ("package.json", "package-lock.json", "node_modules", "test", "tests")


def is_left_out(name):
    return name.startswith(".") or name in LEFT_OUT_NAMES or name.endswith(LEFT_OUT_ENDINGS)


def find_assets():
    assets = {}
    for folder, folders, files in os.walk(WEB):
        folders[:] = [name for name in folders if not is_left_out(name)]
        for name in files:
            if not is_left_out(name):
                path = os.path.join(folder, name)
                assets["/" + os.path.relpath(path, WEB)] = path
    if os.path.exists(API):
        assets["/openapi.json"] = API
    return sorted(assets.items(), key=lambda asset: asset[0].encode())


def quoted(text):
    if any(ord(c) < 32 or c in '"\\' or ord(c) > 126 for c in text):
        sys.exit(f"embed.py: {text!r}: rename it, only plain ASCII names are embedded")
    return f'"{text}"'


def main():
    output = sys.argv[1]
    os.makedirs(output, exist_ok=True)
    assets = find_assets()
    with open(os.path.join(output, "assets.S"), "w") as out:
        out.write("    .section .rodata\n")
        for number, (_, file) in enumerate(assets):
            out.write(f"    .balign 16\n    .globl asset_{number}\nasset_{number}:\n")
            out.write(f"    .incbin {quoted(file)}\n    .byte 0\n")
        out.write('    .section .note.GNU-stack,"",@progbits\n')
    with open(os.path.join(output, "assets_table.c"), "w") as out:
        out.write('#include "edge/assets.h"\n\n')
        for number in range(len(assets)):
            out.write(f"extern const unsigned char asset_{number}[];\n")
        out.write("\nconst struct asset assets_embedded[] = {\n")
        for number, (path, file) in enumerate(assets):
            out.write(f"    {{ {quoted(path)}, asset_{number}, {os.path.getsize(file)} }},\n")
        if not assets:
            out.write("    { 0, 0, 0 },\n")
        out.write(f"}};\nconst size_t assets_embedded_count = {len(assets)};\n")


main()
