// SPDX-License-Identifier: Apache-2.0
// What the stand-ins share: an HTTP server on a spare port that lives until its standard input closes, keys
// that are made anew for each run, and payments that can be told to happen.
//
// Started as `node x_standin.mjs FOLDER`: writes the files that the provider's settings name into FOLDER and
// prints one line of JSON, {"port", "settings"}. Besides the provider's own paths it answers under /test/:
//   pay?reference=R[&amount=N][&send=1]   somebody pays; {callback, receipt}; send=1 posts it to notify_url too
//   state?reference=R                     {state, refunds} as the provider has them
//   callback?reference=R[&shift_s=N][&…]  another callback about it, with a moved time or other ids
//   trouble?status=N                      the next call is answered with that status and nothing signed
//   sdk                                   the SDK's own client works against this server, or it says why not
import { createServer } from 'node:http';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const folder = process.argv[2];

export function keyPair() {
  return generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
}

/** Writes a file for the settings and tells its path. */
export function keep(name, text) {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

async function bodyOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

/** Sends a callback as the provider would, and tells what was answered. */
export async function deliver(url, callback) {
  const reply = await fetch(url, { method: 'POST', headers: callback.headers, body: callback.body });
  return { status: reply.status, body: await reply.text() };
}

/** handle({ method, path, query, headers, body }) answers { status, headers, body }. */
export function serve(handle, tests, settings) {
  let trouble = 0;
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, 'http://localhost');
    const asked = { method: request.method, target: request.url, path: url.pathname, query: url.searchParams,
      headers: request.headers, body: await bodyOf(request) };
    let answer;
    try {
      if (url.pathname === '/test/trouble') {
        trouble = Number(asked.query.get('status'));
        answer = { status: 204 };
      } else if (url.pathname.startsWith('/test/')) {
        const made = await tests[url.pathname.slice('/test/'.length)](asked.query);
        answer = { status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(made) };
      } else if (trouble > 0) {
        answer = { status: trouble, body: 'trouble' };
        trouble = 0;
      } else {
        answer = await handle(asked);
      }
    } catch (error) {
      console.error(error);
      answer = { status: 500, body: String(error) };
    }
    response.writeHead(answer.status, answer.headers ?? {});
    response.end(answer.body ?? '');
  });
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    console.log(JSON.stringify({ port, settings: settings(port) }));
  });
  process.stdin.resume();
  process.stdin.on('end', () => process.exit(0));
}
