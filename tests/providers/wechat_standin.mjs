// SPDX-License-Identifier: Apache-2.0
// A stand-in for WeChat Pay's API v3. Formatter, Rsa and Aes of the SDK write and check every signature and
// seal the callbacks; a request whose Authorization the SDK can't confirm is refused like the real one does.
import sdk from 'wechatpay-axios-plugin';
import { randomBytes } from 'node:crypto';
import { deliver, keep, keyPair, serve } from './standin.mjs';

const { Aes, Formatter, Rsa, Wechatpay } = sdk;
const MCHID = '1900000001';
const APPID = 'wx0000000000000001';
const SERIAL = '5157F09EFDC096DE15EBE81A47057A7232F1B8E1';
const PLATFORM_SERIAL = 'PUB_KEY_ID_0119000000012026111100000001';
const FRESH_S = 300;
const shop = keyPair();
const platform = keyPair();
const apiKey = randomBytes(16).toString('hex');
const orders = new Map(); // by out_trade_no
const refunds = new Map(); // by out_refund_no
const nonces = new Set();
let port = 0;

function signed(status, content, shift_s = 0) {
  const body = content === undefined ? '' : JSON.stringify(content);
  const timestamp = String(Formatter.timestamp() + shift_s);
  const nonce = Formatter.nonce();
  const signature = Rsa.sign(Formatter.response(timestamp, nonce, body), platform.privateKey);
  return { status, body, headers: { 'Content-Type': 'application/json; charset=utf-8', 'Wechatpay-Timestamp': timestamp,
    'Wechatpay-Nonce': nonce, 'Wechatpay-Signature': signature, 'Wechatpay-Serial': PLATFORM_SERIAL } };
}
const failure = (status, code, message = code) => signed(status, { code, message });

