/* wiring/routes_query.c: which members of a query the public routes take (query.h). The admin API's
 * are in its table of routes (admin_api.c). */
#include "wiring/path_pattern.h"
#include "wiring/routes_parts.h"

/* After /v1; patterns (path_pattern.h). What is not here answers 404 anyway. */
static const char *const taken[] = {
    "/time",
    "/sales?after ended",
    "/sales/#?after",
    "/sales/#/room",
    "/sales/#/draw",
    "/sales/#/draw/arrivals?after",
    "/items/#",
    "/items/#/challenge?kind",
    "/items/#/mine",
    "/items/#/waitlist",
    "/orders",
    "/orders/@?wait version",
    "/orders/@/details",
    "/tickets/@?wait version",
    "/payments",
    "/push?watch room",
};

bool routes_query_taken(struct exchange *exchange, struct span path)
{
    const struct span query = exchange->request->query;
    char error[QUERY_ERROR];
    uint32_t id;
    uint64_t order;
    for (size_t i = 0; i < sizeof taken / sizeof *taken && query.size > 0; i++) {
        if (!path_pattern_matches(taken[i], path, &id, &order))
            continue;
        if (query_check(query, path_pattern_query(taken[i]), error))
            return true;
        reply_problem(exchange, PROBLEM_BAD_QUERY, error);
        return false;
    }
    return true;
}
