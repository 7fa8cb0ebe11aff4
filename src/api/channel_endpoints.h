/* SPDX-License-Identifier: Apache-2.0 */
/* api/channel_endpoints.h: every endpoint of the API of channels, once: the rows are those of
 * api/admin_endpoints.h, the path is after /channel/v1, and the key says which channel is meant
 * (docs/channels.md). */
#ifndef STAMPEDE_API_CHANNEL_ENDPOINTS_H
#define STAMPEDE_API_CHANNEL_ENDPOINTS_H

#define CHANNEL_ENDPOINT_LIST(X) \
    X(GET, CHANNEL, READS, "/items/#", channel_item) \
    X(POST, CHANNEL, COMMANDS, "/items/#/reserve", channel_reserve) \
    X(POST, CHANNEL, WRITES, "/items/#/reports", channel_report) \
    X(GET, CHANNEL, READS, "/orders/@?buyer", channel_order) \
    X(POST, CHANNEL, WRITES, "/orders/@/confirm", channel_confirm) \
    X(POST, CHANNEL, WRITES, "/orders/@/return", channel_return) \
    X(POST, CHANNEL, WRITES, "/figures", channel_figures)

#endif
