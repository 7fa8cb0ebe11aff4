// SPDX-License-Identifier: Apache-2.0
/* The widget of a service that checks visitors in place of our pictures (human.outside). Its script comes from
 * the service, and only when the server is set so: the page's policy forbids it otherwise. */

const SCRIPTS = {
    turnstile: 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit',
    hcaptcha: 'https://js.hcaptcha.com/1/api.js?render=explicit',
    geetest: 'https://static.geetest.com/v4/gt4.js',
};
const loaded = new Map();

function scriptLoad(kind) {
    if (!loaded.has(kind)) {
        loaded.set(kind, new Promise((resolve, reject) => {
            const script = document.createElement('script');
            script.src = SCRIPTS[kind];
            script.onload = resolve;
            script.onerror = () => {
                loaded.delete(kind); /* the next try asks for it again */
                reject(new Error('widget'));
            };
            document.head.append(script);
        }));
    }
    return loaded.get(kind);
}

/* Both have the same interface. */
function siteverifyShow(api, node, siteKey) {
    return new Promise((resolve, reject) => {
        api.render(node, { sitekey: siteKey, callback: resolve, 'error-callback': () => reject(new Error('widget')) });
    });
}

/* The four values are one text, as the server wants them. */
function geetestShow(node, siteKey) {
    return new Promise((resolve, reject) => {
        window.initGeetest4({ captchaId: siteKey, product: 'float' }, (captcha) => {
            captcha.appendTo(node);
            captcha.onSuccess(() => {
                const got = captcha.getValidate();
                resolve([got.lot_number, got.captcha_output, got.pass_token, got.gen_time].join('|'));
            });
            captcha.onError(() => reject(new Error('widget')));
        });
    });
}

/* Shows it in `node`; resolves to its response when the visitor has passed. */
export async function widgetShow(kind, siteKey, node) {
    await scriptLoad(kind);
    return kind === 'geetest' ? geetestShow(node, siteKey) : siteverifyShow(window[kind], node, siteKey);
}
