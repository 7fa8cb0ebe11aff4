/* SPDX-License-Identifier: Apache-2.0 */
/* How many instructions of libcrypto this processor executes to finish a batch of wins: its SHA-256.
 *
 * DESIGN
 * callgrind counts what its own processor executes, and that one has no SHA instructions: libcrypto falls
 * back to software there, which costs many times as much. So a child finishes one batch of wins between two
 * stops, and its parent has the real processor execute it instruction by instruction (PTRACE_SINGLESTEP) and
 * counts those that lie in libcrypto. Exact and repeatable on one kind of processor.
 * Prints one line of JSON: {"instructions": per win, "records": of the batch}. */
#include "base/clock.h"
#include "contract/record.h"
#include "journal/batch.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    RECORDS_DEFAULT = 32,
    RECORDS_MAX = 1024,
    STEPS_MAX = 10 * 1000 * 1000,
    PLACES_MAX = 16, /* where libcrypto lies in memory */
};

struct place {
    uint64_t from, to;
};
struct places {
    struct place of[PLACES_MAX];
    unsigned count;
};

static int failed(const char *what)
{
    perror(what);
    return EXIT_FAILURE;
}

/* A batch of wins as the journal has it, but for its checksum and its hash. */
static uint32_t batch_of_wins(uint8_t *data, uint32_t size, uint32_t records)
{
    struct batch_maker maker;
    batch_begin(&maker, data, size);
    for (uint32_t i = 1; i <= records; i++) {
        uint8_t payload[RECORD_BYTES_MAX];
        const struct command command = { .type = COMMAND_RESERVE,
            .time_ms = clock_wall_ms(),
            .reserve = { .user = i * UINT64_C(0x9e3779b97f4a7c15), .key = i, .item = 1, .quantity = 1 } };
        const struct outcome outcome = {
            .answer = ANSWER_WON, .changed = true, .ticket = i, .unit_price = 9900
        };
        if (!batch_append(&maker, COMMAND_RESERVE, payload, record_encode(&command, &outcome, payload)))
            return 0;
    }
    batch_head_put(data, maker.bytes, records, 1, clock_wall_ms(), 1);
    return maker.bytes;
}

static int child(uint32_t records)
{
    static uint8_t data[RECORDS_MAX * (RECORD_BYTES_MAX + 8)];
    uint8_t digest[HASH_SHA256_BYTES] = { 0 };
    const uint32_t bytes = batch_of_wins(data, sizeof data, records);
    if (bytes == 0 || ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        return failed("log_steps: child");
    batch_finish(data, bytes, digest, digest); /* once before: contexts are made, symbols are bound */
    raise(SIGSTOP);
    batch_finish(data, bytes, digest, digest);
    raise(SIGSTOP);
    return EXIT_SUCCESS;
}

static void places_read(pid_t process, struct places *places)
{
    char name[64], line[512];
    snprintf(name, sizeof name, "/proc/%d/maps", process);
    FILE *maps = fopen(name, "re");
    places->count = 0;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL && places->count < PLACES_MAX) {
        struct place *place = &places->of[places->count];
        if (strstr(line, "libcrypto") != NULL
            && sscanf(line, "%" SCNx64 "-%" SCNx64, &place->from, &place->to) == 2) // NOLINT(cert-err34-c)
            places->count++;
    }
    if (maps != NULL)
        fclose(maps);
}

static bool inside(const struct places *places, uint64_t address)
{
    for (unsigned i = 0; i < places->count; i++)
        if (address >= places->of[i].from && address < places->of[i].to)
            return true;
    return false;
}

/* 0: not known on this kind of processor. */
static uint64_t address_now(pid_t process)
{
#ifdef __x86_64__
    struct user_regs_struct registers;
    return ptrace(PTRACE_GETREGS, process, NULL, &registers) == 0 ? registers.rip : 0;
#else
    (void)process;
    return 0;
#endif
}

/* Instructions of libcrypto between the child's two stops; -1: it could not be followed. */
static int64_t steps_count(pid_t process)
{
    struct places places;
    int state;
    if (waitpid(process, &state, 0) != process || !WIFSTOPPED(state) || WSTOPSIG(state) != SIGSTOP)
        return -1;
    places_read(process, &places);
    int64_t count = 0;
    for (unsigned steps = 0; places.count > 0 && steps < STEPS_MAX; steps++) {
        const uint64_t address = address_now(process);
        if (address == 0)
            return -1;
        count += inside(&places, address);
        if (ptrace(PTRACE_SINGLESTEP, process, NULL, NULL) != 0
            || waitpid(process, &state, 0) != process || !WIFSTOPPED(state))
            return -1;
        if (WSTOPSIG(state) == SIGSTOP)
            return count;
    }
    return -1;
}

int main(int argc, char **argv)
{
    const unsigned long records = argc > 1 ? strtoul(argv[1], NULL, 10) : RECORDS_DEFAULT;
    if (argc > 2 || records == 0 || records > RECORDS_MAX) {
        fprintf(stderr, "usage: log_steps [RECORDS]: 1 to %d records of a batch\n", RECORDS_MAX);
        return 2;
    }
    const pid_t process = fork();
    if (process < 0)
        return failed("log_steps: fork");
    if (process == 0)
        return child((uint32_t)records);
    const int64_t count = steps_count(process);
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
    if (count <= 0) {
        fprintf(stderr, "log_steps: the child could not be followed (is ptrace allowed?)\n");
        return EXIT_FAILURE;
    }
    printf("{\"instructions\": %.1f, \"records\": %lu}\n", (double)count / (double)records, records);
    return EXIT_SUCCESS;
}
