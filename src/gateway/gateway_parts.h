/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/gateway_parts.h: what the parts of the edge's handler share. Nobody else includes it. */
#ifndef STAMPEDE_GATEWAY_GATEWAY_PARTS_H
#define STAMPEDE_GATEWAY_GATEWAY_PARTS_H

#include "api/catalog.h"
#include "api/job.h"
#include "api/problems.h"
#include "api/query.h"
#include "api/sale_meters.h"
#include "base/random.h"
#include "edge/static_files.h"
#include "funnel/anomaly/watch.h"
#include "funnel/bans.h"
#include "funnel/door.h"
#include "funnel/human/human.h"
#include "funnel/keys.h"
#include "funnel/session_rules.h"
#include "funnel/switches.h"
#include "funnel/token.h"
#include "gateway/answers.h"
#include "gateway/job_shares.h"
#include "gateway/push.h"
#include "gateway/routes.h"
#include "gateway/settings.h"

struct room_standing;

enum {
    ASKS_MAX = 1024,  /* questions to the inventory under way */
    WAITS_MAX = 8192, /* requests that wait for an order to change, or for a payment to be payable */
    WAITS_PER_USER = 32, /* once half of them are taken */
    WAIT_MAX_S = 30,
    WAITS_LOOK_MS = 20,           /* between two looks at which waits are over */
    TOO_MANY_JOBS_WAIT_MS = 1000, /* who has enough jobs at the worker comes again after this */
};

/* Marks in the spare bits of a token while it travels as a tag. */
static const uint64_t TAG_ASK = 1ull << 63;
enum { TAG_FLAGS_SHIFT = 58 }; /* five bits: edge_answer.flags (answers.h) */
static const uint64_t TAG_TOKEN = (1ull << TAG_FLAGS_SHIFT) - 1;
static_assert(64 - TAG_FLAGS_SHIFT == EDGE_TOKEN_SPARE_BITS, "marks fit the spare bits");
static_assert((int)ORIGINS_MAX == (int)ANSWER_ORIGIN, "an origin fits its flags");
static_assert((ANSWER_ORIGIN | ANSWER_CHINESE) == 0x1f, "flags fit below TAG_ASK");

/* One request that the handler is working on. */
struct exchange {
    struct routes *routes;
    const struct http_request *request;
    uint64_t token;
    bool closing;
    uint8_t cors;
    struct text *out;
    struct edge_reply *reply;
    bool head_only; /* HEAD, handled as GET */
    bool chinese;   /* the reader prefers it */
};

/* A question to the inventory whose answer is not the reply yet. */
struct ask {
    struct reply_to to;
    user_id user;
    uint64_t version_seen, wait_until_ms;
    uint64_t start_ms; /* of the sale of a waiting room */
    item_id item;
    sale_id room; /* entering the waiting room of this sale; 0: not that */
    bool mine;    /* "have I bought this", else about one order */
    bool repeat;  /* a refused purchase that may have an old answer; else `instead` is told */
    uint16_t next_free;
    struct edge_answer instead;
};

/* A request that waits for news of an order (waits.c): the job to hand in again. */
struct wait {
    uint8_t kind; /* enum job_kind: JOB_ORDER, JOB_PAYMENT or JOB_RETURN */
    bool called;  /* there was news, but no job */
    struct reply_to to;
    user_id user;
    ticket_number ticket;
    uint64_t version_seen, until_ms;
    item_id item;
    uint32_t quantity;
};

struct routes {
    struct routes_shared shared;
    uint32_t index;
    bool test_mode; /* config/test_mode.h */
    struct edge *edge;
    struct inventory_port *port;
    struct funnel_keys keys;
    struct door door;
    struct random random;
    struct arena arena;
    struct ask asks[ASKS_MAX];
    uint16_t ask_free; /* index + 1; 0: none */
    struct wait *waits;
    uint32_t wait_count;
    uint64_t waits_look_ms; /* the next look at them by time */
    struct job_shares jobs;
    struct push *push;
    struct human human;
    const struct settings *settings; /* of this turn */
    struct watch *watch;             /* NULL: no rule wants to know */
    struct sale_meters *meters;
};

/* Seconds for Retry-After: one to five, not the same for everybody. */
static inline unsigned retry_after_s(struct routes *routes)
{
    return (unsigned)(random_next(&routes->random) % 5 + 1);
}

