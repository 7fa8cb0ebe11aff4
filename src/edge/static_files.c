/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/static_files.h"

#include "base/hash.h"
#include "edge/http_reply.h"

#include <stdlib.h>

enum encoding {
    ENCODING_BROTLI,
    ENCODING_GZIP,
    ENCODING_IDENTITY,
    ENCODINGS
}; /* in the order we prefer them */
enum {
    ETAG_HASH_BYTES = 16,
    ETAG_BYTES = 2 * ETAG_HASH_BYTES + 5, /* quotes and "-br" */
    HEADERS_BYTES = 512 + 6 * CSP_WIDGET_MAX + CSP_ORIGINS_MAX,
    QUALITY_ONE = 1000, /* q=1 */
    HASH_CHARS = 8,     /* of a hashed name */
};

static const char *const encoding_name[] = { "br", "gzip", "identity" };
static_assert(sizeof encoding_name / sizeof *encoding_name == ENCODINGS, "a name for each");

struct form {         /* a file in one encoding */
    struct span body; /* data NULL: there is none */
    char etag_text[ETAG_BYTES];
    struct span etag;
    char headers_text[HEADERS_BYTES];
    struct span headers; /* whole lines: ETag, Cache-Control, Vary, Content-Encoding and so on */
};
struct file {
    struct span path;
    struct span type;
    struct form forms[ENCODINGS];
};
struct static_files {
    size_t count;
    struct file files[]; /* sorted by path */
};

/* ---- at start ---- */

static struct span type_of(struct span path)
{
    static const struct {
        struct span ending, type;
    } types[] = {
        { { ".html", 5 }, { "text/html; charset=utf-8", 24 } },
        { { ".js", 3 }, { "text/javascript; charset=utf-8", 30 } },
        { { ".mjs", 4 }, { "text/javascript; charset=utf-8", 30 } },
        { { ".css", 4 }, { "text/css; charset=utf-8", 23 } },
        { { ".json", 5 }, { "application/json", 16 } },
        { { ".map", 4 }, { "application/json", 16 } },
        { { ".webmanifest", 12 }, { "application/manifest+json", 25 } },
        { { ".svg", 4 }, { "image/svg+xml", 13 } },
        { { ".png", 4 }, { "image/png", 9 } },
        { { ".jpg", 4 }, { "image/jpeg", 10 } },
        { { ".jpeg", 5 }, { "image/jpeg", 10 } },
        { { ".webp", 5 }, { "image/webp", 10 } },
        { { ".avif", 5 }, { "image/avif", 10 } },
        { { ".ico", 4 }, { "image/x-icon", 12 } },
        { { ".woff2", 6 }, { "font/woff2", 10 } },
        { { ".txt", 4 }, { "text/plain; charset=utf-8", 25 } },
        { { ".wasm", 5 }, { "application/wasm", 16 } },
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (span_ends_with(path, types[i].ending))
            return types[i].type;
    }
    return SPAN("application/octet-stream");
}

/* name-HASH.js or name.hash.js, the hash being eight or more hexadecimal digits, or eight of
 * esbuild's [A-Z2-7]. */
static bool name_has_hash(struct span path)
{
    size_t dot = path.size;
    while (dot > 0 && path.data[dot - 1] != '.' && path.data[dot - 1] != '/')
        dot--;
    if (dot == 0 || path.data[dot - 1] != '.')
        return false;
    size_t end = dot - 1, at = end;
    bool hexadecimal = true, base32 = true, digit_seen = false;
    for (; at > 0 && path.data[at - 1] != '-' && path.data[at - 1] != '.' && path.data[at - 1] != '/';
         at--) {
        char c = path.data[at - 1];
        bool digit = c >= '0' && c <= '9';
        digit_seen = digit_seen || digit;
        hexadecimal = hexadecimal && (digit || (c >= 'a' && c <= 'f'));
        base32 = base32 && ((c >= 'A' && c <= 'Z') || (c >= '2' && c <= '7'));
    }
    bool apart = at > 0 && path.data[at - 1] != '/';
    return apart
        && ((hexadecimal && digit_seen && end - at >= HASH_CHARS) || (base32 && end - at == HASH_CHARS));
}

