/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/export_command.h"

#include "base/text.h"
#include "cli/received.h"
#include "contract/limits.h"
#include "pages/page_edit.h"

#include <curl/curl.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    URL_BYTES = 512,
    PATH_BYTES = 1024,
    POLICY_BYTES = 4096,
    TIMEOUT_S = 30,
    TRIES_MAX = 60, /* of a server that is busy, a second apart */
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
};

struct body {
    struct received in;
    char policy[POLICY_BYTES];
};

struct export
{
    char *folder, *api, *from, *then;
    CURL *curl;
    uint32_t files, written;
    bool items[ITEMS_LIMIT]; /* that have a page */
};

static bool failed(const char *what, const char *about)
{
    fprintf(stderr, "stampede export: %s: %s\n", about, what);
    return false;
}

/* ---- from the server */

static size_t header_take(char *data, size_t one, size_t bytes, void *context)
{
    struct body *body = context;
    struct span line = span_trim(span_of(data, one * bytes), SPAN("\r\n")), name;
    if (span_take_until(&line, ':', &name)
        && span_equal_ignoring_case(name, SPAN("content-security-policy"))) {
        line = span_trim(line, SPAN(" "));
        snprintf(body->policy, sizeof body->policy, "%.*s", (int)line.size, line.data);
    }
    return bytes;
}

/* The caller frees body->in.bytes. */
static bool fetch(struct export *export, const char *path, struct body *body)
{
    char url[URL_BYTES + PATH_BYTES];
    long status = 0;
    CURLcode code = CURLE_OK;
    snprintf(url, sizeof url, "%s%s", export->from, path);
    for (int tries = 0; tries < TRIES_MAX; tries++) {
        free(body->in.bytes);
        *body = (struct body){ 0 };
        curl_easy_reset(export->curl);
        curl_easy_setopt(export->curl, CURLOPT_URL, url);
        curl_easy_setopt(export->curl, CURLOPT_PROTOCOLS_STR, "http,https");
        curl_easy_setopt(export->curl, CURLOPT_TIMEOUT, (long)TIMEOUT_S);
        curl_easy_setopt(export->curl, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(export->curl, CURLOPT_WRITEFUNCTION, received_take);
        curl_easy_setopt(export->curl, CURLOPT_WRITEDATA, &body->in);
        curl_easy_setopt(export->curl, CURLOPT_HEADERFUNCTION, header_take);
        curl_easy_setopt(export->curl, CURLOPT_HEADERDATA, body);
        code = curl_easy_perform(export->curl);
        curl_easy_getinfo(export->curl, CURLINFO_RESPONSE_CODE, &status);
        if (code != CURLE_OK || (status != 429 && status != 503))
            break;
        sleep(1);
    }
    if (code == CURLE_OK && status == 200 && body->in.bytes != NULL)
        return true;
    char what[64];
    snprintf(what, sizeof what, "answered with %ld", status);
    return failed(code == CURLE_OK ? what : curl_easy_strerror(code), url);
}

/* ---- into the folder */

static bool folders_make(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        const bool made = mkdir(path, 0755) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return failed("the folder can't be made", path);
    }
    return true;
}

static bool is_there(const char *path, struct span content)
{
    struct stat stat;
    char *bytes = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool same = fd >= 0 && fstat(fd, &stat) == 0 && (size_t)stat.st_size == content.size
        && (bytes = malloc(content.size + 1)) != NULL
        && read(fd, bytes, content.size) == (ssize_t)content.size
        && memcmp(bytes, content.data, content.size) == 0;
    free(bytes);
    if (fd >= 0)
        close(fd);
    return same;
}

/* Whole or not at all: whoever copies the folder never finds half a file. */
static bool file_write(struct export *export, const char *name, struct span content)
{
    char path[2 * PATH_BYTES], fresh[2 * PATH_BYTES + 8];
    snprintf(path, sizeof path, "%s%s", export->folder, name);
    export->files++;
    if (is_there(path, content))
        return true;
    snprintf(fresh, sizeof fresh, "%s.new", path);
    FILE *file = folders_make(path) ? fopen(fresh, "we") : NULL;
    bool good = file != NULL && fwrite(content.data, 1, content.size, file) == content.size;
    if (file != NULL)
        good = fclose(file) == 0 && good;
    if (!good || rename(fresh, path) != 0)
        return failed("can't be written", path);
    export->written++;
    return true;
}

/* ---- a page */

