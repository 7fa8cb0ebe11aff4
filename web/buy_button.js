// SPDX-License-Identifier: Apache-2.0
/* What the buy button says and whether it acts; `act`: what it does, buy if nothing is said. A pure function of what is known, so that the
 * rules can be read in one place: the first line that applies wins. */

/* `wait`: the waitlist as waitlist.js tells it. */
function waitModel({ waiting, position, busy, line = 'waitlist' }) {
    return waiting
        ? { words: `${line}.number`, live: false, position }
        : { words: `${line}.join`, live: !busy, busy, act: 'wait' };
}

const ROOM_PHASES = new Set(['before', 'open', 'full']);

export function buttonModel({
    phase,
    step,
    owned,
    unresolved,
    coolMs,
    checking = false,
    pays = false,
    room = 'none',
    entering = false,
    progress = null,
    wait = null,
    signIn = 'done',
}) {
    if (checking)
        return { words: 'buy.checking', live: false };
    if (step === 'sending')
        return { words: progress === null ? 'buy.sending' : `buy.${progress.kind}`, live: false, busy: true };
    if (owned)
        return { words: 'buy.ordered', live: false };
    if (unresolved && phase !== 'unknown' && coolMs <= 0)
        return { words: 'buy.check', live: true };
    if (signIn !== 'done' && (phase === 'open' || phase === 'full'))
        return { words: 'buy.signIn', live: signIn === 'link', act: 'signIn' };
    if (room === 'enter' && ROOM_PHASES.has(phase))
        return { words: 'room.enter', live: !entering, busy: entering, act: 'enter' };
    if (room === 'wait' && ROOM_PHASES.has(phase))
        return { words: 'room.waiting', live: false };
    if (phase === 'soldOut' && wait !== null)
        return waitModel(wait);
    if (phase !== 'open')
        return { words: `buy.${phase}`, live: false, busy: phase === 'unknown' };
    if (coolMs > 0)
        return { words: 'buy.cooling', live: false, seconds: Math.ceil(coolMs / 1000) };
    return { words: pays ? 'buy.pay' : 'buy.open', live: true };
}