/* What is the same for all forms of a file. */
struct label {
    bool immutable, varies;
    const char *image_origins, *widget_origins;
};

static void origins_add(struct text *out, const char *list)
{
    for (size_t size; list += strspn(list, ", "), (size = strcspn(list, ", ")) > 0; list += size) {
        text_literal(out, " ");
        text_add(out, span_of(list, size));
    }
}

/* A widget of somebody else (the human check's) brings a script, frames, styles and calls. */
static void widget_add(struct text *out, const char *origins)
{
    static const char *const kinds[] = { "script-src 'self'", "frame-src", "connect-src 'self'",
        "style-src 'self' 'unsafe-inline'" };
    for (size_t i = 0; origins[0] != 0 && i < sizeof kinds / sizeof *kinds; i++) {
        text_format(out, "; %s", kinds[i]);
        origins_add(out, origins);
    }
}

static void form_label(
    struct form *form, struct span content, enum encoding encoding, const struct label *label)
{
    uint8_t digest[HASH_SHA256_BYTES];
    struct text etag = text_in(form->etag_text, sizeof(form->etag_text));
    hash_sha256(content.data, content.size, digest);
    text_literal(&etag, "\"");
    text_hex(&etag, span_of(digest, ETAG_HASH_BYTES));
    if (encoding != ENCODING_IDENTITY)
        text_string(&etag, encoding == ENCODING_BROTLI ? "-br" : "-gz");
    text_literal(&etag, "\"");
    form->etag = text_span(&etag);

    struct text headers = text_in(form->headers_text, sizeof(form->headers_text));
    text_literal(&headers, "ETag: ");
    text_add(&headers, form->etag);
    if (label->immutable)
        text_literal(&headers, "\r\nCache-Control: public, max-age=31536000, immutable\r\n");
    else
        text_literal(&headers, "\r\nCache-Control: no-cache\r\n");
    if (label->varies)
        text_literal(&headers, "Vary: Accept-Encoding\r\n");
    if (encoding != ENCODING_IDENTITY)
        text_format(&headers, "Content-Encoding: %s\r\n", encoding_name[encoding]);
    /* img-src data: pictures of the human check come within its JSON. frame-ancestors: pages with
     * buttons that pay and give back are in nobody's frame. */
    text_literal(&headers, "Content-Security-Policy: default-src 'self'; img-src 'self' data:");
    origins_add(&headers, label->image_origins);
    origins_add(&headers, label->widget_origins);
    widget_add(&headers, label->widget_origins);
    text_literal(&headers, "; base-uri 'none'; form-action 'self'; frame-ancestors 'none'\r\n");
    invariant(!etag.overflow && !headers.overflow);
    form->headers = text_span(&headers);
}

/* Pages of operators: nobody else's scripts run there. */
static bool is_console(struct span path)
{
    return span_starts_with(path, SPAN("/console/"));
}

static void file_make(struct file *file, const struct asset *asset, const char *image_origins,
    const char *widget_origins)
{
    const struct span content = span_of(asset->data, asset->size);
    file->path = span_from_string(asset->path);
    file->type = type_of(file->path);
    file->forms[ENCODING_IDENTITY].body = content;
    file->forms[ENCODING_BROTLI].body = span_of(asset->brotli, asset->brotli_size);
    file->forms[ENCODING_GZIP].body = span_of(asset->gzip, asset->gzip_size);
    const struct label label = { .immutable = name_has_hash(file->path),
        .varies = asset->brotli != NULL || asset->gzip != NULL,
        .image_origins = image_origins,
        .widget_origins = is_console(file->path) ? "" : widget_origins };
    for (int i = 0; i < ENCODINGS; i++)
        form_label(&file->forms[i], content, (enum encoding)i, &label);
}

