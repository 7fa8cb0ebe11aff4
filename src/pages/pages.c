/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/pages.h"

#include "base/hash.h"
#include "base/text.h"
#include "config/test_mode.h"
#include "config/theme.h"
#include "pages/page_edit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_HASH_BYTES = 8, /* of the content, in a file's name */
    PATH_BYTES = 64,
    WORDS_BYTES = 8 * 1024, /* one edit of a theme, but its JSON */
    HTML_BYTES = 64 * 1024 + THEME_JSON_MAX,
    THEMED = 2, /* pages that the theme is put into; the first one tells of the test mode */
};
static const char *const themed[THEMED] = { "/index.html", "/404.html" };

struct page_memory {
    struct theme theme;
    bool has_theme, test_mode;
    char css_path[PATH_BYTES], logo_path[PATH_BYTES];
    char *html[THEMED];
};

/* "/theme-0123456789abcdef.css" */
static void path_make(
    char path[PATH_BYTES], const char *name, const char *ending, const void *bytes, size_t size)
{
    uint8_t digest[HASH_SHA256_BYTES];
    struct text text = text_in(path, PATH_BYTES - 1);
    hash_sha256(bytes, size, digest);
    text_format(&text, "/%s-", name);
    text_hex(&text, span_of(digest, NAME_HASH_BYTES));
    text_string(&text, ending);
    invariant(!text.overflow);
    path[text.size] = 0;
}

static void head_write(const struct page_memory *memory, struct text *out)
{
    text_format(out, "    <link rel=\"stylesheet\" href=\"%s\">\n", memory->css_path);
    text_literal(out, "    <script type=\"application/json\" id=\"theme\">");
    text_add(out, span_of(memory->theme.json, memory->theme.json_size));
    text_literal(out, "</script>\n</head>");
}

static void links_write(const struct theme *theme, struct text *out)
{
    text_literal(out, "    <ul class=\"links\">");
    for (int i = 0; i < THEME_LINKS_MAX; i++) {
        const struct theme_link *link = &theme->links[i];
        if (link->url[0] == 0)
            continue;
        text_format(out, "<li><a href=\"%s\" data-words=\"link.%d\">", link->url, i + 1);
        text_html(out, span_from_string(link->name));
        text_literal(out, "</a></li>");
    }
    text_literal(out, "</ul>\n    </footer>");
}

/* The page's HTML with the theme in it, and with the note of the test mode in sight from the first paint
 * on. NULL: the page is not as it was when this was written. */
static char *html_make(struct page_memory *memory, const struct asset *page, size_t *size, bool is_main)
{
    static char name[WORDS_BYTES], title[WORDS_BYTES], logo[WORDS_BYTES], home[WORDS_BYTES],
        links[WORDS_BYTES], head[HTML_BYTES]; /* the start has one thread */
    const struct theme *theme = &memory->theme;
    const bool plain = !memory->has_theme;
    struct text name_text = text_in(name, sizeof name), title_text = text_in(title, sizeof title),
                logo_text = text_in(logo, sizeof logo), home_text = text_in(home, sizeof home),
                links_text = text_in(links, sizeof links), head_text = text_in(head, sizeof head);
    text_literal(&name_text, "<span data-words=\"shop.name\">");
    text_html(&name_text, span_from_string(theme->name));
    text_literal(&name_text, "</span>");
    text_literal(&title_text, "<title>");
    text_html(&title_text, span_from_string(theme->name));
    text_literal(&title_text, "</title>");
    text_format(&logo_text, "<img src=\"%s\" alt=\"\" height=\"32\">", memory->logo_path);
    text_format(&home_text, "<a class=\"brand\" href=\"%s\">", theme->home_url);
    links_write(theme, &links_text);
    head_write(memory, &head_text);
    struct page_edit edits[] = {
        { SPAN("</head>"), text_span(&head_text), plain },
        { SPAN("</footer>"), text_span(&links_text), plain || !is_main },
        { SPAN("<span data-words=\"shop.name\">Stampede</span>"), text_span(&name_text),
            plain || theme->name[0] == 0 },
        { SPAN("<title>Stampede 限时秒杀</title>"), text_span(&title_text),
            plain || theme->name[0] == 0 || !is_main },
        { SPAN("<img src=\"/favicon.svg\" alt=\"\" width=\"32\" height=\"32\">"),
            text_span(&logo_text), plain || theme->logo[0] == 0 },
        { is_main ? SPAN("<a class=\"brand\" href=\"/\" data-route>")
                  : SPAN("<a class=\"brand\" href=\"/\">"),
            text_span(&home_text), plain || theme->home_url[0] == 0 },
        { SPAN(" data-words=\"page.test\" hidden>"), SPAN(" data-words=\"page.test\">"),
            !memory->test_mode || !is_main },
    };
    const size_t edit_count = sizeof edits / sizeof *edits;
    char *html = malloc(HTML_BYTES);
    invariant(html != NULL);
    struct text out = text_in(html, HTML_BYTES);
    page_edit(span_of(page->data, page->size), edits, edit_count, &out);
    bool good = !out.overflow;
    for (size_t i = 0; i < edit_count; i++)
        good = good && edits[i].done;
    if (!good) {
        free(html);
        return NULL;
    }
    *size = out.size;
    return html;
}