static void policy_write(const struct export *export, const char *policy, struct text *out)
{
    const bool secure = strncmp(export->api, "https:", 6) == 0;
    char asks[2 * URL_BYTES + 32];
    snprintf(asks, sizeof asks, "connect-src 'self' %s %s%s", export->api, secure ? "wss" : "ws",
        export->api + (secure ? 5 : 4));
    struct page_edit edits[] = {
        { SPAN("connect-src 'self'"), span_from_string(asks), false },
        { SPAN("; frame-ancestors 'none'"), SPAN_NONE, false }, /* a page can't say this of itself */
    };
    char value[POLICY_BYTES + sizeof asks];
    struct text edited = text_in(value, sizeof value);
    page_edit(span_from_string(policy), edits, 2, &edited);
    if (!edits[0].done)
        text_format(&edited, "; %s", asks);
    text_html(out, text_span(&edited));
    out->overflow = out->overflow || edited.overflow;
}

/* The page, told where the server is. */
static bool page_write(struct export *export, const char *name, const struct body *body)
{
    static char head[4 * POLICY_BYTES];
    struct text told = text_in(head, sizeof head);
    text_literal(&told,
        "<meta charset=\"utf-8\">\n    <meta http-equiv=\"Content-Security-Policy\" content=\"");
    policy_write(export, body->policy, &told);
    text_literal(&told, "\">\n    <meta name=\"api\" content=\"");
    text_html(&told, span_from_string(export->api));
    text_literal(&told, "\">");
    struct page_edit edit = { SPAN("<meta charset=\"utf-8\">"), text_span(&told), false };
    const size_t room = body->in.size + sizeof head;
    char *page = malloc(room);
    struct text out = text_in(page, page == NULL ? 0 : room);
    page_edit(span_of(body->in.bytes, body->in.size), &edit, 1, &out);
    bool good = !told.overflow && !out.overflow && edit.done && body->policy[0] != 0;
    good = good ? file_write(export, name, text_span(&out))
                : failed("is not a page of the storefront", name);
    free(page);
    return good;
}

/* Pictures that were uploaded: their names change with their content. */
static bool pictures_write(struct export *export, const struct body *page)
{
    static const char mark[] = "\"/media/";
    for (const char *at = page->in.bytes; (at = strstr(at, mark)) != NULL; at++) {
        char path[PATH_BYTES], file[2 * PATH_BYTES];
        const size_t size = strcspn(at + 1, "\"");
        if (size >= sizeof path)
            continue;
        memcpy(path, at + 1, size);
        path[size] = 0;
        snprintf(file, sizeof file, "%s%s", export->folder, path);
        if (strstr(path, "..") != NULL || access(file, F_OK) == 0)
            continue;
        struct body picture = { 0 };
        const bool good = fetch(export, path, &picture)
            && file_write(export, path, span_of(picture.in.bytes, picture.in.size));
        free(picture.in.bytes);
        if (!good)
            return false;
    }
    return true;
}

static bool is_page(const char *path)
{
    const size_t size = strlen(path);
    return path[size - 1] == '/' || (size > 5 && strcmp(path + size - 5, ".html") == 0);
}

static bool is_plain(const char *path)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./";
    return path[0] == '/' && path[strspn(path, allowed)] == 0 && strstr(path, "..") == NULL
        && strlen(path) < PATH_BYTES - 16;
}

static bool path_export(struct export *export, const char *path)
{
    struct body body = { 0 };
    char name[PATH_BYTES + sizeof "index.html"];
    uint32_t item;
    if (!is_plain(path))
        return failed("is not a name that is exported", path);
    const size_t size = strlen(path);
    if (strncmp(path, "/items/", 7) == 0 && path[size - 1] == '/'
        && span_to_u32(span_of(path + 7, size - 8), &item) == STATUS_OK && item < ITEMS_LIMIT)
        export->items[item] = true;
    const int bytes =
        snprintf(name, sizeof name, "%s%s", path, path[size - 1] == '/' ? "index.html" : "");
    if (bytes < 0 || (size_t)bytes >= sizeof name)
        return failed("is too long a name", path);
    bool good = fetch(export, path, &body);
    if (good && is_page(path))
        good = pictures_write(export, &body) && page_write(export, name, &body);
    else if (good)
        good = file_write(export, name, span_of(body.in.bytes, body.in.size));
    free(body.in.bytes);
    return good;
}

static void page_remove(const char *folder)
{
    char path[3 * PATH_BYTES];
    snprintf(path, sizeof path, "%s/index.html", folder);
    (void)unlink(path);
    (void)rmdir(folder);
}

/* Pages of an item in languages that it has no texts in any more. */
static void languages_remove(const struct export *export, const struct body *list, uint32_t item)
{
    char path[2 * PATH_BYTES], line[PATH_BYTES];
    snprintf(path, sizeof path, "%s/items/%u", export->folder, item);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        const int bytes = snprintf(line, sizeof line, "\n/items/%u/%.40s/\n", item, entry->d_name);
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "index.html") == 0
            || memmem(list->in.bytes, list->in.size, line, (size_t)bytes) != NULL)
            continue;
        snprintf(path, sizeof path, "%s/items/%u/%.40s", export->folder, item, entry->d_name);
        page_remove(path);
    }
    if (folder != NULL)
        closedir(folder);
}

