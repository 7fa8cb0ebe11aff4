#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes assets.S and assets_table.c, which put the pages and the API document into the binary.

Usage: embed.py PAGES_FOLDER OUTPUT_FOLDER, from the top of the repository, after bundle.py PAGES_FOLDER. A file
PAGES_FOLDER/a/b.js gets the path /a/b.js, docs/openapi.json gets /openapi.json. Each file is there as it is and,
where that is smaller, compressed with gzip and brotli. The table is sorted by path, in byte order. Needs brotli.
"""
import gzip
import os
import subprocess
import sys

API = "docs/openapi.json"


def find_assets(pages):
    assets = {"/openapi.json": API}
    for folder, _, files in os.walk(pages):
        for name in files:
            path = os.path.join(folder, name)
            assets["/" + os.path.relpath(path, pages)] = path
    return sorted(assets.items(), key=lambda asset: asset[0].encode())


def quoted(text):
    if any(ord(c) < 32 or c in '"\\' or ord(c) > 126 for c in text):
        sys.exit(f"embed.py: {text!r}: rename it, only plain ASCII names are embedded")
    return f'"{text}"'


def brotli(content):
    try:
        return subprocess.run(["brotli", "--quality=11", "--stdout", "-"], input=content, stdout=subprocess.PIPE,
                              check=True).stdout
    except FileNotFoundError:
        sys.exit("embed.py: brotli is not installed; tools/setup build installs it")


def forms_write(number, file, output):
    """The forms of asset NUMBER: (symbol, size, file), None where there is no form."""
    with open(file, "rb") as source:
        content = source.read()
    forms = [(f"asset_{number}", len(content), file)]
    for ending, packed in (("br", brotli(content)), ("gz", gzip.compress(content, 9, mtime=0))):
        path = os.path.join(output, f"asset_{number}.{ending}")
        with open(path, "wb") as out:
            out.write(packed)
        forms.append((f"asset_{number}_{ending}", len(packed), path) if len(packed) < len(content) else None)
    return forms


def main():
    pages, output = sys.argv[1:]
    os.makedirs(output, exist_ok=True)
    assets = [(path, forms_write(number, file, output)) for number, (path, file) in enumerate(find_assets(pages))]
    symbols = [form for _, forms in assets for form in forms if form is not None]
    with open(os.path.join(output, "assets.S"), "w") as out:
        out.write("    .section .rodata\n")
        for symbol, _, file in symbols:
            out.write(f"    .balign 16\n    .globl {symbol}\n{symbol}:\n    .incbin {quoted(file)}\n    .byte 0\n")
        out.write('    .section .note.GNU-stack,"",@progbits\n')
    with open(os.path.join(output, "assets_table.c"), "w") as out:
        out.write('#include "edge/assets.h"\n\n')
        for symbol, _, _ in symbols:
            out.write(f"extern const unsigned char {symbol}[];\n")
        out.write("\nconst struct asset assets_embedded[] = {\n")
        for path, forms in assets:
            pairs = ", ".join("0, 0" if form is None else f"{form[0]}, {form[1]}" for form in forms)
            out.write(f"    {{ {quoted(path)}, {pairs} }},\n")
        out.write(f"}};\nconst size_t assets_embedded_count = {len(assets)};\n")


main()
