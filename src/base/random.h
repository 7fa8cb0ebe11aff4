/* SPDX-License-Identifier: Apache-2.0 */
/* base/random.h: secrets from the system (getrandom), and a small seeded generator for tests,
 * jitter and sampling. */
#ifndef STAMPEDE_BASE_RANDOM_H
#define STAMPEDE_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

void random_secret(void *out, size_t bytes); /* stops the program if the system has none */

struct random {
    uint64_t state[2];
}; /* xoroshiro128+; not for secrets */
void random_seed(struct random *random, uint64_t seed);
void random_start(struct random *random); /* with a seed that nobody knows */
uint64_t random_next(struct random *random);
uint64_t random_below(struct random *random, uint64_t bound); /* [0, bound), bound > 0 */

#endif