static inline struct reply_to exchange_reply_to(const struct exchange *exchange)
{
    return (struct reply_to){ .token = exchange->token,
        .cors = exchange->cors,
        .closing = exchange->closing,
        .chinese = exchange->chinese };
}

/* The detail in the reader's language; NULL: the standard one. */
static inline const char *exchange_detail(const struct exchange *exchange, enum problem problem)
{
    return exchange->chinese ? problem_chinese(problem) : NULL;
}

/* reply.c */
enum edge_verdict reply_problem(struct exchange *exchange, enum problem problem, const char *detail);
enum edge_verdict reply_too_fast(struct exchange *exchange, uint32_t wait_ms);
enum edge_verdict reply_json(
    struct exchange *exchange, int status, const struct text *body, bool cacheable);
enum edge_verdict reply_bytes(
    struct exchange *exchange, int status, struct span type, struct span headers, struct span body);
/* Signed by us, not expired, and not ended. */
bool session_good(const struct routes *routes, struct span token, struct session *session);
void answer_count(struct routes *routes, item_id item, enum answer answer);
/* The session's user, or 0 after writing the refusal to the exchange. */
user_id session_user(struct exchange *exchange);
/* The same with all of the session. */
bool session_of(struct exchange *exchange, struct session *session);
/* Whose units the asker sees: of the session, if there is one; else the shop's own page's. */
channel_index exchange_channel(const struct exchange *exchange);
struct span cors_headers(const struct routes *routes, uint8_t cors, char out[ORIGIN_BYTES_MAX + 64]);
/* routes.c */
/* "12" at the front of *path; the rest stays. */
bool path_number(struct span *path, uint32_t *number);

/* intents.c */
/* "/v1/items/12/intent" → 12 */
bool intent_path(struct span path, item_id *item);
/* The door is passed, and the item's units are taken on payment, or the user believes so (`asked`). */
__attribute__((cold)) enum edge_verdict purchase_on_payment(
    struct exchange *exchange, const struct door_result *result, item_id item, bool asked);

/* request_shape.c: false after writing the refusal: the query has a member that the route does not
 * take. `path`: under /v1. */
bool routes_query_taken(struct exchange *exchange, struct span path);
/* What an address takes, as the header Allow says it; NULL: there is no such address. */
const char *routes_allow(struct span path);

/* anomaly_notes.c */
extern const uint8_t watched_reasons[DOOR_REASONS]; /* enum watch_signal */
/* Out of line, and by value: what the door found stays in registers. */
__attribute__((noinline, cold)) void routes_watch_door(struct routes *routes,
    const struct address *client, enum door_reason reason, user_id user, item_id item);
/* After the door's answer. Most answers say nothing about who asked. */
static inline void routes_watch(struct routes *routes, const struct http_request *request,
    const struct door_result *result, item_id item)
{
    if (watched_reasons[result->reason] != WATCH_NOTHING)
        routes_watch_door(routes, request->client, result->reason, result->user, item);
}
void routes_watch_too_fast(struct exchange *exchange); /* the address */
void routes_watch_failed(struct exchange *exchange);   /* a bad session, token or challenge */
void routes_watch_failed_of(struct routes *routes, const struct address *client);
void routes_watch_seen(struct exchange *exchange, user_id user); /* a pass is given */
/* True after writing the refusal to the exchange. */
bool routes_banned(struct exchange *exchange, user_id user);
bool routes_address_banned(struct exchange *exchange);

/* public_requests.c */
/* Nobody new for now (a switch): no session, no pass, no place in a waiting room. */
static inline bool public_new_refused(const struct routes *routes)
{
    return switch_value(routes->shared.switches, SWITCH_REFUSE_NEW) != 0;
}
enum edge_verdict public_time(struct exchange *exchange);
enum edge_verdict public_shop(struct exchange *exchange);
enum edge_verdict public_sales(struct exchange *exchange);
enum edge_verdict public_sale(struct exchange *exchange, sale_id id);
enum edge_verdict public_item(struct exchange *exchange, item_id id);
enum edge_verdict public_session(struct exchange *exchange);
enum edge_verdict public_pass(struct exchange *exchange, item_id item);
enum edge_verdict public_ready(struct exchange *exchange);
enum edge_verdict public_metrics(struct exchange *exchange);

