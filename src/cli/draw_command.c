/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/draw_command.h"

#include "cli/received.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    MARK_DIGITS = 16,
    URL_BYTES = 512,
    PAGES_MAX = 1000000,
    TIMEOUT_S = 30,
};

/* ---- checking ---- */

struct claim {
    sale_id sale;
    uint32_t count;
    uint8_t secret[ROOM_SECRET_BYTES], commitment[HASH_SHA256_BYTES], hash[HASH_SHA256_BYTES];
    struct span beacon;                     /* as it went into the key; empty: none */
    const char *beacon_name, *beacon_value; /* NULL: none was announced, none was used */
    bool has_key;                           /* draws of the first servers were published without */
    uint8_t key[ROOM_KEY_BYTES];
    const char *marks;
};

static bool hex_read(const json_t *object, const char *name, uint8_t *out, size_t bytes)
{
    const char *text = json_string_value(json_object_get(object, name));
    if (text == NULL || strlen(text) != 2 * bytes)
        return false;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t value;
        if (span_to_hex64(span_of(text + 2 * i, MARK_DIGITS), &value) != STATUS_OK)
            return false;
        for (size_t j = 0; j < 8; j++)
            out[i + j] = (uint8_t)(value >> (56 - 8 * j));
    }
    return true;
}

static bool text_fits(const char *text, size_t most)
{
    return text == NULL || (text[0] != 0 && strlen(text) <= most);
}

static const char *beacon_read(const json_t *draw, struct claim *claim)
{
    claim->beacon_name = json_string_value(json_object_get(draw, "beacon_name"));
    claim->beacon_value = json_string_value(json_object_get(draw, "beacon_value"));
    const bool fits = text_fits(claim->beacon_name, BEACON_NAME_BYTES_MAX)
        && text_fits(claim->beacon_value, BEACON_VALUE_BYTES_MAX);
    return fits ? NULL : "the beacon's name or value is empty or too long";
}

static const char *claim_read(const struct draw_published *published, struct claim *claim)
{
    const json_t *draw = published->draw;
    const char *state = json_string_value(json_object_get(draw, "state"));
    const json_int_t sale = json_integer_value(json_object_get(draw, "sale"));
    const json_int_t count = json_integer_value(json_object_get(draw, "count"));
    const char *beacon = json_string_value(json_object_get(draw, "beacon"));
    *claim = (struct claim){ .sale = (sale_id)sale, .count = (uint32_t)count };
    if (state == NULL || strcmp(state, "drawn") != 0)
        return "the draw has not taken place yet";
    if (json_integer_value(json_object_get(draw, "version")) != 1)
        return "this is not a draw of version 1";
    if (sale <= 0 || sale > UINT32_MAX || count < 0 || count > UINT32_MAX
        || !hex_read(draw, "secret", claim->secret, sizeof claim->secret)
        || !hex_read(draw, "commitment", claim->commitment, sizeof claim->commitment)
        || !hex_read(draw, "arrivals_hash", claim->hash, sizeof claim->hash))
        return "sale, count, secret, commitment or arrivals_hash is missing or malformed";
    claim->beacon = beacon == NULL ? SPAN_NONE : span_from_string(beacon);
    claim->has_key = json_object_get(draw, "key") != NULL;
    if (claim->has_key && !hex_read(draw, "key", claim->key, sizeof claim->key))
        return "the key is malformed";
    claim->marks = json_string_value(published->marks);
    if (claim->beacon.size > ROOM_BEACON_MAX || claim->marks == NULL)
        return "the beacon is too long, or the arrivals are missing";
    return beacon_read(draw, claim);
}

static bool told(FILE *out, const char *what, bool good)
{
    fprintf(out, "%-11s %s\n", what, good ? "agrees" : "DIFFERS");
    return good;
}

