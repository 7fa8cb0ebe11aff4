/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/mails.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/secret_file.h"
#include "base/text.h"
#include "base/time_text.h"
#include "config/config.h"
#include "contract/currency.h"
#include "contract/remedy.h"
#include "funnel/keys.h"
#include "outgoing/mail.h"
#include "worker/alarms.h"
#include "worker/order_views.h"
#include "worker/outgoing_calls.h"
#include "worker/task.h"

#include <stdio.h>
#include <string.h>

enum {
    MAILS_FLIGHT_MAX = 8,
    DUE_ROWS = 2 * MAILS_FLIGHT_MAX,
    AWAY_PAUSE_MS = 1000,
    COUNT_EVERY_MS = 5000
};
static_assert((int)MAIL_LOST_MS > (int)MAIL_TIMEOUT_MS, "a mail that is on its way is not lost");

#define RESULT(variable, label) \
    COUNTER_OF(variable, "stampede_mails_total", "result=\"" label "\"", \
        "Attempts to send a mail to a customer, by result")
RESULT(sent_total, "sent");
RESULT(again_total, "retried");
RESULT(failed_total, "failed");

struct mail_flight {
    struct mail_row mail; /* id 0: a free place */
    bool answered;
};

struct mails {
    struct mails_config config;
    struct task *task;
    bool on;
    struct mail_server server;
    struct random random;
    struct mail_flight flights[MAILS_FLIGHT_MAX];
    uint32_t flight_count;
    uint64_t look_ms, count_ms;
};

static const struct remedy_store_ops *remedy_of(const struct mails *mails)
{
    return mails->config.store->ops->remedy;
}

void mails_look(struct mails *mails)
{
    mails->look_ms = 0;
    if (mails->on)
        task_wake(mails->task);
}

bool mails_enabled(const struct mails *mails)
{
    return mails->on;
}

static enum status note_write(struct mails *mails, const struct mail_row *mail, const char *text)
{
    struct remedy_note note = {
        .case_id = mail->case_id, .ticket = mail->ticket, .time_ms = clock_now_ms(), .way = "mail"
    };
    snprintf(note.actor, sizeof note.actor, REMEDY_ACTOR_SERVER);
    snprintf(note.text, sizeof note.text, "%s", text);
    return remedy_of(mails)->note_add(mails->config.store, &note);
}

/* ---- the text ---- */

static void money_text(uint64_t minor, const char *currency, char out[AMOUNT_CHARS_MAX + 8])
{
    char amount[AMOUNT_CHARS_MAX];
    unsigned digits = 0;
    if (!currency_find(span_from_string(currency), &digits))
        digits = 0;
    amount_format(minor, digits, amount);
    snprintf(out, AMOUNT_CHARS_MAX + 8, "%s %.3s", amount, currency);
}

static const char *const said_chinese[] = {
    [REMEDY_REFUND] = "很抱歉，您的订单无法发货。您支付的全部款项将原路退回。",
    [REMEDY_WAIT] = "很抱歉，您的订单需要等待补货，到货后将立即发出。",
    [REMEDY_SUBSTITUTE] = "很抱歉，您订购的商品已缺货，我们将为您更换其他商品。",
    [REMEDY_SHIP_AT_LOSS] = "您的订单将照常发货，只是会晚一些。",
};
static const char *const said_english[] = {
    [REMEDY_REFUND] =
        "We are sorry: we can't deliver your order. All that you paid goes back to you.",
    [REMEDY_WAIT] =
        "We are sorry: your order has to wait for new stock. We send it as soon as that is here.",
    [REMEDY_SUBSTITUTE] =
        "We are sorry: what you ordered is gone. We send you another product instead.",
    [REMEDY_SHIP_AT_LOSS] = "Your order will be delivered, only somewhat later.",
};

static_assert(sizeof said_chinese / sizeof *said_chinese == REMEDY_DISMISS
        && sizeof said_english / sizeof *said_english == REMEDY_DISMISS,
    "a text for each that a customer hears of");

static void text_write(struct mails *mails, const struct mail_row *mail,
    const struct remedy_order *done, struct text *out)
{
    char value[AMOUNT_CHARS_MAX + 8], until[TIME_TEXT_BYTES];
    const unsigned long long order = funnel_order_id(mails->config.views->keys, mail->ticket);
    const char *chinese = said_chinese[done->remedy], *english = said_english[done->remedy];
    money_text(done->coupon_value, done->currency, value);
    time_text_format(done->coupon_until_ms, until);
    text_format(out, "订单 %016llx\n\n%s\n", order, chinese == NULL ? "" : chinese);
    if (done->coupon[0] != '\0')
        text_format(out, "为表歉意，送您优惠券 %s，价值 %s，有效期至 %.10s。\n", done->coupon,
            value, until);
    if (done->note[0] != '\0')
        text_format(out, "%s\n", done->note);
    text_format(out, "\n----\n\nOrder %016llx\n\n%s\n", order, english == NULL ? "" : english);
    if (done->coupon[0] != '\0')
        text_format(out, "To say sorry, here is a coupon: %s, worth %s, valid until %.10s.\n",
            done->coupon, value, until);
    if (done->note[0] != '\0')
        text_format(out, "%s\n", done->note);
}

