// SPDX-License-Identifier: Apache-2.0
/* Small drawings of the navigation, 20 by 20. */

import { svg } from './chart.js';

const PATHS = {
    brand: 'M3 14.5 9.2 3.4l1.9 5.2 5.4.5-6.1 7.5-1.6-4.3z',
    live: 'M2 11h3.5l2-6 4 11 2.2-7H18',
    sales: 'M3 6.5 4.6 3h10.8L17 6.5M3 6.5h14V17H3zM7 9.5a3 3 0 0 0 6 0',
    settings: 'M10 7.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6M10 2.5v2M10 15.5v2M2.5 10h2M15.5 10h2M4.7 4.7l1.4 1.4M13.9 13.9l1.4 1.4M15.3 4.7l-1.4 1.4M6.1 13.9l-1.4 1.4',
    run: 'M3 6h6M13 6h4M11 4v4M3 14h3M10 14h7M8 12v4',
    orders: 'M5 2.5h10V17.5l-2.5-1.6L10 17.5l-2.5-1.6L5 17.5zM7.7 6.5h4.6M7.7 10h4.6',
    cases: 'M2.5 6.5h15V16.5h-15zM7 6.5V4h6v2.5M10 9.2v4.6M7.7 11.5h4.6',
    trouble: 'M10 3 18 16.5H2zM10 8.2v3.6M10 14.2v.1',
    after: 'M3 17V9.5M8 17V4M13 17v-5.5M18 17H2',
};

export function icon(name) {
    const drawing = svg('svg', { class: name === 'brand' ? 'icon filled' : 'icon', viewBox: '0 0 20 20', 'aria-hidden': 'true' });
    drawing.append(svg('path', { d: PATHS[name] ?? '' }));
    return drawing;
}
