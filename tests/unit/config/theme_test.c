/* SPDX-License-Identifier: Apache-2.0 */
#include "config/theme.h"

#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/stampede-theme-XXXXXX";

static void file_write(const char *name, const char *content)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(content, file);
    assert_int_equal(fclose(file), 0);
}

static void a_theme_is_read_into_style_words_and_links(void **state)
{
    struct theme theme;
    char error[CONFIG_ERROR];
    (void)state;
    file_write("logo.svg", "<svg/>");
    file_write("theme.ini",
        "[shop]\nname = Tea & Co\nname.zh-CN = 茶舍\nlogo = logo.svg\nhome_url = "
        "https://tea.example/\n"
        "[colours]\naccent = #0a6b4f\n[colours.dark]\naccent = #7fe0bd\n"
        "[link.2]\nurl = /imprint\nen = Imprint\nzh-CN = 版权\n"
        "[words.en]\nsales.lead = </script><b>\n[language.ar]\nname = x\ndirection = rtl\n");
    assert_int_equal(theme_load(&theme, folder, error), STATUS_OK);
    assert_string_equal(theme.name, "Tea & Co");
    assert_string_equal(theme.home_url, "https://tea.example/");
    assert_int_equal(theme.logo_size, 6);
    assert_string_equal(theme.links[1].url, "/imprint");
    assert_string_equal(theme.links[1].name, "Imprint");
    assert_string_equal(theme.links[0].url, "");
    theme.css[theme.css_size] = 0;
    assert_non_null(
        strstr(theme.css, ":root{--accent:#0a6b4f;--on-accent:#ffffff;--accent-deep:#0a6b4f;"));
    assert_non_null(strstr(theme.css, "dark){:root{--accent:#7fe0bd;--on-accent:#000000;"));
    theme.json[theme.json_size] = 0;
    assert_null(strchr(theme.json, '<'));
    assert_non_null(strstr(theme.json, "\"words.en\":{\"sales.lead\":\"\\u003c/script>\\u003cb>\"}"));
    assert_non_null(strstr(theme.json, "{\"shop\":{\"name\":\"Tea & Co\",\"name.zh-CN\":\"茶舍\""));
    theme_free(&theme);
}

static void an_empty_theme_is_one(void **state)
{
    struct theme theme;
    char error[CONFIG_ERROR];
    (void)state;
    file_write("theme.ini", "; nothing yet\n");
    assert_int_equal(theme_load(&theme, folder, error), STATUS_OK);
    theme.json[theme.json_size] = 0;
    assert_string_equal(theme.json, "{}");
    theme_free(&theme);
}

static void what_is_wrong_is_told_with_its_line(void **state)
{
    static const struct {
        const char *file, *told;
    } cases[] = {
        { "[shop]\nnmae = x\n", "line 2: shop.nmae is not known" },
        { "[shop]\nlogo = ../logo.svg\n", "line 2: shop.logo must be" },
        { "[shop]\nlogo = page.html\n", "line 2: shop.logo must be" },
        { "[shop]\nlogo = gone.svg\n", "gone.svg can't be read" },
        { "[shop]\nhome_url = javascript:alert(1)\n", "line 2: shop.home_url must be an address" },
        { "[shop]\nhome_url = //evil.example\n", "line 2: shop.home_url must be an address" },
        { "[link.1]\nurl = https://x.example/\"onclick=\"x\n", "link.1.url must be an address" },
        { "[link.9]\nurl = /x\n", "link.1 … link.8" },
        { "[colours]\naccent = red\n", "line 2: colours.accent must be a colour" },
        { "[colours]\naccent = #0a6b4f;}\n", "colours.accent must be a colour" },
        { "[colours]\nshade = #000000\n", "colours.shade is no colour of the pages" },
        { "[language.ar]\ndirection = up\n", "language.ar.direction is not known" },
        { "[styles]\nx = y\n", "is in a section that is not known" },
        { "[words.en]\na = 1\n[words.zh-CN]\na = 1\n[words.en]\nb = 2\n",
            "line 6: words.en.b is in a section" },
        { "[shop]\njust words\n", "line 2: not a setting" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct theme theme;
        char error[CONFIG_ERROR] = "";
        file_write("theme.ini", cases[i].file);
        assert_int_equal(theme_load(&theme, folder, error), STATUS_BAD_INPUT);
        if (strstr(error, cases[i].told) == NULL)
            fail_msg("%s is not in: %s", cases[i].told, error);
    }
    struct theme theme;
    char error[CONFIG_ERROR];
    assert_int_equal(theme_load(&theme, "/nonexistent", error), STATUS_BAD_INPUT);
    assert_non_null(strstr(error, "can't be read"));
}

static int folder_make(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int folder_remove(void **state)
{
    char path[256];
    (void)state;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, i == 0 ? "theme.ini" : "logo.svg");
        unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_theme_is_read_into_style_words_and_links),
        cmocka_unit_test(an_empty_theme_is_one),
        cmocka_unit_test(what_is_wrong_is_told_with_its_line),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
