// SPDX-License-Identifier: Apache-2.0
// The stand-in against Stripe's own client: what the client understands, and what the vectors of
// tests/unit/payment/stripe_test.c are, is what Stripe's package says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import Stripe from "stripe";
import { Standin } from "./standin.mjs";

const key = "sk_test_123";
const webhookSecret = "whsec_test_secret";
const standin = new Standin({ key, webhookSecret });
let stripe;

before(async () => {
    const { hostname: host, port } = new URL(await standin.listen());
    stripe = new Stripe(key, { host, port, protocol: "http", maxNetworkRetries: 0, telemetry: false });
});
after(() => standin.server.close());

const order = (reference) => ({
    mode: "payment", client_reference_id: reference, metadata: { reference }, success_url: "https://shop.example/",
    line_items: [{ quantity: 1, price_data: { currency: "eur", unit_amount: 500, product_data: { name: "tea" } } }],
});

test("the same key gives the same session, and another body with it is refused", async () => {
    const first = await stripe.checkout.sessions.create(order("a"), { idempotencyKey: "a" });
    const again = await stripe.checkout.sessions.create(order("a"), { idempotencyKey: "a" });
    assert.equal(again.id, first.id);
    await assert.rejects(stripe.checkout.sessions.create(order("b"), { idempotencyKey: "a" }), { statusCode: 400 });
});

test("a session is paid or expired, never both", async () => {
    const paid = await stripe.checkout.sessions.create(order("c"));
    standin.pay(paid.id);
    await assert.rejects(stripe.checkout.sessions.expire(paid.id), { statusCode: 400 });
    assert.equal((await stripe.checkout.sessions.retrieve(paid.id)).payment_status, "paid");
    const expired = await stripe.checkout.sessions.create(order("d"));
    assert.equal((await stripe.checkout.sessions.expire(expired.id)).status, "expired");
    assert.throws(() => standin.pay(expired.id));
    await assert.rejects(stripe.checkout.sessions.retrieve("cs_none"), { statusCode: 404 });
});

test("money goes back once", async () => {
    const session = await stripe.checkout.sessions.create(order("e"));
    const { payment_intent } = standin.pay(session.id);
    const asked = { payment_intent, amount: 500, metadata: { key: "k" } };
    const refund = await stripe.refunds.create(asked, { idempotencyKey: "k" });
    assert.equal((await stripe.refunds.create(asked, { idempotencyKey: "k" })).id, refund.id);
    await assert.rejects(stripe.refunds.create(asked), { code: "charge_already_refunded" });
    assert.equal((await stripe.refunds.list({ payment_intent })).data.length, 1);
});

test("callbacks are what Stripe's package accepts", () => {
    const { payload, header } = standin.event("checkout.session.completed", { id: "cs_1" });
    assert.equal(stripe.webhooks.constructEvent(payload, header, webhookSecret).data.object.id, "cs_1");
    assert.throws(() => stripe.webhooks.constructEvent(payload + " ", header, webhookSecret));
});

test("the fixed vector of the unit test is genuine", () => {
    const source = readFileSync(new URL("../../unit/payment/stripe_test.c", import.meta.url), "utf8");
    const strings = (name) => [...source.split(`${name}[]`)[1].split(";\n")[0].matchAll(/"((?:\\.|[^"\\])*)"/g)]
        .map((found) => JSON.parse(`"${found[1]}"`)).join("");
    const header = stripe.webhooks.generateTestHeaderString({
        payload: strings("paid_body"), secret: strings("secret"), timestamp: 1700000000,
    });
    assert.equal(header, `t=1700000000,v1=${strings("paid_signature")}`);
});