static bool commitment_check(
    const struct claim *claim, const struct draw_wish *wish, const char *text, FILE *out)
{
    uint8_t found[HASH_SHA256_BYTES];
    room_commitment(claim->sale, claim->secret, found);
    bool good = told(out, "secret", memcmp(found, claim->commitment, sizeof found) == 0);
    if (wish->commitment != NULL)
        good &= told(out, "commitment", strcmp(wish->commitment, text) == 0);
    return good;
}

static bool mark_read(const struct claim *claim, uint32_t number, uint64_t *mark)
{
    return span_to_hex64(span_of(claim->marks + (size_t)number * MARK_DIGITS, MARK_DIGITS), mark)
        == STATUS_OK;
}

static bool chain_check(const struct claim *claim, struct room_chain *chain, FILE *out)
{
    room_chain_begin(chain, claim->sale);
    bool good = strlen(claim->marks) == (size_t)claim->count * MARK_DIGITS;
    for (uint32_t number = 0; number < claim->count && good; number++) {
        uint64_t mark;
        good = mark_read(claim, number, &mark);
        if (good)
            room_chain_add(chain, mark);
    }
    return told(out, "arrivals", good && memcmp(chain->hash, claim->hash, sizeof chain->hash) == 0);
}

/* Strip control characters from remote text before printing. */
static void plain_print(FILE *out, const char *before, const char *text)
{
    fputs(before, out);
    for (const char *at = text; *at != 0; at++)
        fputc((unsigned char)*at < 0x20 || *at == 0x7f ? '?' : *at, out);
}

static bool as_noted(FILE *out, const char *what, const char *noted, const char *published)
{
    return noted == NULL || told(out, what, published != NULL && strcmp(noted, published) == 0);
}

/* That name and value are those that went into the key. Whether the value is the one that the public source
 * has published is for people to see, or to say with --beacon-value. */
static bool beacon_check(const struct claim *claim, const struct draw_wish *wish, FILE *out)
{
    char found[ROOM_BEACON_MAX + 1] = "";
    const bool used = claim->beacon_name != NULL && claim->beacon_value != NULL;
    if (used)
        room_beacon(span_from_string(claim->beacon_name), span_from_string(claim->beacon_value), found);
    if (claim->beacon_name != NULL) {
        plain_print(out, "beacon      \"", claim->beacon_name);
        if (used)
            plain_print(out, "\", value \"", claim->beacon_value);
        fputs(used ? "\"\n" : "\": announced, but not used\n", out);
    }
    bool good = span_equal(claim->beacon, span_from_string(found));
    if (claim->beacon_name != NULL || !good)
        good = told(out, "beacon", good && (claim->beacon_name != NULL || claim->beacon_value == NULL));
    good &= as_noted(out, "name", wish->beacon_name, claim->beacon_name);
    good &= as_noted(out, "value", wish->beacon_value, claim->beacon_value);
    return good;
}

/* A draw with a beacon has its key published: without it nothing would tell one value from another. */
static bool key_check(const struct claim *claim, const struct room_draw *draw, FILE *out)
{
    if (!claim->has_key && claim->beacon.size == 0)
        return true;
    return told(out, "key", claim->has_key && memcmp(claim->key, draw->key, sizeof draw->key) == 0);
}

/* A mapping with duplicates is not a valid draw. */
static bool places_check(const struct room_draw *draw, bool print, FILE *out)
{
    bool *taken = calloc((size_t)draw->count + 1, sizeof *taken);
    bool good = taken != NULL;
    for (uint32_t number = 0; number < draw->count && good; number++) {
        const uint32_t place = room_place(draw, number);
        good = !taken[place];
        taken[place] = true;
        if (print)
            fprintf(out, "%u %u\n", number, place);
    }
    free(taken);
    return told(out, "places", good);
}

static bool user_check(const struct claim *claim, const struct room_draw *draw, uint64_t user, FILE *out)
{
    const uint64_t mine = room_mark(claim->secret, claim->sale, user);
    for (uint32_t number = 0; number < claim->count; number++) {
        uint64_t mark;
        if (!mark_read(claim, number, &mark) || mark != mine)
            continue;
        fprintf(out, "user %016" PRIx64 " came as number %u and has place %u\n", user, number,
            room_place(draw, number));
        return true;
    }
    fprintf(out, "user %016" PRIx64 " did not take part\n", user);
    return false;
}