/* Pages of items that are not public any more. */
static void gone_remove(const struct export *export, const struct body *list)
{
    char path[2 * PATH_BYTES];
    snprintf(path, sizeof path, "%s/items", export->folder);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        uint32_t item;
        if (span_to_u32(span_from_string(entry->d_name), &item) != STATUS_OK || item >= ITEMS_LIMIT)
            continue;
        languages_remove(export, list, item);
        if (export->items[item])
            continue;
        snprintf(path, sizeof path, "%s/items/%u", export->folder, item);
        page_remove(path);
    }
    if (folder != NULL)
        closedir(folder);
}

static bool list_export(struct export *export, const struct body *list)
{
    for (int pages = 0; pages < 2; pages++) {
        struct span rest = span_of(list->in.bytes, list->in.size), line;
        while (span_take_until(&rest, '\n', &line)) {
            char path[PATH_BYTES];
            if (line.size == 0 || line.size >= sizeof path)
                continue;
            memcpy(path, line.data, line.size);
            path[line.size] = 0;
            if (is_page(path) == (pages == 1) && !path_export(export, path))
                return false;
        }
    }
    gone_remove(export, list);
    return true;
}

static int export_run(struct export *export)
{
    struct body list = { 0 };
    if (mkdir(export->folder, 0755) != 0 && errno != EEXIST)
        return failed("the folder can't be made", export->folder), EXIT_FAILED;
    const int lock = open(export->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0 || flock(lock, LOCK_EX) != 0) /* one at a time */
        return failed("the folder can't be used", export->folder), EXIT_FAILED;
    const bool good = fetch(export, "/pages.txt", &list) && list_export(export, &list);
    free(list.in.bytes);
    close(lock);
    if (!good)
        return EXIT_FAILED;
    printf("%u files in %s, %u of them new\n", export->files, export->folder, export->written);
    fflush(stdout);
    if (export->then == NULL)
        return 0;
    execv(export->then, (char *const[]){ export->then, export->folder, NULL });
    return failed("can't be run", export->then), EXIT_FAILED;
}

/* Without a slash at the end, and with nothing that HTML or a policy would read otherwise. */
static bool is_base(const char *url)
{
    const size_t size = strlen(url);
    return (strncmp(url, "https://", 8) == 0 || strncmp(url, "http://", 7) == 0) && size < URL_BYTES
        && url[size - 1] != '/' && url[strcspn(url, "?#\"'<>;, \\")] == 0;
}

static const char usage[] =
    "usage: stampede export DIR --api URL [--from URL] [--then PROGRAM]\n"
    "  Writes the pages of a running server into the folder DIR, for a CDN to carry "
    "(docs/export.md).\n"
    "  --api   where exported pages ask for sessions, passes and orders\n"
    "  --from  where the pages are read; default: the address of --api\n"
    "  --then  a program to run afterwards, with DIR as its argument, like an upload\n";

int export_main(int argc, char **argv)
{
    const bool help = argc > 1 && strcmp(argv[argc - 1], "--help") == 0;
    static struct export export;
    bool good = argc >= 2 && argc % 2 == 0 && argv[1][0] != '-' && strlen(argv[1]) < PATH_BYTES;
    for (int i = 2; good && i + 1 < argc; i += 2) {
        char **value = strcmp(argv[i], "--api") == 0 ? &export.api
            : strcmp(argv[i], "--from") == 0         ? &export.from
            : strcmp(argv[i], "--then") == 0         ? &export.then
                                                     : NULL;
        good = value != NULL;
        if (good)
            *value = argv[i + 1];
    }
    if (help || !good || export.api == NULL) {
        fputs(usage, help ? stdout : stderr);
        return help ? 0 : EXIT_USAGE;
    }
    export.from = export.from == NULL ? export.api : export.from;
    if (!is_base(export.api) || !is_base(export.from)) {
        fprintf(stderr,
            "stampede export: an address is like https://api.sale.example, without a slash "
            "at the end\n");
        return EXIT_USAGE;
    }
    export.folder = argv[1];
    umask(022); /* pages are for everybody, whatever the server keeps for itself */
    curl_global_init(CURL_GLOBAL_DEFAULT);
    export.curl = curl_easy_init();
    const int result = export.curl == NULL ? EXIT_FAILED : export_run(&export);
    curl_easy_cleanup(export.curl);
    curl_global_cleanup();
    return result;
}
