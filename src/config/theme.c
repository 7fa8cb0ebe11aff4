/* SPDX-License-Identifier: Apache-2.0 */
#include "config/theme.h"

#include "base/text.h"

#include <ini.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTIONS_MAX = 48, SECTION_TEXT = 50, COLOURS = 14, MODES = 2 };

/* The colours of web/style.css that a theme may set. */
static const char *const colour_names[] = { "ground", "surface", "sunken", "line", "ink", "ink-soft",
    "accent", "accent-deep", "on-accent", "accent-wash", "bar", "idle", "on-idle", "raised" };
static_assert(sizeof colour_names / sizeof *colour_names == COLOURS, "a name for each");
enum { COLOUR_ACCENT = 6, COLOUR_ACCENT_DEEP = 7, COLOUR_ON_ACCENT = 8, COLOUR_ACCENT_WASH = 9 };

struct reading {
    struct theme *theme;
    struct text json;
    char sections[SECTIONS_MAX][SECTION_TEXT]; /* begun so far */
    uint32_t section_count;
    char colours[MODES][COLOURS][8]; /* light, dark */
    char *error;                     /* what is wrong, without the line */
};

static bool wrong(struct reading *reading, const char *what)
{
    if (reading->error[0] == 0)
        snprintf(reading->error, CONFIG_ERROR, "%s", what);
    return false;
}

/* It becomes a link: nothing that runs a script. */
static bool is_link(const char *url)
{
    return (strncmp(url, "https://", 8) == 0 || strncmp(url, "http://", 7) == 0
               || (url[0] == '/' && url[1] != '/' && url[1] != '\\'))
        && url[strcspn(url, "\"'<>\\ ")] == 0;
}

static bool text_take(struct reading *reading, char field[THEME_TEXT], const char *value)
{
    if (strlen(value) >= THEME_TEXT)
        return wrong(reading, "is too long");
    memcpy(field, value, strlen(value) + 1);
    return true;
}

static bool link_take(struct reading *reading, char field[THEME_TEXT], const char *value)
{
    return is_link(value) ? text_take(reading, field, value)
                          : wrong(reading, "must be an address: https://…, http://… or /…");
}

static bool is_picture_name(const char *name)
{
    static const char *const endings[] = { ".svg", ".png", ".jpg", ".webp" };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot != NULL && dot != name && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot, endings[i]) == 0)
            return strchr(name, '/') == NULL && name[0] != '.';
    return false;
}

static bool shop_take(struct reading *reading, const char *key, const char *value)
{
    struct theme *theme = reading->theme;
    if (strcmp(key, "logo") == 0)
        return is_picture_name(value)
            ? text_take(reading, theme->logo, value)
            : wrong(reading, "must be a .svg, .png, .jpg or .webp file of the folder");
    if (strcmp(key, "home_url") == 0)
        return link_take(reading, theme->home_url, value);
    if (strcmp(key, "name") == 0)
        return text_take(reading, theme->name, value);
    return strncmp(key, "name.", 5) == 0
        ? true
        : wrong(reading, "is not known: name, name.LANGUAGE, logo and home_url are");
}

static bool colour_take(struct reading *reading, bool dark, const char *key, const char *value)
{
    if (strlen(value) != 7 || value[0] != '#' || strspn(value + 1, "0123456789abcdefABCDEF") != 6)
        return wrong(reading, "must be a colour like #0a6b4f");
    for (int i = 0; i < COLOURS; i++) {
        if (strcmp(key, colour_names[i]) == 0) {
            memcpy(reading->colours[dark][i], value, 8);
            return true;
        }
    }
    return wrong(reading, "is no colour of the pages");
}

/* [link.N] */
static bool footer_link_take(
    struct reading *reading, const char *number, const char *key, const char *value)
{
    if (number[0] < '1' || number[0] > '0' + THEME_LINKS_MAX || number[1] != 0)
        return wrong(reading, "is in a section that is not link.1 … link.8");
    struct theme_link *link = &reading->theme->links[number[0] - '1'];
    if (strcmp(key, "url") == 0)
        return link_take(reading, link->url, value);
    return link->name[0] != 0 || text_take(reading, link->name, value);
}

static bool language_take(struct reading *reading, const char *key, const char *value)
{
    if (strcmp(key, "name") == 0)
        return true;
    return strcmp(key, "direction") == 0 && (strcmp(value, "ltr") == 0 || strcmp(value, "rtl") == 0)
        ? true
        : wrong(reading, "is not known: name, and direction (ltr or rtl) are");
}

static bool entry_take(struct reading *reading, const char *section, const char *key, const char *value)
{
    if (strcmp(section, "shop") == 0)
        return shop_take(reading, key, value);
    if (strcmp(section, "colours") == 0 || strcmp(section, "colours.dark") == 0)
        return colour_take(reading, section[7] != 0, key, value);
    if (strncmp(section, "link.", 5) == 0)
        return footer_link_take(reading, section + 5, key, value);
    if (strncmp(section, "language.", 9) == 0)
        return language_take(reading, key, value);
    return strncmp(section, "words.", 6) == 0
        || wrong(reading,
            "is in a section that is not known: shop, colours, colours.dark, link.N, "
            "words.LANGUAGE and "
            "language.LANGUAGE are");
}