bool draw_check(const struct draw_published *published, const struct draw_wish *wish, FILE *out)
{
    struct claim claim;
    struct room_chain chain;
    struct room_draw draw;
    const char *wrong = claim_read(published, &claim);
    if (wrong != NULL) {
        fprintf(out, "%s\n", wrong);
        return false;
    }
    fprintf(out, "sale %u: %u took part\n", claim.sale, claim.count);
    const char *commitment = json_string_value(json_object_get(published->draw, "commitment"));
    const bool committed = commitment_check(&claim, wish, commitment, out);
    if (!chain_check(&claim, &chain, out))
        return false;
    const bool lit = beacon_check(&claim, wish, out);
    room_draw_make(&draw, claim.secret, claim.sale, &chain, claim.beacon);
    const bool keyed = key_check(&claim, &draw, out);
    const bool placed = places_check(&draw, wish->places, out);
    const bool found = wish->user == 0 || user_check(&claim, &draw, wish->user, out);
    return committed && lit && keyed && placed && found;
}

/* ---- fetching ---- */

/* NULL: told why. */
static json_t *fetch(CURL *curl, const char *url)
{
    struct received answer = { 0 };
    json_t *json = NULL;
    long status = 0;
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)TIMEOUT_S);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, received_take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
    const CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK)
        fprintf(stderr, "stampede draw: %s: %s\n", url, curl_easy_strerror(code));
    else if (status != 200)
        fprintf(stderr, "stampede draw: %s: status %ld: %.*s\n", url, status,
            (int)(answer.size < 300 ? answer.size : 300), answer.size > 0 ? answer.bytes : "");
    else
        json = answer.size == 0 ? NULL
                                : json_loadb(answer.bytes, answer.size, JSON_REJECT_DUPLICATES, NULL);
    free(answer.bytes);
    return json;
}

/* All pages of marks, one after the other. */
static json_t *fetch_marks(CURL *curl, const char *base, const char *sale)
{
    char *text = NULL, url[URL_BYTES];
    size_t size = 0;
    json_int_t after = 0;
    bool good = true;
    FILE *marks = open_memstream(&text, &size);
    for (uint32_t page = 0; marks != NULL && after >= 0 && good && page < PAGES_MAX; page++) {
        snprintf(url, sizeof url, "%s/v1/sales/%s/draw/arrivals?after=%lld", base, sale, (long long)after);
        json_t *answer = fetch(curl, url);
        const char *part = json_string_value(json_object_get(answer, "marks"));
        const json_t *next = json_object_get(answer, "next");
        good = part != NULL && fputs(part, marks) >= 0;
        after = next == NULL ? -1 : json_integer_value(next);
        json_decref(answer);
    }
    if (marks != NULL)
        fclose(marks);
    json_t *all = good && marks != NULL ? json_stringn(text, size) : NULL;
    free(text);
    return all;
}

static bool draw_fetch(struct draw_published *published, const char *base, const char *sale)
{
    char url[URL_BYTES];
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURL *curl = curl_easy_init();
    if (curl != NULL) {
        snprintf(url, sizeof url, "%s/v1/sales/%s/draw", base, sale);
        published->draw = fetch(curl, url);
        const char *state = json_string_value(json_object_get(published->draw, "state"));
        const bool drawn = state != NULL && strcmp(state, "drawn") == 0;
        published->marks = drawn ? fetch_marks(curl, base, sale) : json_string("");
        curl_easy_cleanup(curl);
    }
    curl_global_cleanup();
    return published->draw != NULL && published->marks != NULL;
}