/* human_check.c */
enum edge_verdict public_challenge(struct exchange *exchange, item_id item);
/* True: the sale asks for no human check, or it is passed. False: answered. */
bool human_asked(struct exchange *exchange, const struct catalog_sale *sale, item_id item, user_id user);

/* order_requests.c */
enum edge_verdict orders_mine(struct exchange *exchange, item_id item);
enum edge_verdict orders_view(struct exchange *exchange, struct span id, bool by_ticket);
/* A request of a user that the worker answers (public_api.h); the path is under /v1. */
enum edge_verdict orders_public(struct exchange *exchange, struct span path);
/* Whether it is a payment provider's callback. `self` is not used. */
bool orders_callback(void *self, const struct http_request *request);
/* A request without a session that the worker answers (callbacks.c). */
enum edge_verdict orders_outside(struct exchange *exchange, bool callback);
enum edge_verdict orders_list(struct exchange *exchange);
void orders_ask_answered(struct routes *routes, uint32_t index, const struct outcome *outcome);
void orders_turn(struct routes *routes, uint64_t now_ms); /* jobs that came back, waits that are over */
void orders_create(struct routes *routes);
/* The answer to a request that was deferred. */
void complete_problem(struct routes *routes, const struct reply_to *to, enum problem problem);
enum { COMPLETE_BODY_MAX = 3 * 1024 }; /* of complete_json */
void complete_json(struct routes *routes, const struct reply_to *to, int status, const struct text *body);
/* Asks the inventory; NULL: refused, and told so. */
struct ask *ask_send(struct exchange *exchange, const struct command *command);
/* The same without an answer; NULL: no room. */
struct ask *ask_put(struct routes *routes, const struct reply_to *to, const struct command *command);
struct job_wish {
    enum job_kind kind;
    enum job_share share;
    user_id user; /* 0: nobody's */
    struct reply_to to;
};
struct job *job_take(struct routes *routes, const struct job_wish *wish); /* NULL: none for them */
/* NULL: refused, and told so. */
struct job *exchange_job(
    struct exchange *exchange, enum job_kind kind, enum job_share share, user_id user);
/* Answers how many bytes of the job's room are used. */
size_t job_fill(struct job *job, const struct http_request *request, struct span path);
struct span job_copy(struct job *job, size_t *used, struct span bytes); /* into what is left of it */
bool content_is_json(struct span type);
void job_hand_in(struct routes *routes, struct job *job);

/* admin_gate.c: a request of an operator; the path is under /admin. */
enum edge_verdict admin_request(struct exchange *exchange, struct span path);

/* waits.c */
bool waits_have_room(const struct routes *routes, user_id user);
void wait_start(struct routes *routes, const struct wait *wait); /* its first job */
void wait_add(struct routes *routes, const struct job *job);     /* one that came back: not yet */
void waits_news(struct routes *routes, ticket_number ticket, uint64_t now_ms); /* 0: of any */
void waits_turn(struct routes *routes, uint64_t now_ms);

/* repeat.c; `reply` has the refusal */
__attribute__((cold)) enum edge_verdict repeat_ask(struct routes *routes, uint64_t token,
    item_id item, const struct door_result *result, struct edge_reply *reply);
void repeat_answered(struct routes *routes, const struct ask *ask, const struct outcome *outcome);
/* media_upload.c: `name` is what follows /media/ */
enum edge_verdict media_request(struct exchange *exchange, struct span name);

/* waiting_room.c */
enum edge_verdict room_request(struct exchange *exchange, sale_id id); /* POST enters, GET looks */
void room_entered(struct routes *routes, const struct ask *ask, const struct outcome *outcome);
enum edge_verdict room_draw_request(struct exchange *exchange, sale_id id, bool arrivals);
/* Members of a JSON object: the sale, and where somebody stands. */
void room_standing_members(struct routes *routes, const struct catalog_sale *sale,
    const struct room_standing *standing, struct text *out);
/* Whether the user may have passes of this sale; false: refused, and told so. */
bool room_lets_in(struct exchange *exchange, const struct catalog_sale *sale, user_id user);
bool room_has_admitted(struct routes *routes, const struct catalog_sale *sale, user_id user);

#endif
