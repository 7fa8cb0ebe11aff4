// SPDX-License-Identifier: Apache-2.0
/* Texts that a merchant has written in several languages: `texts` of a product or a sale, by language. */

/* The one that is wanted or, as zh-CN for zh-TW, one of the same language; undefined: none of them. */
export function languageNear(wanted, tags) {
    const [want, short] = [wanted.toLowerCase(), wanted.toLowerCase().split('-')[0]];
    return tags.find((tag) => tag.toLowerCase() === want) ?? tags.find((tag) => tag.toLowerCase().split('-')[0] === short);
}

/* What a merchant has written, in the language of the page where he did that: the name of a product, the title of a sale. */
export function textIn(language, thing, member) {
    const texts = thing.texts ?? {};
    return texts[languageNear(language, Object.keys(texts))]?.[member] ?? thing[member];
}