static bool draw_load(struct draw_published *published, const char *path)
{
    json_error_t error;
    json_t *saved = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (saved == NULL) {
        fprintf(stderr, "stampede draw: %s: %s\n", path, error.text);
        return false;
    }
    published->draw = json_incref(json_object_get(saved, "draw"));
    published->marks = json_incref(json_object_get(saved, "marks"));
    json_decref(saved);
    return true;
}

static bool draw_save(const struct draw_published *published, const char *path)
{
    json_t *saved = json_pack("{s:O,s:O}", "draw", published->draw, "marks", published->marks);
    const bool good = saved != NULL && json_dump_file(saved, path, JSON_INDENT(1)) == 0;
    json_decref(saved);
    if (!good)
        fprintf(stderr, "stampede draw: %s can't be written\n", path);
    return good;
}

/* ---- the command line ---- */

static const char help_text[] =
    "usage: stampede draw verify --sale N [--url URL] [--save FILE] [options]\n"
    "       stampede draw verify --file FILE [options]\n"
    "  Repeats the draw of a waiting room from the published data and compares the "
    "result.\n"
    "  --url         the server; default: http://127.0.0.1:8080\n"
    "  --save        save the published data in a file\n"
    "  --file        check such a file instead of asking a server\n"
    "  --commitment  the commitment that you noted before the start\n"
    "  --beacon      the name of the beacon that you noted before the start\n"
    "  --beacon-value  the value of the beacon, as the public source published it\n"
    "  --user        show number and place of this user (16 hex digits, from POST "
    "/v1/session)\n"
    "  --places      print number and place of everybody\n"
    "  exit: 0 everything agrees, 1 it does not, 2 could not run\n";

static int help(FILE *out)
{
    fputs(help_text, out);
    return out == stdout ? 0 : 2;
}

struct arguments {
    const char *url, *sale, *save, *file, *user;
    struct draw_wish wish;
};

static bool arguments_read(struct arguments *arguments, int argc, char **argv)
{
    const struct {
        const char *name;
        const char **value;
    } options[] = { { "--url", &arguments->url }, { "--sale", &arguments->sale },
        { "--save", &arguments->save }, { "--file", &arguments->file }, { "--user", &arguments->user },
        { "--commitment", &arguments->wish.commitment }, { "--beacon", &arguments->wish.beacon_name },
        { "--beacon-value", &arguments->wish.beacon_value } };
    for (int i = 2; i < argc; i++) {
        bool known = strcmp(argv[i], "--places") == 0;
        arguments->wish.places |= known;
        for (size_t o = 0; !known && i + 1 < argc && o < sizeof options / sizeof *options; o++) {
            if (strcmp(argv[i], options[o].name) != 0)
                continue;
            *options[o].value = argv[++i];
            known = true;
        }
        if (!known)
            return false;
    }
    uint32_t number;
    const bool user = arguments->user == NULL
        || (span_to_hex64(span_from_string(arguments->user), &arguments->wish.user) == STATUS_OK
            && arguments->wish.user != 0);
    const bool sale = arguments->sale != NULL
        && span_to_u32(span_from_string(arguments->sale), &number) == STATUS_OK;
    return user && sale != (arguments->file != NULL);
}

int draw_main(int argc, char **argv)
{
    struct arguments arguments = { .url = "http://127.0.0.1:8080" };
    struct draw_published published = { 0 };
    if (argc > 1 && strcmp(argv[argc - 1], "--help") == 0)
        return help(stdout);
    if (argc < 2 || strcmp(argv[1], "verify") != 0 || !arguments_read(&arguments, argc, argv))
        return help(stderr);
    const bool got = arguments.file != NULL ? draw_load(&published, arguments.file)
                                            : draw_fetch(&published, arguments.url, arguments.sale);
    int code = 2;
    if (got && (arguments.save == NULL || draw_save(&published, arguments.save)))
        code = draw_check(&published, &arguments.wish, stdout) ? 0 : 1;
    json_decref(published.draw);
    json_decref(published.marks);
    return fflush(stdout) == 0 ? code : 2;
}