/* ---- sending ---- */

static struct mail_flight *flight_find(struct mails *mails, uint64_t id)
{
    for (uint32_t i = 0; i < MAILS_FLIGHT_MAX; i++)
        if (mails->flights[i].mail.id == id)
            return &mails->flights[i];
    return NULL;
}

/* Marks it, and says so if it may have been sent before. */
static enum status mail_mark(struct mails *mails, const struct mail_row *mail, uint64_t now_ms)
{
    enum status status = STATUS_OK;
    if (mail->state == MAIL_SENDING) {
        log_warn("mails", "mail %llu was being sent when the server stopped: it is sent again",
            (unsigned long long)mail->id);
        status = note_write(mails,
            mail, "The server stopped while this mail was being sent. It is sent again and may come twice.");
    }
    return status == STATUS_OK
        ? remedy_of(mails)->mail_sending(mails->config.store, mail->id, now_ms + MAIL_LOST_MS)
        : status;
}

/* False: not now. */
static bool mail_send(struct mails *mails, const struct mail_row *mail, uint64_t now_ms)
{
    char bytes[8 * 1024], id[64], subject[128];
    struct text text = text_in(bytes, sizeof bytes);
    struct remedy_order done;
    struct mail_flight *flight = flight_find(mails, 0);
    enum status status =
        remedy_of(mails)->order(mails->config.store, mail->case_id, mail->ticket, &done);
    struct outgoing_call *call = status == STATUS_OK ? outgoing_call_take(mails->config.calls) : NULL;
    if (call == NULL)
        return false;
    text_write(mails, mail, &done, &text);
    snprintf(id, sizeof id, "case.%llu.%llu", (unsigned long long)mail->case_id,
        (unsigned long long)mail->id);
    snprintf(subject, sizeof subject, "关于您的订单 / About your order %016llx",
        (unsigned long long)funnel_order_id(mails->config.views->keys, mail->ticket));
    const struct mail_message message = { mail->address, subject, text_span(&text), id, clock_wall_ms() };
    status = text.overflow ? STATUS_FULL : mail_request(&mails->server, &message, call);
    invariant(status == STATUS_OK); /* its parts are bounded */
    if (mail_mark(mails, mail, now_ms) != STATUS_OK) {
        outgoing_call_give(mails->config.calls, call);
        return false;
    }
    *flight = (struct mail_flight){ .mail = *mail };
    flight->mail.tries++;
    mails->flight_count++;
    outgoing_call_send(mails->config.calls, CALL_MAILS, mail->id, call);
    return true;
}

static void due_send(struct mails *mails, uint64_t now_ms)
{
    struct mail_row rows[DUE_ROWS];
    uint32_t count = 0;
    uint64_t next_ms = 0;
    if (now_ms < mails->look_ms || mails->flight_count == MAILS_FLIGHT_MAX)
        return;
    if (remedy_of(mails)->mails_due(mails->config.store, now_ms, rows, DUE_ROWS, &count, &next_ms)
        != STATUS_OK) {
        mails->look_ms = now_ms + AWAY_PAUSE_MS;
        return;
    }
    mails->look_ms = count == DUE_ROWS ? now_ms + AWAY_PAUSE_MS : next_ms;
    for (uint32_t i = 0; i < count; i++) {
        if (flight_find(mails, rows[i].id) != NULL)
            continue;
        if (mails->flight_count == MAILS_FLIGHT_MAX || !mail_send(mails, &rows[i], now_ms)) {
            mails->look_ms = now_ms + AWAY_PAUSE_MS;
            return;
        }
    }
}

/* ---- answers ---- */

