// SPDX-License-Identifier: Apache-2.0
/* Files for spreadsheets. A cell that a spreadsheet would take for a formula gets an apostrophe: customers write some of them. */

const FORMULA = /^[=+\-@\t\r]/;

export function csvCell(value) {
    const text = String(value ?? '');
    const safe = FORMULA.test(text) && typeof value !== 'number' ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const csvText = (columns, rows) => [columns, ...rows].map((row) => row.map(csvCell).join(',')).join('\r\n') + '\r\n';

export function fileSave(name, text, type) {
    const address = URL.createObjectURL(new Blob(['\ufeff', text], { type }));
    const link = Object.assign(document.createElement('a'), { href: address, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/* A table of the page as it is shown: columns without a name hold buttons and are left out. */
export function tableText(table) {
    const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
    const kept = names.map((name, at) => [name, at]).filter(([name]) => name !== '');
    const rows = [...table.tBodies[0].rows].map((row) => kept.map(([, at]) => row.cells[at].textContent));
    return csvText(kept.map(([name]) => name), rows);
}
