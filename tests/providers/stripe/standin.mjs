// SPDX-License-Identifier: Apache-2.0
// A stand-in for Stripe Checkout, in memory: the parts of the API that src/payment/stripe.c uses, and the
// payer. Signatures are made by Stripe's own package. Run it with STRIPE_KEY and STRIPE_WEBHOOK_SECRET;
// it prints its address. What a payer or a test does goes to /standin/:
//   POST /standin/pay/{session}     {"amount"?, "callback"?: url, "times"?}  pays it and calls back
//   POST /standin/fail              {"count"}  the next calls are answered 500 after they were done
//   GET  /standin/state             all sessions and refunds
import http from "node:http";
import { randomBytes } from "node:crypto";
import { pathToFileURL } from "node:url";
import Stripe from "stripe";

const newId = (prefix) => prefix + randomBytes(12).toString("hex");
const now = () => Math.floor(Date.now() / 1000);
const known = { 400: "invalid_request_error", 401: "invalid_request_error", 404: "invalid_request_error" };

class Refusal extends Error {
    constructor(status, code, message) {
        super(message);
        Object.assign(this, { status, code });
    }
}

// a[b][0][c]=d → { a: { b: { 0: { c: d } } } }
function formRead(text) {
    const root = {};
    for (const [name, value] of new URLSearchParams(text)) {
        const path = name.replaceAll("]", "").split("[");
        let at = root;
        for (const part of path.slice(0, -1)) at = at[part] ??= {};
        at[path.at(-1)] = value;
    }
    return root;
}

export class Standin {
    constructor({ key, webhookSecret }) {
        Object.assign(this, { key, webhookSecret, failing: 0 });
        this.sessions = new Map();
        this.refunds = new Map();
        this.replies = new Map(); // Idempotency-Key → { body, reply }
        this.stripe = new Stripe(key);
    }

