/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/item_page.h"

#include "base/time_text.h"
#include "pages/page_edit.h"

/* Takes what stands before `mark` from the rest, and the mark itself. */
static bool part_take(struct span *rest, struct span mark, struct span *part)
{
    for (size_t at = 0; at + mark.size <= rest->size; at++) {
        if (memcmp(rest->data + at, mark.data, mark.size) != 0)
            continue;
        *part = span_of(rest->data, at);
        *rest = span_of(rest->data + at + mark.size, rest->size - at - mark.size);
        return true;
    }
    return false;
}

bool page_shell_split(struct span page, struct page_shell *shell)
{
    struct span skipped;
    if (!part_take(&page, SPAN("<title>"), &shell->before_title)
        || !part_take(&page, SPAN("</title>"), &shell->shop)
        || !part_take(&page, SPAN("</head>"), &shell->before_head_end)
        || !part_take(&page, SPAN("<noscript>"), &shell->before_main)
        || !part_take(&page, SPAN("</noscript>"), &skipped))
        return false;
    shell->after_main = page;
    return true;
}

/* An address of this shop is made absolute; one of another host is. */
static void address_write(const struct page_item *item, struct span address, struct text *out)
{
    if (span_starts_with(address, SPAN("/")))
        text_html(out, item->base);
    text_html(out, address);
}

static void meta_write(struct text *out, const char *kind, const char *name, struct span value)
{
    text_format(out, "    <meta %s=\"%s\" content=\"", kind, name);
    text_html(out, value);
    text_literal(out, "\">\n");
}

static void path_write(const struct page_item *item, struct span language, struct text *out)
{
    text_format(out, "/items/%u/", item->id);
    text_html(out, language);
    text_string(out, language.size > 0 ? "/" : "");
}

static void own_address_write(const struct page_item *item, struct span language, struct text *out)
{
    text_html(out, item->base);
    path_write(item, language, out);
}

static void alternate_write(const struct page_item *item, struct span language, struct text *out)
{
    text_literal(out, "    <link rel=\"alternate\" hreflang=\"");
    text_html(out, language.size > 0 ? language : SPAN("x-default"));
    text_literal(out, "\" href=\"");
    own_address_write(item, language, out);
    text_literal(out, "\">\n");
}

static void previews_write(const struct page_item *item, struct text *out)
{
    meta_write(out, "name", "description", item->about);
    meta_write(out, "property", "og:type", SPAN("product"));
    meta_write(out, "property", "og:title", item->name);
    meta_write(out, "property", "og:description", item->about);
    meta_write(out, "property", "product:price:amount", span_from_string(item->price));
    meta_write(out, "property", "product:price:currency", item->currency);
    if (item->image.size > 0) {
        text_literal(out, "    <meta property=\"og:image\" content=\"");
        address_write(item, item->image, out);
        text_literal(out, "\">\n");
    }
    if (item->base.size == 0)
        return;
    text_literal(out, "    <link rel=\"canonical\" href=\"");
    own_address_write(item, item->language, out);
    text_literal(out, "\">\n    <meta property=\"og:url\" content=\"");
    own_address_write(item, item->language, out);
    text_literal(out, "\">\n");
    if (item->other_count > 0)
        alternate_write(item, item->language, out);
    for (size_t i = 0; i < item->other_count; i++)
        alternate_write(item, item->others[i].tag, out);
}

static void product_write(const struct page_item *item, struct text *out)
{
    char from[TIME_TEXT_BYTES], until[TIME_TEXT_BYTES];
    time_text_format(item->start_ms, from);
    time_text_format(item->end_ms, until);
    text_literal(out, "    <script type=\"application/ld+json\">{\"@context\":\"https://schema.org\",");
    text_literal(out, "\"@type\":\"Product\",\"name\":");
    text_json_script(out, item->name);
    text_literal(out, ",\"description\":");
    text_json_script(out, item->about);
    if (item->image.size > 0) {
        char address[512];
        struct text image = text_in(address, sizeof address);
        if (span_starts_with(item->image, SPAN("/")))
            text_add(&image, item->base);
        text_add(&image, item->image);
        text_literal(out, ",\"image\":");
        text_json_script(out, image.overflow ? item->image : text_span(&image));
    }
    text_literal(out, ",\"offers\":{\"@type\":\"Offer\",\"price\":");
    text_json_script(out, span_from_string(item->price));
    text_literal(out, ",\"priceCurrency\":");
    text_json_script(out, item->currency);
    text_format(out,
        ",\"availability\":\"https://schema.org/LimitedAvailability\",\"validFrom\":\"%s\","
        "\"priceValidUntil\":\"%s\"}}</script>\n",
        from, until);
}