/** The request is the shop's, fresh, and its nonce is new. */
function isSigned({ method, target, headers, body }) {
  const [scheme, rest = ''] = (headers.authorization ?? '').split(' ');
  const parts = Object.fromEntries([...rest.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
  const text = Formatter.request(method, target, parts.timestamp, parts.nonce_str, body);
  const fresh = Math.abs(Formatter.timestamp() - Number(parts.timestamp)) <= FRESH_S && !nonces.has(parts.nonce_str);
  const good = scheme === 'WECHATPAY2-SHA256-RSA2048' && parts.mchid === MCHID && parts.serial_no === SERIAL && fresh
    && Rsa.verify(text, parts.signature ?? '', shop.publicKey);
  if (good) nonces.add(parts.nonce_str);
  return good;
}

const transaction = (order) => ({
  mchid: MCHID, appid: APPID, out_trade_no: order.reference, trade_state: order.state,
  trade_state_desc: order.state, trade_type: 'NATIVE',
  ...(order.state === 'SUCCESS' || order.state === 'REFUND' ? { transaction_id: order.number, bank_type: 'OTHERS',
    success_time: new Date().toISOString(), payer: { openid: 'o1' } } : {}),
  amount: { total: order.amount, payer_total: order.amount, currency: 'CNY', payer_currency: 'CNY' },
});

function create(kind, content) {
  const known = orders.get(content.out_trade_no);
  if (content.mchid !== MCHID || content.appid !== APPID || !content.description || !content.notify_url
    || !Number.isSafeInteger(content.amount?.total) || (kind === 'h5' && !content.scene_info?.payer_client_ip)
    || !/^[0-9a-zA-Z_\-|*@]{6,32}$/.test(content.out_trade_no)) return failure(400, 'PARAM_ERROR');
  if (known && known.state === 'SUCCESS') return failure(400, 'ORDERPAID');
  if (known && known.state === 'CLOSED') return failure(400, 'ORDER_CLOSED');
  if (known && known.amount !== content.amount.total) return failure(400, 'INVALID_REQUEST');
  if (!known) {
    orders.set(content.out_trade_no, { reference: content.out_trade_no, amount: content.amount.total, state: 'NOTPAY',
      number: `4200${String(orders.size + 1).padStart(24, '0')}`, notify: content.notify_url });
  }
  return signed(200, kind === 'h5' ? { h5_url: `https://wx.tenpay.com/cgi-bin/mmpayweb-bin/checkmweb?prepay_id=${content.out_trade_no}` }
    : { code_url: `weixin://wxpay/bizpayurl?pr=${content.out_trade_no}` });
}

function close(order) {
  if (!order) return failure(404, 'ORDER_NOT_EXIST', '订单不存在');
  if (order.state === 'SUCCESS' || order.state === 'REFUND') return failure(400, 'ORDERPAID', '订单已支付');
  order.state = 'CLOSED';
  return signed(204);
}

function refund(content) {
  const order = orders.get(content.out_trade_no);
  if (!order) return failure(404, 'RESOURCE_NOT_EXISTS', '订单不存在');
  if (!refunds.has(content.out_refund_no)) {
    if (order.state !== 'SUCCESS' || content.amount.total !== order.amount || content.amount.refund > order.amount) {
      return failure(400, 'INVALID_REQUEST', '订单不能退款');
    }
    refunds.set(content.out_refund_no, { refund_id: `5030${String(refunds.size + 1).padStart(24, '0')}`,
      out_refund_no: content.out_refund_no, out_trade_no: order.reference, transaction_id: order.number, status: 'PROCESSING',
      amount: { total: order.amount, refund: content.amount.refund, payer_total: order.amount, currency: 'CNY' } });
    order.state = 'REFUND';
  }
  return signed(200, refunds.get(content.out_refund_no));
}

function handle(asked) {
  const { method, path, query, body } = asked;
  if (!isSigned(asked)) return { status: 401, body: '{"code":"SIGN_ERROR","message":"签名错误"}' }; // itself not signed
  const content = body === '' ? {} : JSON.parse(body);
  const [, kind] = /^\/v3\/pay\/transactions\/(native|h5)$/.exec(path) ?? [];
  if (method === 'POST' && kind) return create(kind, content);
  const [, reference, closing] = /^\/v3\/pay\/transactions\/out-trade-no\/([^/]+)(\/close)?$/.exec(path) ?? [];
  if (method === 'POST' && closing) return content.mchid === MCHID ? close(orders.get(reference)) : failure(400, 'PARAM_ERROR');
  if (method === 'GET' && reference && query.get('mchid') === MCHID) {
    return orders.has(reference) ? signed(200, transaction(orders.get(reference))) : failure(404, 'ORDER_NOT_EXIST');
  }
  if (method === 'POST' && path === '/v3/refund/domestic/refunds') return refund(content);
  const [, key] = /^\/v3\/refund\/domestic\/refunds\/([^/]+)$/.exec(path) ?? [];
  if (method === 'GET' && key) {
    if (!refunds.has(key)) return failure(404, 'RESOURCE_NOT_EXISTS');
    refunds.get(key).status = 'SUCCESS'; // on its way at first, there when asked
    return signed(200, refunds.get(key));
  }
  return failure(404, 'NOT_FOUND');
}

function callbackOf(order, query) {
  const inner = { ...transaction(order), ...(query.has('mchid') ? { mchid: query.get('mchid') } : {}),
    ...(query.has('appid') ? { appid: query.get('appid') } : {}) };
  const nonce = Formatter.nonce(12);
  const ciphertext = Aes.AesGcm.encrypt(JSON.stringify(inner), query.get('key') ?? apiKey, nonce, 'transaction');
  const { headers, body } = signed(200, {
    id: `EV-${Date.now()}`, create_time: new Date().toISOString(), resource_type: 'encrypt-resource',
    event_type: query.get('event') ?? 'TRANSACTION.SUCCESS', summary: '支付成功',
    resource: { original_type: 'transaction', algorithm: 'AEAD_AES_256_GCM', ciphertext, associated_data: 'transaction', nonce },
  }, Number(query.get('shift_s') ?? 0));
  return { headers, body };
}

const tests = {
  state: (query) => ({ state: orders.get(query.get('reference')).state,
    refunds: [...refunds.values()].filter((each) => each.out_trade_no === query.get('reference')).map((each) => each.amount.refund) }),
  pay: async (query) => {
    const order = orders.get(query.get('reference'));
    if (order.state !== 'NOTPAY') return { refused: order.state };
    order.state = 'SUCCESS';
    if (query.has('amount')) order.amount = Number(query.get('amount'));
    const callback = callbackOf(order, query);
    return { callback, receipt: query.has('send') ? await deliver(order.notify, callback) : null };
  },
  callback: (query) => ({ callback: callbackOf(orders.get(query.get('reference')), query) }),
  sdk: async () => {
    const client = new Wechatpay({ mchid: MCHID, serial: SERIAL, privateKey: shop.privateKey,
      certs: { [PLATFORM_SERIAL]: platform.publicKey }, baseURL: `http://127.0.0.1:${port}/` });
    const made = await client.v3.pay.transactions.native.post({ mchid: MCHID, appid: APPID, description: '测试',
      out_trade_no: 'sdk-00001', notify_url: 'http://127.0.0.1/', amount: { total: 1, currency: 'CNY' } });
    const asked = await client.v3.pay.transactions.outTradeNo['{id}'].get({ params: { mchid: MCHID }, id: 'sdk-00001' });
    return { made: made.data.code_url, asked: asked.data.trade_state };
  },
};

const settings = {
  mchid: MCHID, appid: APPID, serial: SERIAL, platform_serial: PLATFORM_SERIAL,
  private_key_file: keep('shop_private.pem', shop.privateKey),
  api_v3_key_file: keep('api_v3_key', apiKey),
  platform_file: keep('platform_public.pem', platform.publicKey),
};
serve(handle, tests, (given) => {
  port = given;
  return { base: `http://127.0.0.1:${port}`, ...settings };
});
