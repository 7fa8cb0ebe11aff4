// SPDX-License-Identifier: Apache-2.0
// A stand-in for Alipay's gateway. The signatures are the business of the SDK: it checks our requests, signs
// what is answered and called back, and each answer and callback must pass the SDK's own check before it
// leaves. As at the real gateway, a precreated trade is unknown until somebody has scanned its code.
import { AlipaySdk } from 'alipay-sdk';
import { deliver, keep, keyPair, serve } from './standin.mjs';

// The SDK is a client and keeps this to itself; it is the same code that signs its requests.
const { signatureV3 } = await import(new URL('./node_modules/alipay-sdk/dist/esm/util.js', import.meta.url));

const APP_ID = '2021000000000001';
const SELLER_ID = '2088000000000001';
const shop = keyPair();
const platform = keyPair();
const sdkOf = (ours, theirs, gateway) => new AlipaySdk({
  appId: APP_ID, privateKey: ours.privateKey, alipayPublicKey: theirs.publicKey, keyType: 'PKCS8', gateway,
});
const asPlatform = sdkOf(platform, shop);
const asShop = sdkOf(shop, platform);
const trades = new Map(); // by out_trade_no
let port = 0;

const fen = (yuan) => {
  const [whole, part = ''] = yuan.split('.');
  return BigInt(whole) * 100n + BigInt(part.padEnd(2, '0'));
};
const yuan = (amount) => `${amount / 100n}.${String(amount % 100n).padStart(2, '0')}`;
const beijing = (ms) => new Date(ms + 8 * 3600_000).toISOString().slice(0, 19).replace('T', ' ');

const failed = (subCode, subMessage = subCode) => ({ code: '40004', msg: 'Business Failed', sub_code: subCode, sub_msg: subMessage });
const done = (members) => ({ code: '10000', msg: 'Success', ...members });

function create(content, params) {
  const known = trades.get(content.out_trade_no);
  if (known && known.status === 'TRADE_SUCCESS') return failed('ACQ.TRADE_HAS_SUCCESS');
  if (known && known.status === 'TRADE_CLOSED') return failed('ACQ.TRADE_HAS_CLOSE');
  if (known && known.amount !== fen(content.total_amount)) return failed('ACQ.CONTEXT_INCONSISTENT');
  if (!content.subject || !/^\d+\.\d\d$/.test(content.total_amount)) return failed('ACQ.INVALID_PARAMETER');
  if (!known) {
    const number = `2026${String(trades.size + 1).padStart(20, '0')}`;
    trades.set(content.out_trade_no, { reference: content.out_trade_no, number, subject: content.subject,
      amount: fen(content.total_amount), notify: params.notify_url, status: 'NOT_SCANNED', refunds: new Map() });
  }
  return done({ out_trade_no: content.out_trade_no, qr_code: `https://qr.alipay.com/${content.out_trade_no}` });
}

const acts = {
  'alipay.trade.precreate': create,
  'alipay.trade.query': (content) => {
    const trade = trades.get(content.out_trade_no);
    if (!trade || trade.status === 'NOT_SCANNED') return failed('ACQ.TRADE_NOT_EXIST', '交易不存在');
    return done({ buyer_logon_id: 'a**@example.com', out_trade_no: trade.reference, total_amount: yuan(trade.amount),
      trade_no: trade.number, trade_status: trade.status });
  },
  'alipay.trade.close': (content) => {
    const trade = trades.get(content.out_trade_no);
    if (!trade || trade.status === 'NOT_SCANNED') return failed('ACQ.TRADE_NOT_EXIST', '交易不存在');
    if (trade.status !== 'WAIT_BUYER_PAY') return failed('ACQ.TRADE_STATUS_ERROR', '交易状态不合法');
    trade.status = 'TRADE_CLOSED';
    return done({ out_trade_no: trade.reference, trade_no: trade.number });
  },
  'alipay.trade.refund': (content) => {
    const trade = trades.get(content.out_trade_no);
    if (!trade || trade.status === 'NOT_SCANNED') return failed('ACQ.TRADE_NOT_EXIST', '交易不存在');
    const amount = fen(content.refund_amount);
    const before = trade.refunds.get(content.out_request_no);
    let refunded = 0n;
    for (const each of trade.refunds.values()) refunded += each;
    if (before === undefined && (trade.status !== 'TRADE_SUCCESS' || refunded + amount > trade.amount)) {
      return failed('ACQ.REFUND_AMT_NOT_EQUAL_TOTAL');
    }
    if (before === undefined) trade.refunds.set(content.out_request_no, amount);
    if (before === undefined && refunded + amount === trade.amount) trade.status = 'TRADE_CLOSED';
    return done({ out_trade_no: trade.reference, trade_no: trade.number, fund_change: before === undefined ? 'Y' : 'N',
      refund_fee: yuan(refunded + (before === undefined ? amount : 0n)) });
  },
  'alipay.trade.fastpay.refund.query': (content) => {
    const amount = trades.get(content.out_trade_no)?.refunds.get(content.out_request_no);
    if (amount === undefined) return done({});
    return done({ out_trade_no: content.out_trade_no, out_request_no: content.out_request_no,
      refund_amount: yuan(amount), refund_status: 'REFUND_SUCCESS' });
  },
};

