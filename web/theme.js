// SPDX-License-Identifier: Apache-2.0
/* The shop's own words: what page.theme of the server says (docs/theme.md), as it stands in the page. Everything that it
 * leaves out stays as it is in words.js; a language that is not there begins as English. */

/* The sections of theme.ini, as objects; {} without a theme. */
export function themeRead(page = globalThis.document) {
    const node = page?.getElementById?.('theme');
    try {
        return JSON.parse(node?.textContent ?? '{}');
    } catch {
        return {};
    }
}

/* Words that the pages know, and no others. */
function known(given, words) {
    return Object.fromEntries(Object.entries(given ?? {}).filter(([key]) => key in words));
}

function linkNames(theme, language) {
    const names = {};
    for (let number = 1; number <= 8; number++) {
        const { url, ...texts } = theme[`link.${number}`] ?? {};
        if (url !== undefined)
            names[`link.${number}`] = texts[language] ?? Object.values(texts)[0] ?? url;
    }
    return names;
}

function wordsOf(theme, language, words) {
    const name = theme.shop?.[`name.${language}`] ?? theme.shop?.name;
    const called = name === undefined ? {} : { 'shop.name': name, 'page.title': name };
    return { ...words, ...called, ...linkNames(theme, language), ...known(theme[`words.${language}`], words) };
}

/* { words: by language, languages: [{ tag, name, direction }] }, the languages in the order of their buttons. */
export function themed(theme, WORDS) {
    const own = Object.keys(theme).filter((section) => section.startsWith('language.')).map((section) => section.slice(9));
    const languages = [
        { tag: 'zh-CN', name: '中文', direction: 'ltr' },
        { tag: 'en', name: 'EN', direction: 'ltr' },
    ];
    for (const tag of own.filter((tag) => !(tag in WORDS))) {
        const { name = tag, direction = 'ltr' } = theme[`language.${tag}`];
        languages.push({ tag, name, direction });
    }
    const words = Object.fromEntries(
        languages.map(({ tag }) => [tag, wordsOf(theme, tag, WORDS[tag] ?? WORDS.en)]),
    );
    return { words, languages };
}