    create(form) {
        const price = form.line_items?.[0]?.price_data;
        const amount = Number(price?.unit_amount) * Number(form.line_items?.[0]?.quantity);
        if (form.mode !== "payment" || !Number.isInteger(amount) || !price.currency || !price.product_data?.name)
            throw new Refusal(400, "parameter_missing", "mode, price or name is missing");
        if (!/^https?:\/\//.test(form.success_url ?? "")) throw new Refusal(400, "url_invalid", "success_url");
        const id = newId("cs_test_");
        const session = {
            id, object: "checkout.session", amount_total: amount, currency: price.currency, livemode: false,
            client_reference_id: form.client_reference_id ?? null, metadata: form.metadata ?? {}, mode: "payment",
            payment_intent: null, payment_status: "unpaid", status: "open", url: `${this.url}/pay/${id}`,
            created: now(), expires_at: now() + 86400,
        };
        this.sessions.set(id, session);
        return session;
    }

    session(id) {
        const session = this.sessions.get(id);
        if (!session) throw new Refusal(404, "resource_missing", `No such checkout session: ${id}`);
        return session;
    }

    expire(id) {
        const session = this.session(id);
        if (session.status !== "open") throw new Refusal(400, undefined, "Only open sessions can be expired");
        Object.assign(session, { status: "expired", url: null });
        return session;
    }

    refund(form) {
        const session = [...this.sessions.values()].find((s) => s.payment_intent === form.payment_intent);
        if (!session || session.payment_status !== "paid")
            throw new Refusal(404, "resource_missing", "No such payment_intent");
        const gone = [...this.refunds.values()].filter((r) => r.payment_intent === form.payment_intent)
            .reduce((sum, r) => sum + r.amount, 0);
        const amount = Number(form.amount ?? session.amount_total);
        if (gone === session.amount_total) throw new Refusal(400, "charge_already_refunded", "already refunded");
        if (gone + amount > session.amount_total) throw new Refusal(400, "amount_too_large", "more than there is");
        const refund = { id: newId("re_"), object: "refund", amount, currency: session.currency,
            payment_intent: form.payment_intent, metadata: form.metadata ?? {}, status: "succeeded", created: now() };
        this.refunds.set(refund.id, refund);
        return refund;
    }

    // The payer's side.
    pay(id, amount) {
        const session = this.session(id);
        if (session.status !== "open") throw new Refusal(400, undefined, "this session is not open");
        Object.assign(session, { status: "complete", payment_status: "paid", payment_intent: newId("pi_"), url: null });
        if (amount !== undefined) session.amount_total = amount;
        return session;
    }

    event(type, object) {
        const payload = JSON.stringify({ id: newId("evt_"), object: "event", type, created: now(), data: { object } });
        const header = this.stripe.webhooks.generateTestHeaderString({ payload, secret: this.webhookSecret });
        return { payload, header };
    }

    async callback(url, session) {
        const { payload, header } = this.event("checkout.session.completed", session);
        const headers = { "Content-Type": "application/json", "Stripe-Signature": header };
        return (await fetch(url, { method: "POST", headers, body: payload })).status;
    }

    async route(method, url, text) {
        const path = url.pathname.split("/").slice(1);
        if (path[0] === "standin") return this.routeStandin(method, path, text);
        const at = `${method} ${path.slice(1, 3).join("/")} ${path.length}`;
        if (at === "POST checkout/sessions 3") return this.create(formRead(text));
        if (at === "GET checkout/sessions 4") return this.session(path[3]);
        if (at === "POST checkout/sessions 5" && path[4] === "expire") return this.expire(path[3]);
        if (at === "POST refunds 2") return this.refund(formRead(text));
        if (at === "GET refunds 2") {
            const intent = url.searchParams.get("payment_intent");
            return { object: "list", data: [...this.refunds.values()].filter((r) => r.payment_intent === intent) };
        }
        throw new Refusal(404, undefined, `Unrecognized request URL (${method}: ${url.pathname})`);
    }

    async routeStandin(method, path, text) {
        const asked = text ? JSON.parse(text) : {};
        if (path[1] === "state") return { sessions: [...this.sessions.values()], refunds: [...this.refunds.values()] };
        if (path[1] === "fail") return { failing: (this.failing = asked.count) };
        const session = this.pay(path[2], asked.amount);
        const statuses = [];
        for (let i = 0; asked.callback && i < (asked.times ?? 1); i++)
            statuses.push(await this.callback(asked.callback, session));
        return { session, statuses };
    }

    // The same key with the same body gets the first answer, whatever it was; with another body it is refused.
    async answer(request, url, text) {
        const key = request.headers["idempotency-key"];
        const told = key && this.replies.get(key);
        if (told && told.body !== url.pathname + text)
            throw new Refusal(400, "idempotency_error", "Keys for idempotent requests need the same parameters");
        if (told) return JSON.parse(told.reply);
        const reply = await this.route(request.method, url, text);
        if (key) this.replies.set(key, { body: url.pathname + text, reply: JSON.stringify(reply) });
        return reply;
    }

    async serve(request, response) {
        let text = "";
        for await (const part of request) text += part;
        const url = new URL(request.url, this.url);
        const own = url.pathname.startsWith("/standin/");
        let status = 200;
        let reply;
        try {
            if (!own && request.headers.authorization !== `Bearer ${this.key}`)
                throw new Refusal(401, undefined, "Invalid API Key provided");
            reply = await this.answer(request, url, text);
            if (!own && this.failing > 0) {
                this.failing--;
                throw new Refusal(500, undefined, "made to fail");
            }
        } catch (error) {
            status = error.status ?? 500;
            reply = { error: { type: known[status] ?? "api_error", code: error.code, message: error.message } };
        }
        const bytes = Buffer.from(JSON.stringify(reply));
        response.writeHead(status, { "Content-Type": "application/json", "Content-Length": bytes.length });
        response.end(bytes);
    }

    async listen(port = 0) {
        this.server = http.createServer((request, response) => this.serve(request, response));
        await new Promise((done) => this.server.listen(port, "127.0.0.1", done));
        this.url = `http://127.0.0.1:${this.server.address().port}`;
        return this.url;
    }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
    const { STRIPE_KEY, STRIPE_WEBHOOK_SECRET, PORT } = process.env;
    const standin = new Standin({ key: STRIPE_KEY, webhookSecret: STRIPE_WEBHOOK_SECRET });
    console.log(await standin.listen(Number(PORT ?? 0)));
}
