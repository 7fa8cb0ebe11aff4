/* SPDX-License-Identifier: Apache-2.0 */
/* api/problems_chinese.c: the details of refusals in Chinese, by the type of the problem. Each
 * type has one. */
#include "api/problems.h"

#include <string.h>

static const struct {
    const char *type, *detail;
} sentences[] = {
    { "sold-out", "已抢光或库存不足。" },
    { "already-bought", "您已购买过该商品，请查看 ticket。" },
    { "limit-reached", "已达到每人限购数量。" },
    { "open-order", "您在本场活动中有未支付的订单（见 ticket），请先支付或取消。" },
    { "cooling-down", "您刚刚放弃过该商品，请在 again_ms 之后再购买。" },
    { "not-your-moment", "这些商品正在抽签分配，请在 again_ms 再试。" },
    { "in-progress", "您的上一笔购买正在处理，请稍后再试。" },
    { "key-reused", "该 Idempotency-Key 已用于另一个请求。" },
    { "key-required", "可购买多件的商品必须带 Idempotency-Key。" },
    { "bad-key", "Idempotency-Key 必须是 1 到 64 个可见的 ASCII 字符。" },
    { "not-sold-out", "该商品尚未售罄，可直接购买。" },
    { "waitlist-full", "候补名单已满。" },
    { "not-waiting", "您不在该商品的候补名单中。" },
    { "not-started", "活动还没有开始。" },
    { "ended", "活动已结束。" },
    { "paused", "活动已暂停，请稍后再试。" },
    { "not-eligible", "本场活动仅限受邀用户参加。" },
    { "too-fast", "操作太快，稍后再试。" },
    { "too-popular", "太火爆了，请稍后再试。" },
    { "banned", "您暂时无法在本店购买，如有疑问请联系商城。" },
    { "unavailable", "暂时无法下单，请稍后再试。" },
    { "outcome-unknown", "操作可能已生效。请用相同的 Idempotency-Key 重发请求，或先查询当前状态。" },
    { "session-required", "请先登录：POST /v1/session，并带上 Authorization: Bearer。" },
    { "session-invalid", "登录已失效，请重新登录。" },
    { "token-invalid", "商城的登录凭证未被接受。" },
    { "pass-required", "请先领取购买资格：POST /v1/items/{item}/pass，并带上 Stampede-Pass。" },
    { "pass-invalid", "购买资格无效。" },
    { "pass-expired", "购买资格已过期，请重新领取。" },
    { "pass-foreign", "购买资格不属于该商品或该用户。" },
    { "pass-spent", "购买资格已使用（仅限购买一次），请重新领取。" },
    { "human-check-required", "请先完成验证并提交答案，见 kinds 和 challenge。" },
    { "human-check-failed", "验证答案有误、已过期或不属于该验证，请重新验证。" },
    { "human-check-spent", "该验证已使用过，请重新验证。" },
    { "human-check-refused", "验证失败次数过多，请一分钟后再试。" },
    { "not-your-turn", "本场活动需要排队，还没有轮到您。" },
    { "room-not-open", "本场活动的等候室还没有开放。" },
    { "not-in-room", "请先进入等候室：POST /v1/sales/{sale}/room。" },
    { "no-room", "本场活动没有等候室。" },
    { "bad-quantity", "数量必须是 1 到 1000 的整数。" },
    { "bad-channel", "没有这个渠道。" },
    { "bad-body", "请求内容的格式不符合要求。" },
    { "bad-value", "缺少某个值，或该值不被允许。" },
    { "bad-query", "查询参数不被允许，或其值有误。" },
    { "unknown-item", "没有这个商品，或该商品不在售。" },
    { "unknown-sale", "没有这场活动。" },
    { "unknown-order", "您没有这个订单或票据。" },
    { "pay-first", "该商品在开始付款时才锁定库存：POST /v1/items/{item}/intent。" },
    { "intent-invalid", "购买意向无效或已过期。" },
    { "order-closed", "订单已关闭，见 state 和 reason。" },
    { "already-paid", "订单已付款。" },
    { "already-shipped", "订单已发货。" },
    { "not-shipped", "订单尚未发货。" },
    { "not-paid", "只有已付款的订单才能退款。" },
    { "amount-mismatch", "金额或货币与订单不符，未作任何修改。" },
    { "reference-used", "该付款参考号已支付过另一个订单。" },
    { "payment-refused", "支付渠道拒绝了此付款。" },
    { "no-provider", "本店没有配置支付渠道。" },
    { "details-required", "请先填写收货信息：PUT /v1/orders/{order}/details。" },
    { "too-many-payments", "该订单尝试付款的次数过多。" },
    { "refund-not-allowed", "本店不接受或不再接受该订单的退货。" },
    { "signature-invalid", "签名有误、缺失或已过期。" },
    { "malformed-request", "请求不是正确的 HTTP 格式。" },
    { "admin-key-required", "请带上管理密钥：Authorization: Bearer。" },
    { "admin-role", "该密钥的角色不允许此操作。" },
    { "origin-not-allowed", "该来源的页面不能打开推送连接，见 cors.origins。" },
    { "upgrade-required", "请用 WebSocket（版本 13）连接该地址。" },
    { "not-found", "该地址没有内容。" },
    { "method-not-allowed", "该地址不支持这种请求方法。" },
    { "media-type", "请发送 application/json。" },
    { "conflict", "在当前状态下无法完成该操作。" },
    { "internal", "服务器内部出错，已记录。" },
};

static const char *by_problem[PROBLEMS];

void problems_chinese_create(void)
{
    for (int problem = PROBLEM_NONE + 1; problem < PROBLEMS; problem++)
        for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
            if (strcmp(problem_texts[problem].type, sentences[i].type) == 0)
                by_problem[problem] = sentences[i].detail;
}

const char *problem_chinese(enum problem problem)
{
    return by_problem[problem];
}
