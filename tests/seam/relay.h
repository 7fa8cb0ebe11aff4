/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/relay.h: a network between a client and a server on this machine that can be broken:
 * a thread that passes the bytes of TCP connections on. */
#ifndef STAMPEDE_TESTS_SEAM_RELAY_H
#define STAMPEDE_TESTS_SEAM_RELAY_H

#include <stdbool.h>
#include <stdint.h>

struct relay;
enum relay_mode {
    RELAY_PASS,
    RELAY_LOSE_ANSWER, /* the next bytes of the server are lost, and its connection is cut both ways */
    RELAY_CUT,         /* connections are cut, and new ones as soon as they are made */
    RELAY_SILENT,      /* nobody answers a new connection; no byte goes on */
};

struct relay *relay_open(uint16_t server_port); /* to 127.0.0.1; stops the test if it can't */
void relay_close(struct relay *relay);
uint16_t relay_port(const struct relay *relay);
void relay_set(struct relay *relay, enum relay_mode mode);
/* RELAY_LOSE_ANSWER after so many answers; whether that is still to come. */
void relay_lose_later(struct relay *relay, uint32_t answers);
bool relay_is_losing(const struct relay *relay);

#endif
