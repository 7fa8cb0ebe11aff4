// SPDX-License-Identifier: Apache-2.0
/* The few DOM helpers the views share. Nothing here parses HTML, so no text can become markup. */

export function element(tag, properties = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
        if (name === 'class')
            node.className = value;
        else if (name.includes('-') || name === 'role')
            node.setAttribute(name, value);
        else
            node[name] = value;
    }
    node.append(...children);
    return node;
}

/* Touches the node only when the words differ: a live region must not repeat itself. */
export function textSet(node, text) {
    if (node.textContent !== text)
        node.textContent = text;
}

export function attributeSet(node, name, value) {
    if (node.getAttribute(name) !== value)
        node.setAttribute(name, value);
}

/* Links inside the page are followed without loading it anew; app.js listens. */
export function routeLink(href, properties, ...children) {
    return element('a', { href, 'data-route': '', ...properties }, ...children);
}

export function pictureOf(product, properties = {}) {
    const source = product.images?.[0] ?? '/favicon.svg';
    const image = element('img', { src: source, alt: '', width: 480, height: 480, ...properties });
    /* A picture that is gone, or that the page's policy does not let in, leaves no hole. */
    image.addEventListener('error', () => image.setAttribute('src', '/favicon.svg'), { once: true });
    return image;
}
