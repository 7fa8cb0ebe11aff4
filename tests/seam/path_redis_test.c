/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/path_redis_test.c: the way of a purchase through a gateway's inventory (a port, its ring, the
 * thread that speaks to Redis, and back) beside the same calls of the script by a bare client of hiredis.
 * Both have as many purchases on their way. They take turns, and the median of the ratios is printed;
 * `make check-cluster STEP=2` judges it. Here it counts that every purchase is answered.
 *   tools/with-redis path_redis_test [ROUNDS PURCHASES] */
#include "base/clock.h"
#include "inventory/redis/command_text.h"
#include "tests/seam/redis_kit.h"
#include "tests/seam/remote_kit.h"

#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

enum { CALLS = 8, IN_FLIGHT = CALLS * SCRIPT_PURCHASES_MAX, ROUNDS_MAX = 101 };

static uint32_t rounds = 5, purchases = 4096;
static uint64_t next_user = 1000;

static struct command purchase_next(void)
{
    const uint64_t number = next_user++;
    return kit_reserve(number * 0x9e3779b97f4a7c15u, ~(number * 0x9e3779b97f4a7c15u));
}

/* ---- a bare client ---- */

struct bare {
    redisContext *context;
    char sha[SCRIPT_SHA_DIGITS + 1];
    const struct partition_keys *keys;
};

static void bare_open(struct bare *bare, const struct remote_kit *kit)
{
    static char script[SCRIPT_BYTES_MAX];
    char epoch[REDIS_KIT_TEXT_MAX];
    struct text text = text_in(script, sizeof script);
    const uint16_t port = redis_kit_port(redis_kit_address(), 0);
    bare->keys = &kit->shop.keys;
    redis_kit_order(port, epoch, "HGET %s epoch", bare->keys->names[SCRIPT_KEY_PART].data);
    assert_int_equal(
        script_write(&text, bare->keys->prefix, (uint32_t)strtoul(epoch, NULL, 10)), STATUS_OK);
    script_sha(text_span(&text), bare->sha);
    bare->context = redisConnect("127.0.0.1", port);
    assert_true(bare->context != NULL && bare->context->err == 0);
}

static void bare_send(const struct bare *bare, uint32_t count)
{
    enum { BEFORE = 3 + SCRIPT_KEYS + 2 };
    static char texts[SCRIPT_PURCHASES_MAX][COMMAND_TEXT_MAX];
    const char *words[BEFORE + PURCHASE_WORDS * SCRIPT_PURCHASES_MAX] = { "EVALSHA", bare->sha, "5" };
    size_t sizes[BEFORE + PURCHASE_WORDS * SCRIPT_PURCHASES_MAX] = { 7, SCRIPT_SHA_DIGITS, 1 };
    for (uint32_t key = 0; key < SCRIPT_KEYS; key++) {
        words[3 + key] = bare->keys->names[key].data;
        sizes[3 + key] = bare->keys->names[key].size;
    }
    words[BEFORE - 2] = "1500"; /* the time of the kit */
    sizes[BEFORE - 2] = 4;
    words[BEFORE - 1] = "reserve";
    sizes[BEFORE - 1] = 7;
    for (uint32_t i = 0; i < count; i++) {
        const struct command command = purchase_next();
        struct text text = text_in(texts[i], sizeof texts[i]);
        struct span parts[PURCHASE_WORDS];
        assert_int_equal(purchase_text_write(&text, &command, NULL, parts), STATUS_OK);
        for (uint32_t part = 0; part < PURCHASE_WORDS; part++) {
            words[BEFORE + PURCHASE_WORDS * i + part] = parts[part].data;
            sizes[BEFORE + PURCHASE_WORDS * i + part] = parts[part].size;
        }
    }
    redisAppendCommandArgv(bare->context, (int)(BEFORE + PURCHASE_WORDS * count), words, sizes);
}

/* How many purchases of the next answer were sold out. */
static uint32_t bare_take(const struct bare *bare)
{
    void *taken = NULL;
    uint32_t sold_out = 0;
    assert_int_equal(redisGetReply(bare->context, &taken), REDIS_OK);
    const redisReply *reply = taken;
    assert_int_equal(reply->type, REDIS_REPLY_ARRAY);
    for (size_t i = 1; i < reply->elements; i++) /* ANSWER_SOLD_OUT, and nothing else */
        sold_out += strcmp(reply->element[i]->str, "8") == 0;
    static_assert(ANSWER_SOLD_OUT == 8, "the text of the outcome");
    freeReplyObject(taken);
    return sold_out;
}

static void bare_round(const struct bare *bare)
{
    uint32_t sent = 0, answered = 0;
    while (answered < purchases) {
        while (sent < purchases && sent - answered < IN_FLIGHT) {
            bare_send(bare, SCRIPT_PURCHASES_MAX);
            sent += SCRIPT_PURCHASES_MAX;
        }
        const uint32_t sold_out = bare_take(bare);
        assert_int_equal(sold_out, SCRIPT_PURCHASES_MAX);
        answered += sold_out;
    }
}

