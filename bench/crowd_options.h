/* SPDX-License-Identifier: Apache-2.0 */
/* What the crowd is asked to do. Wrong usage ends the program with status 2. */
#ifndef BENCH_CROWD_OPTIONS_H
#define BENCH_CROWD_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CROWD_CONNECTIONS_MAX = 8192, CROWD_PURCHASES_MAX = 8, CROWD_QUANTITY_MAX = 1000 };

struct crowd_options {
    uint16_t port;
    uint32_t item;
    const char *passes_path;
    const char *log_path;
    uint32_t connections;
    uint32_t purchases_max; /* of one user, each with a key of its own */
    uint32_t quantity_max;
    uint32_t keyless_percent; /* users who buy without a key; only where the limit is one */
    uint32_t twin_percent;
    uint32_t lost_percent;
    uint32_t later_percent;
    uint32_t persist_max; /* times that somebody who heard "sold out" tries again */
    double rate;          /* new purchases per second; 0: as fast as answers come */
    double seconds_max;
    uint64_t seed;
    bool until_term;
    bool again;
};

static const char crowd_usage[] =
    "usage: crowd --port P --item I --passes FILE --log FILE [options]\n"
    "Each line of the passes is a user; each user's purchases are asked for until a final answer "
    "came.\n"
    "  --connections N   400; a request goes out on any of them\n"
    "  --purchases K     1 … K purchases per user, each with its own key (1)\n"
    "  --quantity Q      each of 1 … Q units (1)\n"
    "  --keyless PCT     so many users send no Idempotency-Key (0; only for a limit of one)\n"
    "  --twins PCT       so many requests are sent a second time at once on another connection "
    "(20)\n"
    "  --lost PCT        so many answers get lost: the connection is closed after sending (5)\n"
    "  --later PCT       so many wins are asked for again within 2 s (10)\n"
    "  --persist N       who hears \"sold out\" tries N times more, within 400 ms each (0)\n"
    "  --again           in the end, every win that was told is asked for once more\n"
    "  --rate R          new purchases per second (0: as fast as answers come)\n"
    "  --until-term      new purchases until SIGTERM, then only what is still open\n"
    "  --seconds S       give up after that long, status 3 (300)\n"
    "  --seed N          order, quantities, keys and losses (1)\n";

static inline void crowd_wrong(const char *what)
{
    fprintf(stderr, "crowd: %s\n", what);
    exit(2);
}

static inline double crowd_number(const char *text, double min, double max)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= min && value <= max)) {
        fprintf(stderr, "crowd: not a number from %.0f to %.0f: %s\n", min, max, text);
        exit(2);
    }
    return value;
}

static inline uint32_t crowd_percent(const char *text)
{
    return (uint32_t)crowd_number(text, 0, 100);
}

static inline void crowd_option_take(struct crowd_options *options, int name)
{
    switch (name) {
    case 'p':
        options->port = (uint16_t)crowd_number(optarg, 1, UINT16_MAX);
        break;
    case 'i':
        options->item = (uint32_t)crowd_number(optarg, 1, UINT32_MAX);
        break;
    case 'f':
        options->passes_path = optarg;
        break;
    case 'o':
        options->log_path = optarg;
        break;
    case 'c':
        options->connections = (uint32_t)crowd_number(optarg, 1, CROWD_CONNECTIONS_MAX);
        break;
    case 'k':
        options->purchases_max = (uint32_t)crowd_number(optarg, 1, CROWD_PURCHASES_MAX);
        break;
    case 'q':
        options->quantity_max = (uint32_t)crowd_number(optarg, 1, CROWD_QUANTITY_MAX);
        break;
    case 'n':
        options->keyless_percent = crowd_percent(optarg);
        break;
    case 't':
        options->twin_percent = crowd_percent(optarg);
        break;
    case 'l':
        options->lost_percent = (uint32_t)crowd_number(optarg, 0, 90); /* some must arrive */
        break;
    case 'w':
        options->later_percent = crowd_percent(optarg);
        break;
    case 's':
        options->persist_max = (uint32_t)crowd_number(optarg, 0, 250);
        break;
    case 'r':
        options->rate = crowd_number(optarg, 0, 1e6);
        break;
    case 'S':
        options->seconds_max = crowd_number(optarg, 1, 3500);
        break;
    case 'x':
        options->seed = (uint64_t)crowd_number(optarg, 0, 9e15);
        break;
    case 'u':
        options->until_term = true;
        break;
    case 'a':
        options->again = true;
        break;
    default:
        crowd_wrong(crowd_usage);
    }
}

static inline void crowd_options_read(struct crowd_options *options, int argc, char **argv)
{
    static const struct option names[] = {
        { "port", 1, NULL, 'p' },
        { "item", 1, NULL, 'i' },
        { "passes", 1, NULL, 'f' },
        { "log", 1, NULL, 'o' },
        { "connections", 1, NULL, 'c' },
        { "purchases", 1, NULL, 'k' },
        { "quantity", 1, NULL, 'q' },
        { "keyless", 1, NULL, 'n' },
        { "twins", 1, NULL, 't' },
        { "lost", 1, NULL, 'l' },
        { "later", 1, NULL, 'w' },
        { "persist", 1, NULL, 's' },
        { "rate", 1, NULL, 'r' },
        { "seconds", 1, NULL, 'S' },
        { "seed", 1, NULL, 'x' },
        { "until-term", 0, NULL, 'u' },
        { "again", 0, NULL, 'a' },
        { NULL, 0, NULL, 0 },
    };
    *options = (struct crowd_options){ .connections = 400,
        .purchases_max = 1,
        .quantity_max = 1,
        .twin_percent = 20,
        .lost_percent = 5,
        .later_percent = 10,
        .seconds_max = 300,
        .seed = 1 };
    int name;
    while ((name = getopt_long(argc, argv, "", names, NULL)) != -1)
        crowd_option_take(options, name);
    if (options->port == 0 || options->item == 0 || options->passes_path == NULL
        || options->log_path == NULL || optind != argc)
        crowd_wrong(crowd_usage);
    if (options->keyless_percent > 0 && options->purchases_max > 1)
        crowd_wrong("who buys several times needs keys: no --keyless with --purchases");
}

#endif
