// SPDX-License-Identifier: Apache-2.0
/* What can be done before the start, so that the tap is one request: the session, the human check and
 * the pass. Each visitor does it at a moment of his own, so that a crowd does not march in step.
 * Knows nothing of the page; `changed` is called whenever `state` has. */

import { challengeGet, passPost } from './api.js';
import { workInBackground } from './pow_background.js';

const SESSION_AHEAD_MS = 60_000;
const SESSION_SPREAD_MS = 45_000;
const CHECK_MARGIN_MS = 20_000; /* a solution must still be good when the pass is asked for */
const PASS_LAST_MS = 1_000; /* before the start: later it would not arrive in time */
const PASS_FIRST_MS = 150; /* after passes are given out: clocks are not exact */
const PASS_MARGIN_MS = 1_000;
const PASS_TRIES_MAX = 2;

/* When to do what, in server time. Infinity: it can't be done ahead. */
export function preparationMoments(startMs, { pass_early_ms: early, challenge_ms: life }, random = Math.random) {
    const first = startMs - early + Math.min(PASS_FIRST_MS, early / 4);
    const last = startMs - Math.min(PASS_LAST_MS, early / 4);
    const pass = early === 0 ? Infinity : first + random() * (last - first);
    const session = Math.min(startMs - SESSION_AHEAD_MS + random() * SESSION_SPREAD_MS, pass - 500);
    return { session, check: startMs - early - life + CHECK_MARGIN_MS, pass };
}

/* `human`: asks the visitor for the check (human.js). */
export function createPreparation(itemId, { clock, session, human, changed }) {
    /* check: none, later, todo, doing, done. pass: whether there is one. */
    const state = { check: 'none', checkFrom: 0, pass: false };
    let moments = null;
    let movedStart = 0; /* the start that the moments are for */
    let solution = null; /* { value, untilMs } */
    let pass = null;
    let passTries = 0;
    let opening = false;
    let checking = false;
    let passing = false;

    function stateSet(values) {
        const news = Object.entries(values).some(([name, value]) => state[name] !== value);
        Object.assign(state, values);
        if (news)
            changed();
    }

    const solutionGood = () => solution !== null && clock.now() < solution.untilMs;

    async function solve(item, shop, quietly) {
        if (checking)
            return;
        checking = true;
        try {
            const { session: token } = await session.ensure();
            const askedAt = clock.now();
            const value = quietly
                ? await workInBackground(await challengeGet(token, itemId, 'pow'))
                : await human.solve(token, itemId, [undefined], false);
            if (value !== null)
                solution = { value, untilMs: askedAt + shop.challenge_ms - PASS_MARGIN_MS };
        } catch {
            /* The tap asks for it again. */
        }
        checking = false;
        changed();
    }

    async function sessionOpen() {
        opening = true;
        await session.ensure().catch(() => {}); /* the tap tries again */
        changed();
    }

    async function passGet() {
        passing = true;
        passTries++;
        try {
            pass = await passPost(session.current().session, itemId, solution?.value);
        } catch {
            /* The tap gets one of its own. */
        }
        solution = null;
        passing = false;
        changed();
    }

    function checkState(item, now) {
        if ((item.human_check ?? 'none') === 'none' || item.waiting_room)
            return 'none';
        if (solutionGood() || pass !== null)
            return 'done';
        if (checking)
            return 'doing';
        return now < moments.check ? 'later' : 'todo';
    }

    function momentsEnsure(item, shop) {
        if (moments !== null && movedStart === item.start_ms)
            return;
        movedStart = item.start_ms;
        moments = preparationMoments(item.start_ms, shop);
    }

    function passIsDue(check, now) {
        const may = check === 'none' || solutionGood();
        return may && now >= moments.pass && pass === null && !passing && passTries < PASS_TRIES_MAX;
    }

    return {
        state,
        /* Looks at the clock and does what is due; called at each tick before the start. */
        tick(item, shop) {
            if (shop === null)
                return;
            const now = clock.now();
            momentsEnsure(item, shop);
            const opened = session.current();
            if (opened === null && shop.guests && now >= moments.session && !opening)
                sessionOpen();
            const check = checkState(item, now);
            if (opened !== null && check === 'todo' && item.human_check === 'pow')
                solve(item, shop, true);
            if (opened !== null && !item.waiting_room && passIsDue(check, now))
                passGet();
            stateSet({ check: checkState(item, now), checkFrom: moments.check, pass: pass !== null });
        },
        /* The visitor does the check now. */
        checkDo: (item, shop) => solve(item, shop, false),
        /* What was prepared, for the tap: each is good for one use. */
        passTake() {
            const taken = pass !== null && clock.now() < pass.expires_ms - PASS_MARGIN_MS ? pass : null;
            pass = null;
            return taken;
        },
        solutionTake() {
            const taken = solutionGood() ? solution.value : undefined;
            solution = null;
            return taken;
        },
    };
}
