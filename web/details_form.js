// SPDX-License-Identifier: Apache-2.0
/* The form for who gets the goods and where. A mistake is said next to its field, and the first
 * field with one gets the focus. */

import { DETAIL_FIELDS, detailsCheck, detailsRemember, detailsRemembered } from './details.js';
import { attributeSet, element, textSet } from './dom.js';
import { say } from './i18n.js';

const FILL = { name: 'name', phone: 'tel', address: 'street-address', note: 'off', email: 'email' };
let made = 0;

function createField(field, form) {
    const id = `${form}-${field.name}`;
    const label = element('label', { htmlFor: id });
    const input = element(field.lines ? 'textarea' : 'input', {
        id,
        name: field.name,
        autocomplete: FILL[field.name],
        'aria-describedby': `${id}-wrong`,
    });
    if (field.lines)
        input.rows = 2;
    else
        input.type = { phone: 'tel', email: 'email' }[field.name] ?? 'text';
    input.required = field.least > 0;
    const wrong = element('p', { class: 'field-wrong', id: `${id}-wrong` });
    return { field, label, input, wrong, node: element('div', { class: 'field' }, label, input, wrong) };
}

/* `done` gets details that are good. */
export function createDetailsForm(done) {
    const form = `details${++made}`;
    const title = element('p', { class: 'form-title', id: `${form}-title` });
    const fields = DETAIL_FIELDS.map((field) => createField(field, form));
    const submit = element('button', { class: 'plain strong', type: 'submit' });
    const node = element(
        'form',
        { class: 'details-form', noValidate: true, 'aria-labelledby': `${form}-title` },
        title,
        ...fields.map((field) => field.node),
        submit,
    );
    let mistakes = {};

    function paint() {
        textSet(title, say('details.title'));
        textSet(submit, say('details.save'));
        for (const { field, label, input, wrong } of fields) {
            const mistake = mistakes[field.name];
            textSet(label, say(`details.${field.name}`));
            attributeSet(input, 'aria-invalid', String(mistake !== undefined));
            textSet(wrong, mistake === undefined ? '' : say(`details.${mistake}`));
        }
    }

    function fill(details) {
        for (const { field, input } of fields)
            input.value = details?.[field.name] ?? '';
    }

    node.addEventListener('submit', (event) => {
        event.preventDefault();
        const typed = Object.fromEntries(fields.map(({ field, input }) => [field.name, input.value]));
        const { details, wrong } = detailsCheck(typed);
        mistakes = wrong;
        paint();
        const first = fields.find(({ field }) => field.name in wrong);
        if (first !== undefined) {
            first.input.focus();
            return;
        }
        detailsRemember(details);
        done(details);
    });
    fill(detailsRemembered());
    return { node, paint, focus: () => fields[0].input.focus() };
}
