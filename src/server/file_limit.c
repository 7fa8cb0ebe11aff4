/* SPDX-License-Identifier: Apache-2.0 */
#include "server/file_limit.h"

#include "base/log.h"
#include "edge/edge.h"
#include "outgoing/courier.h"

#include <assert.h>
#include <sys/resource.h>

static_assert((int)FILES_KEPT >= (int)COURIER_FLIGHT_MAX + 64, "calls, and what else the program opens");

uint32_t file_limit_connections(uint64_t files, uint32_t edges, uint32_t wanted)
{
    const uint64_t kept = files / FILES_KEPT_SHARE < FILES_KEPT ? files / FILES_KEPT_SHARE : FILES_KEPT;
    const uint64_t each = (files - kept) / edges;
    /* An edge may hold some more for a moment, while it tells them that there are too many. */
    const uint64_t fit = each > 2 * EDGE_TURNED_AWAY_SLOTS ? each - EDGE_TURNED_AWAY_SLOTS : each / 2;
    if (fit >= wanted)
        return wanted;
    return fit < FILE_LIMIT_CONNECTIONS_MIN ? FILE_LIMIT_CONNECTIONS_MIN : (uint32_t)fit;
}

uint32_t file_limit_raise(uint32_t edges, uint32_t wanted, uint32_t handshakes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return wanted;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        log_warn("server", "the limit of open files can't be raised");
    /* Handshakes give way when there are few descriptors: the oldest of them is closed. */
    const uint64_t beside = (uint64_t)edges * handshakes;
    const uint64_t files = beside < limit.rlim_cur / 2 ? limit.rlim_cur - beside : limit.rlim_cur;
    const uint32_t fit = file_limit_connections(files, edges, wanted);
    if (fit < wanted)
        log_warn("server",
            "the limit of open files is %llu: %u connections for each edge instead of "
            "server.connections_max (%u); raise the limit (LimitNOFILE, ulimit -n)",
            (unsigned long long)limit.rlim_cur, fit, wanted);
    return fit;
}
