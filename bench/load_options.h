/* SPDX-License-Identifier: Apache-2.0 */
/* What the load client is asked to do. Wrong usage ends the program with status 2. */
#ifndef BENCH_LOAD_OPTIONS_H
#define BENCH_LOAD_OPTIONS_H

#include <getopt.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CONNECTIONS_MAX = 19000, DEPTH_MAX = 256, SECONDS_MAX = 600, SOURCE_ADDRESSES_MAX = 60000 };

struct options {
    uint16_t port;
    uint32_t connections;
    uint32_t depth;
    uint64_t count;
    double seconds;
    double warm_seconds;
    double rate;
    int core;
    uint32_t source_addresses;
    bool resp;
    bool once;
    bool hold;
    bool gate;
    bool sleeps;
    const char *template_path;
    const char *list_path;
    const char *fill_path;
    uint64_t counter_first;
    const char *outcomes_path;
};

static const char options_usage[] =
    "usage: load --port P SOURCE [options]\n"
    "SOURCE: --template FILE [--fill FILE | --counter N], or --requests FILE (see source.h)\n"
    "  --connections N  --depth D   64 connections, 1 request in flight on each\n"
    "  --warm S  --seconds S        count for 1 s, after 0 s that are not counted\n"
    "  --count N                    send at most N requests\n"
    "  --rate R                     open loop, R requests/s; latency from the intended time\n"
    "  --once                       send each request of the source once\n"
    "  --resp                       replies are RESP integers (Redis), not HTTP\n"
    "  --core C                     run on this core\n"
    "  --sources N                  connect from N loopback addresses\n"
    "  --outcomes FILE              request index, status, ticket or '-', order or '-', tab "
    "separated\n"
    "  --hold                       keep connections open until standard input ends\n"
    "  --gate                       open the connections, say so in a line, begin at a byte from "
    "standard input\n"
    "  --sleep                      open loop: sleep until the next request is due instead of "
    "spinning, for\n"
    "                               several clients on one core\n";

static inline void options_wrong(const char *what)
{
    fprintf(stderr, "load: %s\n", what);
    exit(2);
}

static inline double option_number(const char *text, double min, double max)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= min && value <= max)) {
        fprintf(stderr, "load: not a number from %.0f to %.0f: %s\n", min, max, text);
        exit(2);
    }
    return value;
}

static inline void option_take(struct options *options, int name)
{
    switch (name) {
    case 'p':
        options->port = (uint16_t)option_number(optarg, 1, UINT16_MAX);
        break;
    case 'c':
        options->connections = (uint32_t)option_number(optarg, 1, CONNECTIONS_MAX);
        break;
    case 'd':
        options->depth = (uint32_t)option_number(optarg, 1, DEPTH_MAX);
        break;
    case 's':
        options->seconds = option_number(optarg, 0, SECONDS_MAX);
        break;
    case 'w':
        options->warm_seconds = option_number(optarg, 0, SECONDS_MAX);
        break;
    case 'n':
        options->count = (uint64_t)option_number(optarg, 1, 1e12);
        break;
    case 'r':
        options->rate = option_number(optarg, 1, 1e7);
        break;
    case 'o':
        options->once = true;
        break;
    case 'R':
        options->resp = true;
        break;
    case 'C':
        options->core = (int)option_number(optarg, 0, CPU_SETSIZE - 1);
        break;
    case 'a':
        options->source_addresses = (uint32_t)option_number(optarg, 1, SOURCE_ADDRESSES_MAX);
        break;
    case 'O':
        options->outcomes_path = optarg;
        break;
    case 'h':
        options->hold = true;
        break;
    case 'g':
        options->gate = true;
        break;
    case 'S':
        options->sleeps = true;
        break;
    case 't':
        options->template_path = optarg;
        break;
    case 'f':
        options->fill_path = optarg;
        break;
    case 'k':
        options->counter_first = (uint64_t)option_number(optarg, 0, 9e15);
        break;
    case 'l':
        options->list_path = optarg;
        break;
    default:
        options_wrong(options_usage);
    }
}

static inline void options_read(struct options *options, int argc, char **argv)
{
    static const struct option names[] = {
        { "port", 1, NULL, 'p' },
        { "connections", 1, NULL, 'c' },
        { "depth", 1, NULL, 'd' },
        { "seconds", 1, NULL, 's' },
        { "warm", 1, NULL, 'w' },
        { "count", 1, NULL, 'n' },
        { "rate", 1, NULL, 'r' },
        { "once", 0, NULL, 'o' },
        { "resp", 0, NULL, 'R' },
        { "core", 1, NULL, 'C' },
        { "sources", 1, NULL, 'a' },
        { "outcomes", 1, NULL, 'O' },
        { "hold", 0, NULL, 'h' },
        { "gate", 0, NULL, 'g' },
        { "sleep", 0, NULL, 'S' },
        { "template", 1, NULL, 't' },
        { "fill", 1, NULL, 'f' },
        { "counter", 1, NULL, 'k' },
        { "requests", 1, NULL, 'l' },
        { NULL, 0, NULL, 0 },
    };
    *options = (struct options){ .connections = 64, .depth = 1, .seconds = 1, .core = -1 };
    int name;
    while ((name = getopt_long(argc, argv, "", names, NULL)) != -1)
        option_take(options, name);
    bool one_source = (options->template_path != NULL) != (options->list_path != NULL);
    if (options->port == 0 || !one_source || optind != argc)
        options_wrong(options_usage);
    if (options->rate > 0 && options->depth != 1)
        options_wrong("an open loop has one request in flight per connection: no --depth");
}

#endif