static void call_answered(void *self, uint64_t id, const struct outgoing_call *call)
{
    struct mails *mails = self;
    struct mail_flight *flight = flight_find(mails, id);
    invariant(id != 0 && flight != NULL && !flight->answered);
    struct mail_row *mail = &flight->mail;
    const enum mail_verdict verdict = mail_judge(call);
    uint64_t delay_ms = 0;
    flight->answered = true;
    mail->error[0] = '\0';
    mail->next_ms = mail->sent_ms = 0;
    if (verdict == MAIL_TAKEN) {
        mail->state = MAIL_SENT;
        mail->sent_ms = clock_now_ms();
        metric_add(&sent_total, 1);
    } else {
        snprintf(mail->error, sizeof mail->error, "%s%d %.100s",
            verdict == MAIL_UNSURE ? "it may have been taken: " : "", call->status, call->error);
        const bool again = verdict != MAIL_REFUSED && mail_delay(mail->tries, &mails->random, &delay_ms);
        mail->state = again ? MAIL_WAITING : MAIL_FAILED;
        mail->next_ms = again ? clock_now_ms() + delay_ms : 0;
        metric_add(again ? &again_total : &failed_total, 1);
        log_warn("mails", "mail %llu was not accepted (%s), attempt %u%s",
            (unsigned long long)mail->id, mail->error, mail->tries, again ? "" : ": given up");
    }
    task_wake(mails->task);
}

static enum status answer_write(struct mails *mails, const struct mail_row *mail)
{
    char text[CASE_TEXT_MAX + 1];
    if (mail->state == MAIL_SENT)
        snprintf(text, sizeof text, "A mail was sent to %s.", mail->address);
    else
        snprintf(text, sizeof text, "The mail to %.60s was not accepted, attempt %u: %.160s. %s",
            mail->address, mail->tries, mail->error,
            mail->state == MAIL_FAILED ? "Given up." : "It is tried again.");
    enum status status = remedy_of(mails)->mail_settle(mails->config.store, mail);
    return status == STATUS_OK ? note_write(mails, mail, text) : status;
}

static void answers_settle(struct mails *mails, uint64_t now_ms)
{
    for (uint32_t i = 0; i < MAILS_FLIGHT_MAX; i++) {
        struct mail_flight *flight = &mails->flights[i];
        if (!flight->answered)
            continue;
        if (answer_write(mails, &flight->mail) != STATUS_OK) {
            mails->look_ms = now_ms + AWAY_PAUSE_MS;
            return; /* later: its place stays taken, so that it is not sent once more */
        }
        *flight = (struct mail_flight){ .answered = false };
        mails->flight_count--;
        mails->look_ms = 0;
    }
}

static void failed_count(struct mails *mails, uint64_t now_ms)
{
    uint64_t count = 0;
    if (now_ms < mails->count_ms)
        return;
    mails->count_ms = now_ms + COUNT_EVERY_MS;
    if (remedy_of(mails)->mails_failed(mails->config.store, &count) == STATUS_OK)
        alarm_set(ALARM_MAIL_FAILED, count > 0, now_ms,
            "%llu mails to customers were given up: see the logs of the cases",
            (unsigned long long)count);
}

static uint64_t mails_turn(void *self, uint64_t now_ms)
{
    struct mails *mails = self;
    if (!mails->on)
        return TASK_IDLE;
    answers_settle(mails, now_ms);
    failed_count(mails, now_ms);
    due_send(mails, now_ms);
    return mails->look_ms < mails->count_ms ? mails->look_ms : mails->count_ms;
}

static void mails_close(void *self)
{
    struct mails *mails = self;
    explicit_bzero(&mails->server, sizeof mails->server);
    mails->on = false;
}

enum status mails_open(struct mails **out, struct arena *arena, const struct mails_config *with,
    struct task *task, char *error)
{
    const struct config *config = with->config;
    struct mails *mails = arena_take(arena, 1, sizeof *mails);
    size_t size = 0;
    *out = mails;
    *mails = (struct mails){ .config = *with, .task = task };
    *task = (struct task){
        .name = "mails", .self = mails, .turn = mails_turn, .close = mails_close, .rests = true
    };
    outgoing_calls_listen(with->calls, CALL_MAILS, call_answered, mails);
    if (config->mail_server[0] == '\0')
        return STATUS_OK;
    snprintf(mails->server.url, sizeof mails->server.url, "%s", config->mail_server);
    snprintf(mails->server.from, sizeof mails->server.from, "%.*s", MAIL_ADDRESS_MAX, config->mail_from);
    snprintf(mails->server.login.user, sizeof mails->server.login.user, "%.*s", OUTGOING_LOGIN_MAX,
        config->mail_user);
    if (config->mail_password_file[0] != '\0'
        && (secret_file_read(config->mail_password_file, mails->server.login.password,
                sizeof mails->server.login.password - 1, &size)
                != STATUS_OK
            || size == 0)) {
        snprintf(error, CONFIG_ERROR, "mail.password_file must be readable and hold up to %d bytes",
            OUTGOING_LOGIN_MAX);
        return STATUS_BAD_INPUT;
    }
    mails->server.login.password[size] = '\0';
    random_seed(&mails->random, clock_monotonic_ns());
    mails->on = true;
    return STATUS_OK;
}
