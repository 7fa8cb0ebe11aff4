// SPDX-License-Identifier: Apache-2.0
/* Small JSON values in the browser's storage. Where storage is forbidden or full, memory serves. */

function createStore(storageOf) {
    const memory = new Map();

    return {
        read(name) {
            if (memory.has(name))
                return memory.get(name);
            try {
                return JSON.parse(storageOf().getItem(`stampede.${name}`));
            } catch {
                return null;
            }
        },
        /* What is kept under names that begin so, without that beginning. */
        names(prefix) {
            const whole = `stampede.${prefix}`;
            try {
                const kept = Object.keys(storageOf()).filter((name) => name.startsWith(whole));
                return kept.map((name) => name.slice(whole.length));
            } catch {
                return [...memory.keys()].filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
            }
        },
        write(name, value) {
            try {
                storageOf().setItem(`stampede.${name}`, JSON.stringify(value));
                memory.delete(name);
            } catch {
                memory.set(name, value);
            }
        },
        remove(name) {
            memory.delete(name);
            try {
                storageOf().removeItem(`stampede.${name}`);
            } catch {
                /* Nothing was kept there either. */
            }
        },
    };
}

/* Reaching the property itself may throw, so it happens inside the try blocks above. */
export const lasting = createStore(() => window.localStorage);
export const perTab = createStore(() => window.sessionStorage);
