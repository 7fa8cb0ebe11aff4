/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/target.h"

#include "base/clock.h"

#include <netdb.h>
#include <stdlib.h>
#include <unistd.h>

enum { LOOK_MS = 50 };

bool target_address(struct target *target, const char *url, const char **path, FILE *errors)
{
    static const char scheme[] = "http://";
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
    struct addrinfo *found = NULL;
    char name[128];
    if (strncmp(url, scheme, sizeof scheme - 1) != 0) {
        fprintf(errors, "stampede rehearse: %s: the crowd speaks plain HTTP: http://host:port\n", url);
        return false;
    }
    const char *begin = url + sizeof scheme - 1;
    const size_t size = strcspn(begin, "/");
    *path = begin[size] != 0 ? begin + size : "/";
    if (size == 0 || size >= sizeof name)
        return false;
    memcpy(name, begin, size);
    name[size] = 0;
    snprintf(target->host, sizeof target->host, "%s", name);
    char *colon = strrchr(name, ':');
    if (colon != NULL)
        *colon = 0;
    const int result = getaddrinfo(name, colon != NULL ? colon + 1 : "80", &hints, &found);
    if (result != 0) {
        fprintf(errors, "stampede rehearse: %s: %s\n", url, gai_strerror(result));
        return false;
    }
    memcpy(&target->address, found->ai_addr, found->ai_addrlen);
    target->address_bytes = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

static bool text_get(struct target *target, const char *path, struct received *text)
{
    target->asked++;
    return admin_session_text(&target->session, path, text);
}

bool target_ready(struct target *target, uint32_t patience_ms, bool (*lives)(void *), void *context)
{
    const uint64_t until_ms = clock_monotonic_ms() + patience_ms;
    struct received text;
    while (clock_monotonic_ms() < until_ms && (lives == NULL || lives(context))) {
        if (text_get(target, "/readyz", &text)) {
            free(text.bytes);
            return true;
        }
        usleep(LOOK_MS * 1000);
    }
    return false;
}

/* The caller owns the object; NULL: no answer, or another one. */
static json_t *json_get(struct target *target, const char *path)
{
    struct received text;
    if (!text_get(target, path, &text))
        return NULL;
    json_t *json = json_loadb(text.bytes, text.size, 0, NULL);
    free(text.bytes);
    return json;
}

bool target_time(struct target *target, uint64_t *now_ms)
{
    json_t *time = json_get(target, "/v1/time");
    *now_ms = (uint64_t)json_integer_value(json_object_get(time, "now_ms"));
    json_decref(time);
    return *now_ms > 0;
}

bool target_is_for_tests(struct target *target, uint64_t *now_ms, uint64_t *pass_early_ms)
{
    json_t *time = json_get(target, "/v1/time"), *shop = json_get(target, "/v1/shop");
    const bool test = json_is_true(json_object_get(time, "test"));
    const bool guests = json_is_true(json_object_get(shop, "guests"));
    *now_ms = (uint64_t)json_integer_value(json_object_get(time, "now_ms"));
    *pass_early_ms = (uint64_t)json_integer_value(json_object_get(shop, "pass_early_ms"));
    if (time == NULL || shop == NULL)
        fprintf(target->session.errors, "stampede rehearse: %s does not answer like Stampede\n",
            target->session.url);
    else if (!test)
        fprintf(target->session.errors,
            "stampede rehearse: %s is not in test mode (payment.providers = sandbox): a rehearsal "
            "never plays "
            "on a server that takes real money\n",
            target->session.url);
    else if (!guests)
        fprintf(target->session.errors,
            "stampede rehearse: %s has no guests: set session.guests = yes there\n",
            target->session.url);
    json_decref(time);
    json_decref(shop);
    return test && guests;
}

char *target_metrics(struct target *target)
{
    struct received text;
    return text_get(target, "/metrics", &text) ? text.bytes : NULL;
}

static uint64_t number(const json_t *object, const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(object, name));
}

bool target_report(struct target *target, uint32_t sale, struct server_counts *counts)
{
    char path[64];
    snprintf(path, sizeof path, "/admin/v1/sales/%u/report", sale);
    json_t *report = json_get(target, path);
    snprintf(path, sizeof path, "/v1/sales/%u", sale);
    json_t *shown = json_get(target, path);
    const bool good = report != NULL && shown != NULL;
    counts->report.won = number(json_object_get(report, "funnel"), "purchase.won");
    counts->report.winners = number(report, "winners");
    counts->report.orders_paid = number(report, "orders_paid");
    counts->report.orders_cancelled = number(report, "orders_cancelled");
    counts->report.units_taken = number(report, "units_pending") + number(report, "units_paid");
    counts->report.units_free = counts->report.units_held_sold = 0;
    const json_t *item;
    size_t i;
    json_array_foreach(json_object_get(shown, "items"), i, item)
    {
        const json_t *units = json_object_get(item, "counts");
        counts->report.units_free += number(units, "free");
        counts->report.units_held_sold += number(units, "held") + number(units, "sold");
    }
    json_decref(report);
    json_decref(shown);
    return good;
}
