/* SPDX-License-Identifier: Apache-2.0 */
/* Forgeries for the load client: reads real tokens, one a line, writes as many forged ones as asked for,
 * all of a token's length, one a line, in every way of forge.h in turn.
 *
 *   forge --count N [--session] [--seed S] < real > forged */
#include "forge.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

enum { REAL_MAX = 65536, LINE = TOKEN_CHARS + 1 };

static void fail(const char *what)
{
    fprintf(stderr, "forge: %s\n", what);
    exit(2);
}

static size_t real_read(struct forge_token *real, uint32_t expires_at)
{
    char line[LINE];
    size_t count = 0;
    while (count < REAL_MAX && fread(line, 1, LINE, stdin) == LINE) {
        if (line[TOKEN_CHARS] != '\n')
            fail("a line that is no token");
        memcpy(real[count].text, line, TOKEN_CHARS);
        real[count++].expires_at = expires_at;
    }
    return count;
}

int main(int argc, char **argv)
{
    static struct forge_token real[REAL_MAX];
    static const struct option names[] = { { "count", 1, NULL, 'n' }, { "session", 0, NULL, 's' },
        { "seed", 1, NULL, 'x' }, { NULL, 0, NULL, 0 } };
    uint64_t count = 0, seed = 1;
    uint32_t expires_at = FORGE_PASS_EXPIRES_AT;
    int name;
    while ((name = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (name == 'n')
            count = strtoull(optarg, NULL, 10);
        else if (name == 's')
            expires_at = FORGE_SESSION_EXPIRES_AT;
        else if (name == 'x')
            seed = strtoull(optarg, NULL, 10);
        else
            fail("usage: forge --count N [--session] [--seed S] < real > forged");
    }
    const size_t tokens = real_read(real, expires_at);
    if (count == 0 || tokens < 2)
        fail("--count and at least two real tokens are needed");
    struct random random;
    random_seed(&random, seed);
    for (uint64_t i = 0; i < count; i++) {
        char line[LINE];
        const enum forge_way way = (enum forge_way)(i % FORGE_WAYS);
        forge_make(&random, way, i / FORGE_WAYS, &real[random_below(&random, tokens)],
            &real[random_below(&random, tokens)], line);
        line[TOKEN_CHARS] = '\n';
        if (fwrite(line, 1, LINE, stdout) != LINE)
            fail("can't write");
    }
    if (fflush(stdout) != 0)
        fail("can't write");
    return 0;
}
