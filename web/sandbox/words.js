// SPDX-License-Identifier: Apache-2.0
/* What the pay page of the sandbox says, beside words.js: the storefront does not load it. */

const en = {
    'sandbox.page': 'Sandbox payment',
    'sandbox.banner': 'Sandbox: no real money',
    'sandbox.title': 'Pay {amount}',
    'sandbox.what': 'For',
    'sandbox.reference': 'Reference',
    'sandbox.until': 'Until',
    'sandbox.rehearse': 'Or rehearse what can go wrong',
    'sandbox.how.pay': 'Pay {amount}',
    'sandbox.how.lost': 'Pay, and the callback gets lost',
    'sandbox.how.twice': 'Pay, and the callback comes twice',
    'sandbox.how.late': 'Pay, and the callback comes late',
    'sandbox.how.wrong-amount': 'Pay, and the callback tells a wrong amount',
    'sandbox.how.decline': 'Decline',
    'sandbox.loading': 'Loading the payment…',
    'sandbox.none': 'There is no such payment.',
    'sandbox.trouble': 'No answer from the sandbox. Please try again.',
    'sandbox.captured': 'This is paid.',
    'sandbox.closed': 'This payment is closed. Nothing was taken.',
    'sandbox.refunded': 'This was paid and has gone back.',
    'sandbox.back': 'Back to the shop',
};

const zh = {
    'sandbox.page': '沙盒支付',
    'sandbox.banner': '沙盒：不是真钱',
    'sandbox.title': '支付 {amount}',
    'sandbox.what': '商品',
    'sandbox.reference': '流水号',
    'sandbox.until': '截止时间',
    'sandbox.rehearse': '或演练异常情况',
    'sandbox.how.pay': '支付 {amount}',
    'sandbox.how.lost': '支付成功，但回调丢失',
    'sandbox.how.twice': '支付成功，回调发送两次',
    'sandbox.how.late': '支付成功，回调延迟到达',
    'sandbox.how.wrong-amount': '支付成功，但回调金额有误',
    'sandbox.how.decline': '拒绝支付',
    'sandbox.loading': '正在加载…',
    'sandbox.none': '没有这笔支付。',
    'sandbox.trouble': '沙盒没有回应，请再试一次。',
    'sandbox.captured': '已支付。',
    'sandbox.closed': '该支付已关闭，未扣款。',
    'sandbox.refunded': '已支付并已退款。',
    'sandbox.back': '返回商城',
};

export const SANDBOX_WORDS = { en, 'zh-CN': zh };