static int path_compare(struct span a, struct span b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = memcmp(a.data, b.data, common);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static int asset_compare(const void *a, const void *b)
{
    const struct asset *const *left = a, *const *right = b;
    return strcmp((*left)->path, (*right)->path);
}

enum status static_files_open(struct static_files **opened, const struct asset *assets,
    size_t count, const char *image_origins, const char *widget_origins)
{
    *opened = NULL;
    struct static_files *files = calloc(1, sizeof(*files) + count * sizeof(struct file));
    const struct asset **sorted = calloc(count + 1, sizeof(const struct asset *));
    if (files == NULL || sorted == NULL) {
        free(sorted);
        free(files);
        return STATUS_FULL;
    }
    for (size_t i = 0; i < count; i++)
        sorted[i] = &assets[i];
    qsort(sorted, count, sizeof(sorted[0]), asset_compare);
    for (; files->count < count; files->count++)
        file_make(&files->files[files->count], sorted[files->count], image_origins, widget_origins);
    free(sorted);
    *opened = files;
    return STATUS_OK;
}

void static_files_close(struct static_files *files)
{
    free(files);
}

/* ---- for each request ---- */

static const struct file *file_find(const struct static_files *files, struct span path)
{
    size_t low = 0, high = files->count;
    if (span_equal(path, SPAN("/")))
        path = SPAN("/index.html");
    if (span_equal(path, SPAN("/console/")) || span_equal(path, SPAN("/console")))
        path = SPAN("/console/index.html");
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = path_compare(files->files[middle].path, path);
        if (order == 0)
            return &files->files[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

struct span static_files_policy(const struct static_files *files)
{
    const struct file *index = file_find(files, SPAN("/index.html"));
    struct span lines = index == NULL ? SPAN_NONE : index->forms[ENCODING_IDENTITY].headers, line;
    while (span_starts_with(lines, SPAN("Content-Security-Policy")) == false)
        if (!span_take_until(&lines, '\n', &line))
            return SPAN_NONE;
    return lines; /* it is the last one */
}

/* "0", "0.5", "1.000" as thousandths; what is no qvalue counts as 0: not wanted rather than
 * wrongly sent. */
static int quality_parse(struct span text)
{
    if (text.size == 0 || text.size > 5 || (text.data[0] != '0' && text.data[0] != '1')
        || (text.size > 1 && text.data[1] != '.'))
        return 0;
    int quality = text.data[0] == '1' ? QUALITY_ONE : 0, weight = QUALITY_ONE / 10;
    for (size_t i = 2; i < text.size; i++, weight /= 10) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return 0;
        quality += (text.data[i] - '0') * weight;
    }
    return quality > QUALITY_ONE ? 0 : quality;
}

/* What the client wants of each encoding, in thousandths; 0 means never. */
static void qualities_parse(struct span accept, int quality[ENCODINGS])
{
    int others = -1; /* "*" */
    struct span element, coding, parameter;
    bool named[ENCODINGS] = { false };
    quality[ENCODING_BROTLI] = quality[ENCODING_GZIP] = 0;
    quality[ENCODING_IDENTITY] = 1; /* acceptable unless refused, but the last choice */
    while (span_take_until(&accept, ',', &element)) {
        int value = QUALITY_ONE;
        if (!span_take_until(&element, ';', &coding))
            continue;
        while (span_take_until(&element, ';', &parameter)) {
            parameter = span_trim(parameter, SPAN(" \t"));
            if (parameter.size >= 2 && (parameter.data[0] | 0x20) == 'q' && parameter.data[1] == '=')
                value = quality_parse(span_of(parameter.data + 2, parameter.size - 2));
        }
        coding = span_trim(coding, SPAN(" \t"));
        if (span_equal(coding, SPAN("*")))
            others = value;
        for (int i = 0; i < ENCODINGS; i++) {
            if (span_equal_ignoring_case(coding, span_from_string(encoding_name[i]))) {
                quality[i] = value;
                named[i] = true;
            }
        }
    }
    for (int i = 0; others >= 0 && i < ENCODINGS; i++) {
        if (!named[i])
            quality[i] = others;
    }
}

static bool is_page(const struct file *file)
{
    return span_starts_with(file->type, SPAN("text/html"));
}

/* The form the client likes best, ours in case of a tie; NULL if it takes none. */
static const struct form *form_choose(const struct file *file, struct span accept, bool secure)
{
    int quality[ENCODINGS];
    const struct form *best = NULL;
    int best_quality = 0;
    qualities_parse(accept, quality);
    for (int i = secure && is_page(file) ? ENCODING_IDENTITY : 0; i < ENCODINGS; i++) {
        if (file->forms[i].body.data != NULL && quality[i] > best_quality) {
            best = &file->forms[i];
            best_quality = quality[i];
        }
    }
    return best;
}

/* Weak comparison, as RFC 9110 §13.1.2 wants it for If-None-Match. */
static bool etag_matches(struct span list, struct span etag)
{
    struct span element;
    if (span_equal(span_trim(list, SPAN(" \t")), SPAN("*")))
        return true;
    while (span_take_until(&list, ',', &element)) {
        element = span_trim(element, SPAN(" \t"));
        if (span_starts_with(element, SPAN("W/")))
            element = span_of(element.data + 2, element.size - 2);
        if (span_equal(element, etag))
            return true;
    }
    return false;
}

/* A browser that was sent to an address, in contrast to a program: it asks for a page. */
static bool page_is_wanted(const struct http_request *request)
{
    struct span lines = http_header_lines(request), line, name, kind;
    if (request->method != HTTP_GET && request->method != HTTP_HEAD)
        return false;
    while (span_take_until(&lines, '\n', &line)) {
        line.size -= line.size > 0; /* the CR */
        if (!span_take_until(&line, ':', &name) || !span_equal_ignoring_case(name, SPAN("accept")))
            continue;
        while (span_take_until(&line, ',', &kind))
            if (span_equal(span_trim(kind, SPAN(" \t")), SPAN("text/html")))
                return true;
    }
    return false;
}

/* No such path: a page says so, where there is one for it. */
static enum static_answer missing_reply(const struct static_files *files,
    const struct http_request *request, bool secure, bool closing, struct text *out,
    struct edge_reply *reply)
{
    const struct file *page = page_is_wanted(request) ? file_find(files, SPAN("/404.html")) : NULL;
    const struct form *form = page == NULL ? NULL : form_choose(page, request->accept_encoding, secure);
    if (form == NULL)
        return STATIC_NOT_FOUND;
    http_reply_head(out, 404, page->type, form->headers, form->body.size, closing);
    reply->body = form->body;
    return STATIC_REPLIED;
}

enum static_answer static_files_find(const struct static_files *files, const struct http_request *request,
    bool secure, bool closing, struct text *out, struct edge_reply *reply)
{
    const struct file *file = file_find(files, request->path);
    reply->body = SPAN_NONE;
    if (file == NULL)
        return missing_reply(files, request, secure, closing, out, reply);
    if (request->method != HTTP_GET && request->method != HTTP_HEAD)
        return STATIC_WRONG_METHOD;
    const struct form *form = form_choose(file, request->accept_encoding, secure);
    if (form == NULL) {
        http_reply(out, 406, SPAN("text/plain"), SPAN("Vary: Accept-Encoding\r\n"),
            SPAN("no encoding is left\n"), closing);
    } else if (etag_matches(request->if_none_match, form->etag)) {
        http_reply(out, 304, SPAN_NONE, form->headers, SPAN_NONE, closing);
    } else {
        http_reply_head(out, 200, file->type, form->headers, form->body.size, closing);
        reply->body = form->body;
    }
    return STATIC_REPLIED;
}