/* 2026-11-11T12:00:00.000Z is read as 2026-11-11 12:00. */
static void moment_write(struct text *out, const char *chinese, const char *english, uint64_t ms)
{
    char text[TIME_TEXT_BYTES];
    time_text_format(ms, text);
    text_format(out, "%s · <span lang=\"en\">%s</span> ", chinese, english);
    text_format(out, "<time datetime=\"%s\">%.10s %.5s UTC</time>", text, text, text + 11);
}

static void lang_write(struct span language, struct text *out)
{
    if (language.size == 0)
        return;
    text_literal(out, " lang=\"");
    text_html(out, language);
    text_literal(out, "\"");
}

static void others_write(const struct page_item *item, struct text *out)
{
    for (size_t i = 0; i < item->other_count; i++) {
        const struct page_language *other = &item->others[i];
        text_literal(out, "<p><a href=\"");
        path_write(item, other->tag, out);
        text_literal(out, "\"");
        lang_write(other->tag, out);
        text_literal(out, ">");
        text_html(out, other->name);
        text_literal(out, "</a></p>");
    }
}

static void picture_write(const struct page_item *item, struct text *out)
{
    text_literal(out, "<div class=\"gallery\"><img src=\"");
    text_html(out, item->image.size > 0 ? item->image : SPAN("/favicon.svg"));
    text_literal(out, "\" alt=\"");
    text_html(out, item->name);
    text_literal(out, "\" width=\"480\" height=\"480\"></div>");
}

/* Prices, the place of the quantity, and the place of the button with the words that belong to it. */
static void buying_write(const struct page_item *item, struct text *out)
{
    text_format(out, "</h1><div class=\"buying\"><p class=\"prices\"><strong class=\"price-flash\">%s ",
        item->price);
    text_html(out, item->currency);
    text_literal(out, "</strong>");
    if (item->list_price != NULL)
        text_format(out, " <s class=\"price-list\">%s</s>", item->list_price);
    text_literal(out, "</p>");
    if (item->limit != 1)
        text_literal(out, "<p class=\"quantity\"></p>");
    text_literal(out,
        "<div class=\"dock\"><div class=\"dock-lines\" role=\"status\"><noscript>购买需要启用 "
        "JavaScript。 "
        "<span lang=\"en\">Please switch on JavaScript to buy.</span></noscript></div>"
        "<div class=\"buy buy-place\"></div></div></div>");
}

/* What is read where no script runs. The script puts the same, and more, in its place: down to the
 * button each part stands where web/item_layout.js has it, so that nothing moves. What follows depends
 * on how the sale stands, which this page does not know: `inside-more`, which web/style.css shows where
 * no script will come. */
static void article_write(const struct page_item *item, struct text *out)
{
    text_format(out, "<div class=\"item-page\" data-inside=\"%u\"", item->id);
    lang_write(item->language, out); /* web/i18n.js reads it */
    text_literal(out,
        "><a class=\"back\" href=\"/\">全部活动 · <span lang=\"en\">All sales</span></a>"
        "<article class=\"item\">");
    picture_write(item, out);
    text_literal(out, "<div class=\"details\"><p class=\"eyebrow\"><span class=\"when\">");
    moment_write(out, "开始", "Starts", item->start_ms);
    text_literal(out, "</span></p><h1>");
    text_html(out, item->name);
    buying_write(item, out);
    text_literal(out, "<div class=\"buying inside-more\"><p class=\"when\">");
    moment_write(out, "结束", "Ends", item->end_ms);
    text_literal(out, "</p><p class=\"description\">");
    text_html(out, item->about);
    text_literal(out, "</p>");
    others_write(item, out);
    text_literal(out, "</div></div></article></div>");
}

/* The page names its language as item->language does. */
static void start_write(const struct page_shell *shell, struct span language, struct text *out)
{
    char tag[64];
    struct text named = text_in(tag, sizeof tag);
    text_literal(&named, "<html");
    lang_write(language, &named);
    text_literal(&named, ">");
    struct page_edit edit = { SPAN("<html lang=\"zh-CN\">"), text_span(&named), false };
    page_edit(shell->before_title, &edit, language.size > 0 && !named.overflow ? 1 : 0, out);
}

void item_page_write(const struct page_shell *shell, const struct page_item *item, struct text *out)
{
    start_write(shell, item->language, out);
    text_literal(out, "<title>");
    text_html(out, item->name);
    text_literal(out, " · ");
    text_add(out, shell->shop);
    text_literal(out, "</title>");
    text_add(out, shell->before_head_end);
    previews_write(item, out);
    product_write(item, out);
    text_literal(out, "</head>");
    text_add(out, shell->before_main);
    article_write(item, out);
    text_add(out, shell->after_main);
}
