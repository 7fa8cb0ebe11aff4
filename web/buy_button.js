/* What the buy button says and whether it acts. A pure function of what is known, so that the
 * rules can be read in one place: the first line that applies wins. */

export function buttonModel({ phase, step, owned, unresolved, coolMs, pays = false }) {
    if (step === 'queueing')
        return { words: 'buy.queueing', live: false, busy: true };
    if (owned)
        return { words: 'buy.ordered', live: false };
    if (unresolved && phase !== 'unknown' && coolMs <= 0)
        return { words: 'buy.check', live: true };
    if (phase !== 'open')
        return { words: `buy.${phase}`, live: false, busy: phase === 'unknown' };
    if (coolMs > 0)
        return { words: 'buy.cooling', live: false, seconds: Math.ceil(coolMs / 1000) };
    return { words: pays ? 'buy.pay' : 'buy.open', live: true };
}
