# SPDX-License-Identifier: Apache-2.0
"""page.theme: the shop's look in the pages that the server sends."""
import re

from kit.harness import Server, equal, rule, run, true
from kit.themed_shop import LOGO, THEME, theme_folder

server = Server(settings={"page.theme": theme_folder(THEME.replace("name = Tea House", "name = Tea & <House>"))}).start()


@rule
def the_html_itself_carries_name_logo_and_links():
    page = server.get("/").body.decode()
    true("<title>Tea &amp; &lt;House&gt;</title>" in page, page)
    true('<span data-words="shop.name">Tea &amp; &lt;House&gt;</span>' in page, page)
    true('<a class="brand" href="https://tea.example/">' in page, page)
    true('<a href="https://tea.example/imprint" data-words="link.1">Imprint</a>' in page, page)
    equal(page.count("Stampede</"), 0)
    missing = server.request("GET", "/nothing", headers={"Accept": "text/html"})
    equal(missing.status, 404)
    true("Tea &amp; &lt;House&gt;" in missing.body.decode(), missing.body)


@rule
def style_and_logo_can_be_kept_for_ever_and_the_page_can_not():
    page = server.get("/")
    equal(page.headers["cache-control"], "no-cache")
    style = server.get(re.search(r'href="(/theme-[0-9a-f]{16}\.css)"', page.body.decode())[1])
    equal(style.headers["content-type"], "text/css; charset=utf-8")
    true("--accent:#0a6b4f" in style.body.decode())
    logo = server.get(re.search(r'src="(/logo-[0-9a-f]{16}\.svg)"', page.body.decode())[1])
    equal(logo.body.decode(), LOGO)
    for file in (style, logo):
        true("immutable" in file.headers["cache-control"], file.headers)


@rule
def a_theme_that_is_wrong_is_told_and_nothing_starts():
    for text, told in (("[colours]\naccent = red\n", "theme.ini line 2: colours.accent must be a colour"),
                       ("[shop]\nlogo = gone.svg\n", "gone.svg can't be read")):
        code, said = Server(settings={"page.theme": theme_folder(text)}).start_refused()
        equal(code, 1, said)
        true(told in said, said)


run()