/* Opens the object of the section; false: it was there before, and would be hidden by this one. */
static bool section_open(struct reading *reading, const char *section)
{
    const uint32_t count = reading->section_count;
    if (count > 0 && strcmp(reading->sections[count - 1], section) == 0) {
        text_literal(&reading->json, ",");
        return true;
    }
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(reading->sections[i], section) == 0)
            return wrong(reading, "is in a section that was there before");
    if (count == SECTIONS_MAX || strlen(section) >= SECTION_TEXT)
        return wrong(reading, "is in one section too many");
    memcpy(reading->sections[reading->section_count++], section, strlen(section) + 1);
    text_string(&reading->json, count == 0 ? "" : "},");
    text_json_script(&reading->json, span_from_string(section));
    text_literal(&reading->json, ":{");
    return true;
}

static int entry_read(void *context, const char *section, const char *key, const char *value)
{
    struct reading *reading = context;
    if (reading->error[0] != 0)
        return 0; /* the first trouble is the one to tell */
    char what[CONFIG_ERROR];
    if (entry_take(reading, section, key, value) && section_open(reading, section)) {
        text_json_script(&reading->json, span_from_string(key));
        text_literal(&reading->json, ":");
        text_json_script(&reading->json, span_from_string(value));
        return !reading->json.overflow || wrong(reading, "is too much: 128 KiB are the most");
    }
    snprintf(what, sizeof what, "%.40s.%.40s %.120s", section, key, reading->error);
    memcpy(reading->error, what, sizeof what);
    return 0;
}

/* ---- colours */

static double channel(const char *digits)
{
    char pair[3] = { digits[0], digits[1], 0 };
    unsigned value = 0;
    for (int i = 0; i < 2; i++)
        value = value * 16 + (unsigned)(pair[i] <= '9' ? pair[i] - '0' : (pair[i] | 0x20) - 'a' + 10);
    const double share = value / 255.0;
    return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4);
}

/* Black or white, what can be read better on the colour (WCAG: luminance above 0.179 wants black). */
static const char *ink_on(const char *colour)
{
    const double luminance =
        0.2126 * channel(colour + 1) + 0.7152 * channel(colour + 3) + 0.0722 * channel(colour + 5);
    return luminance > 0.179 ? "#000000" : "#ffffff";
}

static void mode_write(struct text *css, const char (*colours)[8])
{
    text_literal(css, ":root{");
    for (int i = 0; i < COLOURS; i++)
        if (colours[i][0] != 0)
            text_format(css, "--%s:%s;", colour_names[i], colours[i]);
    const char *accent = colours[COLOUR_ACCENT];
    if (accent[0] != 0 && colours[COLOUR_ON_ACCENT][0] == 0)
        text_format(css, "--on-accent:%s;", ink_on(accent));
    if (accent[0] != 0 && colours[COLOUR_ACCENT_DEEP][0] == 0)
        text_format(css, "--accent-deep:%s;", accent);
    if (accent[0] != 0 && colours[COLOUR_ACCENT_WASH][0] == 0)
        text_literal(css, "--accent-wash:color-mix(in srgb,var(--accent) 12%,var(--surface));");
    text_literal(css, "}");
}

static void css_write(struct theme *theme, const struct reading *reading)
{
    struct text css = text_in(theme->css, sizeof theme->css);
    mode_write(&css, reading->colours[0]);
    text_literal(&css, "@media(prefers-color-scheme:dark){");
    mode_write(&css, reading->colours[1]);
    text_literal(&css, "}\n");
    invariant(!css.overflow); /* fourteen short lines for each */
    theme->css_size = css.size;
}

/* ---- files */

static bool logo_read(struct theme *theme, const char *folder, char error[CONFIG_ERROR])
{
    char path[2 * CONFIG_TEXT];
    snprintf(path, sizeof path, "%s/%s", folder, theme->logo);
    FILE *file = fopen(path, "re");
    theme->logo_bytes = malloc(THEME_LOGO_MAX);
    if (file != NULL && theme->logo_bytes != NULL)
        theme->logo_size = fread(theme->logo_bytes, 1, THEME_LOGO_MAX, file);
    const bool good = theme->logo_size > 0 && ferror(file) == 0 && fgetc(file) == EOF;
    if (file != NULL)
        fclose(file);
    if (!good)
        snprintf(error, CONFIG_ERROR, "page.theme: %.180s can't be read, or is larger than 256 KiB", path);
    return good;
}

static bool file_read(struct theme *theme, const char *folder, char error[CONFIG_ERROR])
{
    char path[CONFIG_TEXT + 16], what[CONFIG_ERROR] = "";
    struct reading reading = { .theme = theme, .error = what };
    reading.json = text_in(theme->json, THEME_JSON_MAX - 2);
    text_literal(&reading.json, "{");
    snprintf(path, sizeof path, "%s/theme.ini", folder);
    const int line = ini_parse(path, entry_read, &reading);
    if (line != 0) {
        if (line < 0)
            snprintf(error, CONFIG_ERROR, "page.theme: %.180s can't be read", path);
        else
            snprintf(error, CONFIG_ERROR, "page.theme: theme.ini line %d: %.200s", line,
                what[0] == 0 ? "not a setting" : what);
        return false;
    }
    reading.json.capacity += 2;
    text_string(&reading.json, reading.section_count == 0 ? "}" : "}}");
    theme->json_size = reading.json.size;
    css_write(theme, &reading);
    return true;
}

enum status theme_load(struct theme *theme, const char *folder, char error[CONFIG_ERROR])
{
    *theme = (struct theme){ .json = malloc(THEME_JSON_MAX) };
    invariant(theme->json != NULL);
    if (file_read(theme, folder, error) && (theme->logo[0] == 0 || logo_read(theme, folder, error)))
        return STATUS_OK;
    theme_free(theme);
    return STATUS_BAD_INPUT;
}

void theme_free(struct theme *theme)
{
    free(theme->json);
    free(theme->logo_bytes);
    *theme = (struct theme){ 0 };
}
