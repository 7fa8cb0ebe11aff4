// SPDX-License-Identifier: Apache-2.0
/* altcha-lib, the public library, and our server understand each other in both directions; so does the
 * storefront's own solver. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChallenge, solveChallenge, verifySolution } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/sha';
import { powSolve } from '../../web/pow.js';
import { challengeGet, items, passPost, payloadOf, secret, sessionOpen } from './shop.mjs';

const item = items.pow;
const verify = (challenge, solution) =>
    verifySolution({ challenge, solution, deriveKey, hmacSignatureSecret: secret });

test('the library solves our challenge, finds it good, and the server gives one pass for it', async () => {
    const { session } = await sessionOpen();
    const challenge = await challengeGet(session, item);
    const solution = await solveChallenge({ challenge, deriveKey });
    const { verified } = await verify(challenge, solution);
    assert.equal(verified, true);
    const payload = payloadOf(challenge, solution);
    assert.equal((await passPost(session, item, payload)).status, 201);
    const again = await passPost(session, item, payload);
    assert.equal(again.status, 409);
    assert.equal(again.body.type, '/problems/human-check-spent');
});

test('what the library finds forged or wrong, the server refuses', async () => {
    const { session } = await sessionOpen();
    const challenge = await challengeGet(session, item);
    const solution = await solveChallenge({ challenge, deriveKey });
    const longer = structuredClone(challenge);
    longer.parameters.expiresAt += 60;
    assert.equal((await verify(longer, solution)).invalidSignature, true);
    assert.equal((await passPost(session, item, payloadOf(longer, solution))).status, 403);
    const wrong = { ...solution, counter: solution.counter + 1 };
    assert.equal((await verify(challenge, wrong)).invalidSolution, true);
    assert.equal((await passPost(session, item, payloadOf(challenge, wrong))).status, 403);
    assert.equal((await passPost(session, item, payloadOf(challenge, solution))).status, 201);
});

test('a challenge that the library made with the secret is as good as ours', async () => {
    const { session, user } = await sessionOpen();
    const { start } = (await challengeGet(session, item)).parameters.data; // the server's, since it runs
    const challenge = await createChallenge({
        algorithm: 'SHA-256',
        cost: 2,
        data: { item, start, user },
        deriveKey,
        expiresAt: Math.floor(Date.now() / 1000) + 60,
        hmacSignatureSecret: secret,
        keyPrefix: '00',
    });
    const solution = await solveChallenge({ challenge, deriveKey });
    assert.equal((await passPost(session, item, payloadOf(challenge, solution))).status, 201);
});

test('one made with another secret is not', async () => {
    const { session, user } = await sessionOpen();
    const challenge = await createChallenge({
        algorithm: 'SHA-256',
        cost: 1,
        data: { item, start: 1, user },
        deriveKey,
        expiresAt: Math.floor(Date.now() / 1000) + 60,
        hmacSignatureSecret: 'another',
        keyPrefix: '0',
    });
    const solution = await solveChallenge({ challenge, deriveKey });
    const refused = await passPost(session, item, payloadOf(challenge, solution));
    assert.equal(refused.body.type, '/problems/human-check-failed');
});

test('the storefront’s solver finds what the library finds good', async () => {
    const { session } = await sessionOpen();
    const challenge = await challengeGet(session, item);
    const solution = powSolve(challenge);
    assert.equal((await verify(challenge, solution)).verified, true);
    assert.equal((await passPost(session, item, payloadOf(challenge, solution))).status, 201);
});
