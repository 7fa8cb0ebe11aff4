// SPDX-License-Identifier: Apache-2.0
/* Which address shows which screen. */

import { afterShow } from './after_view.js';
import { casesShow } from './cases_view.js';
import { liveShow } from './live_view.js';
import { ordersShow } from './orders_view.js';
import { runShow } from './run_view.js';
import { salesShow } from './sales_view.js';
import { settingsShow } from './settings_view.js';
import { troubleShow } from './trouble_view.js';

export const SCREENS = [
    { name: 'live', show: liveShow },
    { name: 'sales', show: salesShow },
    { name: 'run', show: runShow },
    { name: 'orders', show: ordersShow },
    { name: 'cases', show: casesShow },
    { name: 'trouble', show: troubleShow },
    { name: 'after', show: afterShow },
    { name: 'settings', show: settingsShow },
];

/* "sales/3" is the screen sales with the rest "3". */
export function screenFind(address) {
    const [name, ...rest] = address.split('/');
    const found = SCREENS.find((screen) => screen.name === name) ?? SCREENS[0];
    return { ...found, nav: found.name, rest: found.name === name ? rest : [] };
}