static void file_add(struct pages *pages, const char *path, const void *bytes, size_t size)
{
    pages->assets[pages->count++] = (struct asset){ .path = path, .data = bytes, .size = size };
}

static void theme_files_add(struct pages *pages)
{
    struct page_memory *memory = pages->memory;
    const struct theme *theme = &memory->theme;
    path_make(memory->css_path, "theme", ".css", theme->css, theme->css_size);
    file_add(pages, memory->css_path, theme->css, theme->css_size);
    if (theme->logo[0] == 0)
        return;
    path_make(memory->logo_path, "logo", strrchr(theme->logo, '.'), theme->logo_bytes, theme->logo_size);
    file_add(pages, memory->logo_path, theme->logo_bytes, theme->logo_size);
}

static bool pages_edit(struct pages *pages, char error[CONFIG_ERROR])
{
    if (pages->memory->has_theme)
        theme_files_add(pages);
    for (size_t i = 0; i < pages->count; i++) {
        struct asset *asset = &pages->assets[i];
        for (int page = 0; page < THEMED; page++) {
            size_t size = 0;
            if (strcmp(asset->path, themed[page]) != 0)
                continue;
            pages->memory->html[page] = html_make(pages->memory, asset, &size, page == 0);
            if (pages->memory->html[page] == NULL) {
                snprintf(error, CONFIG_ERROR,
                    "%s has no place for the theme or the note of the test mode", themed[page]);
                return false;
            }
            *asset = (struct asset){
                .path = themed[page], .data = (void *)pages->memory->html[page], .size = size
            };
        }
    }
    return true;
}

static bool shell_take(struct pages *pages, char error[CONFIG_ERROR])
{
    for (size_t i = 0; i < pages->count; i++)
        if (strcmp(pages->assets[i].path, themed[0]) == 0)
            return page_shell_split(span_of(pages->assets[i].data, pages->assets[i].size), &pages->shell);
    snprintf(error, CONFIG_ERROR, "%s has no place for an item", themed[0]);
    return false;
}

enum status pages_open(struct pages *pages, const struct config *config,
    const struct asset *embedded, size_t count, char error[CONFIG_ERROR])
{
    *pages = (struct pages){ .assets = calloc(count + 2, sizeof *embedded),
        .count = count,
        .memory = calloc(1, sizeof *pages->memory) };
    invariant(pages->assets != NULL && pages->memory != NULL);
    memcpy(pages->assets, embedded, count * sizeof *embedded);
    pages->memory->has_theme = config->theme[0] != 0;
    pages->memory->test_mode = test_mode_on(config);
    const bool good = !pages->memory->has_theme
        || theme_load(&pages->memory->theme, config->theme, error) == STATUS_OK;
    const bool edited = pages->memory->has_theme || pages->memory->test_mode;
    if (good && (!edited || pages_edit(pages, error)) && shell_take(pages, error))
        return STATUS_OK;
    pages_close(pages);
    return STATUS_BAD_INPUT;
}

void pages_close(struct pages *pages)
{
    if (pages->memory != NULL) {
        theme_free(&pages->memory->theme);
        for (int i = 0; i < THEMED; i++)
            free(pages->memory->html[i]);
    }
    free(pages->memory);
    free(pages->assets);
    *pages = (struct pages){ 0 };
}
