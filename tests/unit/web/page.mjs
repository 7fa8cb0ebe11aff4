// SPDX-License-Identifier: Apache-2.0
/* A page for units that run without a browser: as much of a document as web/ uses, and no more. What needs
 * layout, focus rings or a real event loop is tested in a browser (tests/e2e/storefront). Import it before any
 * module of web/: they look for these names when they are loaded. */

const kept = new Map();
const storage = new Proxy({
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => kept.set(name, value),
    removeItem: (name) => kept.delete(name),
}, { ownKeys: () => [...kept.keys()], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }) });

class Node extends EventTarget {
    parentNode = null;
    childNodes = [];

    get children() {
        return this.childNodes.filter((node) => node instanceof Element);
    }

    get childElementCount() {
        return this.children.length;
    }

    get firstChild() {
        return this.childNodes[0] ?? null;
    }

    get textContent() {
        return this.childNodes.map((node) => node.textContent).join('');
    }

    set textContent(text) {
        this.replaceChildren(...(text === '' ? [] : [String(text)]));
    }

    append(...nodes) {
        for (const one of nodes) {
            const node = one instanceof Node ? one : new Text(String(one));
            node.remove();
            node.parentNode = this;
            this.childNodes.push(node);
        }
    }

    replaceChildren(...nodes) {
        for (const node of [...this.childNodes])
            node.remove();
        this.append(...nodes);
    }

    before(node) {
        const list = this.parentNode.childNodes;
        node.remove();
        list.splice(list.indexOf(this), 0, node);
        node.parentNode = this.parentNode;
    }

    contains(node) {
        return node === this || this.childNodes.some((child) => child.contains(node));
    }

    get isConnected() {
        return document.body.contains(this);
    }

    remove() {
        if (this.parentNode !== null)
            this.parentNode.childNodes = this.parentNode.childNodes.filter((node) => node !== this);
        this.parentNode = null;
    }
}

class Text extends Node {
    constructor(data) {
        super();
        this.data = data;
    }

    get textContent() {
        return this.data;
    }
}

class Element extends Node {
    hidden = false;
    className = '';
    dataset = {};
    style = {};
    attributes = new Map();
    value = '';
    options = []; /* of a select */
    selectedIndex = -1;

    constructor(tag) {
        super();
        this.tagName = tag.toUpperCase();
    }

    setAttribute(name, value) {
        this.attributes.set(name, String(value));
        if (name === 'src')
            this.src = String(value);
    }

    getAttribute(name) {
        return this.attributes.get(name) ?? null;
    }

    removeAttribute(name) {
        this.attributes.delete(name);
    }

    get classList() {
        return { contains: (name) => this.className.split(' ').includes(name) };
    }

    /* A tag, a class, or both: `button.pay`. */
    matches(selector) {
        const [tag, ...classes] = selector.split('.');
        return (tag === '' || tag.toUpperCase() === this.tagName) && classes.every((name) => this.classList.contains(name));
    }

    querySelectorAll(selector) {
        return this.children.flatMap((node) => [...(node.matches(selector) ? [node] : []), ...node.querySelectorAll(selector)]);
    }

    querySelector(selector) {
        return this.querySelectorAll(selector)[0] ?? null;
    }

    add(option) {
        this.options.push(option);
        this.selectedIndex = Math.max(0, this.selectedIndex);
    }

    getBoundingClientRect() {
        return { left: 0, top: 0, width: 320, height: 60 };
    }

    focus() {
        document.activeElement = this;
    }

    click() {
        this.dispatchEvent(new Event('click'));
    }

    showModal() {
        this.open = true;
    }

    close(value) {
        this.open = false;
        this.returnValue = value ?? this.returnValue;
        this.dispatchEvent(new Event('close'));
    }
}

class Document extends Node {
    hidden = false;
    title = '';
    body = new Element('body');
    head = new Element('head');
    documentElement = new Element('html');
    activeElement = this.body;

    /* In the body: by id, tag, class, or an attribute that is there. */
    querySelectorAll(selector) {
        const attribute = /^\[data-(\w+)\]$/.exec(selector)?.[1];
        const all = (node) => node.children.flatMap((child) => [child, ...all(child)]);
        return attribute === undefined
            ? this.body.querySelectorAll(selector.split(' ').at(-1))
            : all(this.body).filter((node) => attribute in node.dataset);
    }

    getElementById(id) {
        const found = (node) => (node.id === id ? node : node.children.map(found).find((one) => one !== undefined));
        return found(this.body) ?? null;
    }

    createElement(tag) {
        return new Element(tag);
    }

    createElementNS(_, tag) {
        return new Element(tag);
    }
}

globalThis.document = new Document();
globalThis.window = new EventTarget();
Object.assign(globalThis.window, { localStorage: storage, sessionStorage: storage, print: () => {} });
globalThis.scrollTo = () => {};
globalThis.Option = class {
    constructor(text) {
        this.text = text;
    }
};
globalThis.location = { href: 'http://shop.test/', origin: 'http://shop.test', pathname: '/', search: '', hash: '', assign: (href) => globalThis.left.push(href) };
globalThis.left = []; /* pages that were left for */
globalThis.matchMedia = () => ({ matches: false });
globalThis.navigator ??= {};
for (const [name, value] of Object.entries({ language: 'en', languages: ['en'], onLine: true }))
    Object.defineProperty(globalThis.navigator, name, { value, configurable: true, writable: true });

/* Each test begins with nothing kept, nothing left for and English. */
export function fresh() {
    kept.clear();
    globalThis.left.length = 0;
    document.hidden = false;
    document.body.replaceChildren();
}

/* What `node` shows: the words of all that is not hidden. */
export function seen(node) {
    if (node instanceof Text)
        return node.data;
    return node.hidden ? '' : node.childNodes.map(seen).filter((words) => words !== '').join(' ').trim();
}

/* The first node of `root` with this class. */
export const part = (root, name) => root.querySelector(`.${name}`);

/* Answers every request with what `answer(method, path, body)` returns: [status, body, headers]; `asked` keeps what
 * was asked. An answer of null is a connection that breaks. */
export function server(answer) {
    const asked = [];
    globalThis.fetch = async (path, { method, body, headers }) => {
        asked.push({ method, path, headers, body: body === undefined ? undefined : JSON.parse(body) });
        const told = await answer(method, path, asked.at(-1).body);
        if (told === null)
            throw new TypeError('failed to fetch');
        const [status, value, more = {}] = told;
        return new Response(typeof value === 'string' ? value : JSON.stringify(value), { status, headers: more });
    };
    return asked;
}

export const problem = (status, type, more = {}, headers = {}) => [status, { type: `/problems/${type}`, ...more }, headers];

/* Lets everything that is ready run; timers of `ms` and less as well. */
const timer = globalThis.setTimeout;
export const settle = (ms = 0) => new Promise((resolve) => timer(resolve, ms));

/* From here on a timer of the page does not keep the process from ending. */
export function timersLoose() {
    for (const name of ['setTimeout', 'setInterval']) {
        const real = globalThis[name];
        globalThis[name] = (...how) => real(...how).unref();
    }
}
