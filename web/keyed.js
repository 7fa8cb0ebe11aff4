// SPDX-License-Identifier: Apache-2.0
/* Keeps one part per id, makes what is new and removes what is gone. */
export function createKeyed(parent, make) {
    const parts = new Map();
    return (things, paint) => {
        for (const [id, part] of parts) {
            if (!things.some((thing) => thing.id === id)) {
                part.node.remove();
                parts.delete(id);
            }
        }
        for (const thing of things) {
            if (!parts.has(thing.id)) {
                parts.set(thing.id, make(thing.id));
                parent.append(parts.get(thing.id).node);
            }
            paint(parts.get(thing.id), thing);
        }
    };
}
