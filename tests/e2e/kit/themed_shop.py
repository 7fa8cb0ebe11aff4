# SPDX-License-Identifier: Apache-2.0
"""A shop with a look of its own. Run as a program it is the shop of tests/e2e/storefront/theme.test.mjs: it prints what that
needs, one NAME=value a line, and serves until its standard input ends."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))  # run as a program too

from kit.harness import Server, temp_folder  # noqa: E402

THEME = """[shop]
name = Tea House
name.zh-CN = 茶舍
logo = logo.svg
home_url = https://tea.example/

[colours]
accent = #0a6b4f

[colours.dark]
accent = #7fe0bd

[link.1]
url = https://tea.example/imprint
en = Imprint
zh-CN = 版权信息

[words.en]
sales.title = Tea at noon

[language.ar]
name = العربية
direction = rtl

[words.ar]
nav.sales = العروض
nav.orders = طلباتي
"""
LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 32"><rect width="64" height="32" rx="8" fill="#0a6b4f"/></svg>'


def theme_folder(text=THEME, logo=LOGO):
    folder = temp_folder("stampede-theme-")
    for name, content in (("theme.ini", text), ("logo.svg", logo)):
        with open(os.path.join(folder, name), "w") as file:
            file.write(content)
    return folder


def main():
    server = Server(settings={"page.theme": theme_folder()}).start()
    server.open_item(total=10, sale_fields={"title": "Today"})
    print(f"THEME_URL=http://127.0.0.1:{server.port}\nREADY=1", flush=True)
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    main()
