// SPDX-License-Identifier: Apache-2.0
/* What is asked before an item is bought by paying for it: where it goes, if the sale wants to know,
 * and through whom it is paid. */

import { createDetailsForm } from './details_form.js';
import { element } from './dom.js';
import { say } from './i18n.js';
import { createPayWays } from './order_money.js';

/* `chosen` gets the provider and the details (undefined: not wanted). */
export function createPayChoice(chosen) {
    const form = createDetailsForm((good) => {
        details = good;
        if (providers.length === 1)
            chosen(providers[0], details);
        else
            paint();
    });
    const ways = createPayWays((provider) => chosen(provider, details));
    const node = element('div', { class: 'pay-choice' }, form.node, ways.node);
    let providers = [];
    let wanted = false;
    let details;
    node.hidden = true;

    function paint() {
        const formFirst = wanted && details === undefined;
        form.node.hidden = !formFirst;
        form.paint();
        ways.paint(formFirst ? [] : providers, say('pay.choose'));
    }

    return {
        node,
        paint,
        /* `given`: the details, where they are known already. */
        open(names, wantsDetails, given) {
            providers = names;
            wanted = wantsDetails;
            details = given;
            node.hidden = false;
            paint();
            if (wanted && given === undefined)
                form.focus();
            else
                node.querySelector('button.pay').focus();
        },
        close() {
            node.hidden = true;
        },
    };
}