/* ---- a gateway's ---- */

static void path_round(struct inventory_port *port, struct wake *wake)
{
    uint32_t sent = 0, answered = 0;
    while (answered < purchases) {
        const uint32_t before = sent;
        while (sent < purchases && sent - answered < IN_FLIGHT) {
            struct inventory_request *request = port->ops->reserve(port);
            assert_non_null(request);
            *request = (struct inventory_request){ .tag = sent++, .command = purchase_next() };
            port->ops->commit(port);
        }
        if (sent > before)
            port->ops->flush(port);
        const uint32_t taken = answered;
        for (const struct inventory_answer *answer; (answer = port->ops->collect(port)) != NULL;) {
            assert_int_equal(answer->outcome.answer, ANSWER_SOLD_OUT);
            answered++;
        }
        if (answered == taken)
            wake_wait(wake, KIT_LONG_MS);
    }
}

/* ---- both ---- */

static uint64_t script_calls(void)
{
    redisContext *context = redisConnect("127.0.0.1", redis_kit_port(redis_kit_address(), 0));
    assert_true(context != NULL && context->err == 0);
    redisReply *reply = redisCommand(context, "INFO commandstats");
    assert_non_null(reply);
    const char *at = strstr(reply->str, "cmdstat_evalsha:calls=");
    const uint64_t calls = at == NULL ? 0 : strtoull(at + strlen("cmdstat_evalsha:calls="), NULL, 10);
    freeReplyObject(reply);
    redisFree(context);
    return calls;
}

static uint64_t processor_us(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000
        + (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static int number_order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *numbers)
{
    qsort(numbers, rounds, sizeof *numbers, number_order);
    return numbers[rounds / 2];
}

struct measured {
    uint64_t ns, us, calls;
};

static struct measured measured_now(void)
{
    return (struct measured){ clock_monotonic_ns(), processor_us(), script_calls() };
}

/* What has passed since; of one purchase. */
static void measured_add(const struct measured *began, double *us, double *cpu_us, double *calls)
{
    const struct measured now = measured_now();
    *us = (double)(now.ns - began->ns) / 1000 / purchases;
    *cpu_us += (double)(now.us - began->us) / purchases / rounds;
    *calls += (double)(now.calls - began->calls) / purchases / rounds;
}

static void a_gateway_does_what_a_bare_client_does(void **state)
{
    struct remote_kit *kit = *state;
    struct process *process = kit_process(kit, 0);
    struct wake wake;
    struct thread host = { 0 };
    struct bare bare;
    double path_us[ROUNDS_MAX], bare_us[ROUNDS_MAX], ratio[ROUNDS_MAX];
    double path_cpu = 0, bare_cpu = 0, path_calls = 0, bare_calls = 0;
    process->config.ring_slots = RING_SLOTS;
    remote_kit_sale_open(kit, 0);
    bare_open(&bare, kit);
    assert_int_equal(wake_open(&wake), STATUS_OK);
    struct inventory *inventory = remote_inventory(process->remote);
    struct inventory_port *port = inventory->ops->port(inventory, 1, &wake);
    assert_int_equal(thread_start(&host, "inventory", remote_run, process->remote), STATUS_OK);
    path_round(port, &wake); /* both are warm */
    bare_round(&bare);
    for (uint32_t i = 0; i < rounds; i++) {
        struct measured began = measured_now();
        bare_round(&bare);
        measured_add(&began, &bare_us[i], &bare_cpu, &bare_calls);
        began = measured_now();
        path_round(port, &wake);
        measured_add(&began, &path_us[i], &path_cpu, &path_calls);
        ratio[i] = bare_us[i] / path_us[i];
    }
    assert_true(path_calls > 0); /* Redis was asked */
    const double middle = median(ratio);
    printf(
        "refusals: a gateway's path %.0f/s, %.2f us of its processor and %.3f calls each; a bare "
        "client %.0f/s, %.2f us, %.3f calls: %.2f times (half of them %.2f to %.2f)\n",
        1e6 / median(path_us), path_cpu, path_calls, 1e6 / median(bare_us), bare_cpu, bare_calls,
        middle, ratio[rounds / 4], ratio[rounds * 3 / 4]);
    remote_stop(process->remote);
    thread_join(&host);
    redisFree(bare.context);
    wake_close(&wake);
}

static int setup(void **state)
{
    return remote_kit_setup(state, redis_kit_address());
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_gateway_does_what_a_bare_client_does, setup, remote_kit_teardown),
    };
    if (argc == 3) {
        rounds = (uint32_t)strtoul(argv[1], NULL, 10);
        purchases = (uint32_t)strtoul(argv[2], NULL, 10) / IN_FLIGHT * IN_FLIGHT;
    }
    if (rounds == 0 || rounds > ROUNDS_MAX || purchases == 0) {
        fprintf(stderr, "1 to %d rounds, %d purchases or more\n", ROUNDS_MAX, IN_FLIGHT);
        return 1;
    }
    clock_start(0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