/** The SDK's rule for requests: all parameters but sign, sign_type among them. */
function isSigned(params) {
  const { sign, ...rest } = params;
  return Boolean(sign) && params.sign_type === 'RSA2' && asPlatform.notifyRSACheck(rest, sign, 'RSA2', true);
}

function signedAnswer(name, content) {
  const text = JSON.stringify(content);
  const body = `{"${name}":${text},"sign":"${signatureV3(text, asPlatform.config.privateKey)}"}`;
  asShop.checkResponseSign(body, name, JSON.parse(body).sign, ''); // throws if the SDK would not take it
  return { status: 200, headers: { 'Content-Type': 'text/html;charset=utf-8' }, body };
}

function handle({ method, path, query, body }) {
  if (path !== '/gateway.do') return { status: 404 };
  const params = Object.fromEntries(query);
  if (method === 'POST') Object.assign(params, Object.fromEntries(new URLSearchParams(body)));
  if (params.app_id !== APP_ID || !isSigned(params)) {
    const text = JSON.stringify({ code: '40002', msg: 'Invalid Arguments', sub_code: 'isv.invalid-signature' });
    return { status: 200, body: `{"error_response":${text}}` }; // the gateway does not sign this one
  }
  const content = JSON.parse(params.biz_content);
  if (params.method === 'alipay.trade.page.pay') {
    create(content, params);
    trades.get(content.out_trade_no).status = 'WAIT_BUYER_PAY';
    return { status: 200, body: `page for ${content.out_trade_no}` };
  }
  if (params.charset !== 'utf-8' || params.version !== '1.0' || !acts[params.method]) return { status: 400 };
  return signedAnswer(`${params.method.replaceAll('.', '_')}_response`, acts[params.method](content, params));
}

function callbackOf(trade, query) {
  const now = beijing(Date.now() + 1000 * Number(query.get('shift_s') ?? 0));
  const params = {
    notify_time: now, notify_type: 'trade_status_sync', notify_id: `n${Date.now()}`, charset: 'utf-8', version: '1.0',
    app_id: query.get('app_id') ?? APP_ID, auth_app_id: APP_ID, seller_id: query.get('seller_id') ?? SELLER_ID,
    trade_no: trade.number, out_trade_no: trade.reference, trade_status: query.get('status') ?? trade.status,
    total_amount: yuan(trade.amount), subject: trade.subject, gmt_create: now, gmt_payment: now,
    fund_bill_list: `[{"amount":"${yuan(trade.amount)}","fundChannel":"ALIPAYACCOUNT"}]`,
  };
  const text = Object.keys(params).sort().map((name) => `${name}=${params[name]}`).join('&');
  const all = { ...params, sign: signatureV3(text, asPlatform.config.privateKey), sign_type: 'RSA2' };
  if (!asShop.checkNotifySignV2(all)) throw new Error('the SDK does not take this callback');
  return { headers: { 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8' },
    body: new URLSearchParams(all).toString() };
}

const tests = {
  state: (query) => {
    const { status, refunds } = trades.get(query.get('reference'));
    return { state: status, refunds: [...refunds.values()].map(Number) };
  },
  scan: (query) => {
    const trade = trades.get(query.get('reference'));
    if (trade.status === 'NOT_SCANNED') trade.status = 'WAIT_BUYER_PAY';
    return { status: trade.status };
  },
  pay: async (query) => {
    const trade = trades.get(query.get('reference'));
    if (!['NOT_SCANNED', 'WAIT_BUYER_PAY'].includes(trade.status)) return { refused: trade.status };
    trade.status = 'TRADE_SUCCESS';
    if (query.has('amount')) trade.amount = BigInt(query.get('amount'));
    const callback = callbackOf(trade, query);
    return { callback, receipt: query.has('send') ? await deliver(trade.notify, callback) : null };
  },
  callback: (query) => ({ callback: callbackOf(trades.get(query.get('reference')), query) }),
  sdk: async () => {
    const client = sdkOf(shop, platform, `http://127.0.0.1:${port}/gateway.do`);
    const content = { out_trade_no: 'sdk-1', total_amount: '0.01', subject: '测试' };
    const made = await client.exec('alipay.trade.precreate', { bizContent: content }, { validateSign: true });
    const asked = await client.exec('alipay.trade.query', { bizContent: { out_trade_no: 'sdk-1' } }, { validateSign: true });
    return { made: made.code, asked: asked.subCode };
  },
};

const settings = {
  app_id: APP_ID, seller_id: SELLER_ID,
  private_key_file: keep('shop_private.pem', shop.privateKey),
  public_key_file: keep('alipay_public.pem', platform.publicKey),
};
keep('shop_public.pem', shop.publicKey);
serve(handle, tests, (given) => {
  port = given;
  return { gateway: `http://127.0.0.1:${port}/gateway.do`, ...settings };
});
