// SPDX-License-Identifier: Apache-2.0
/* Tells somebody who looks elsewhere that the turn has come: a sound, a vibration, a notification. A
 * browser allows these only after a press, so they are switched on by one. */

const BEEPS = [0, 0.25, 0.5]; /* seconds */
const BEEP_HZ = 880;
const BEEP_S = 0.15;

export function createTurnAlert() {
    let sound = null; /* an AudioContext, once it was allowed */
    let on = false;

    function beep() {
        for (const after of BEEPS) {
            const tone = sound.createOscillator();
            const level = sound.createGain();
            tone.frequency.value = BEEP_HZ;
            level.gain.value = 0.15;
            tone.connect(level).connect(sound.destination);
            tone.start(sound.currentTime + after);
            tone.stop(sound.currentTime + after + BEEP_S);
        }
    }

    return {
        on: () => on,
        /* Called by a press. */
        async toggle() {
            on = !on;
            if (!on)
                return;
            try {
                sound ??= new AudioContext();
                await sound.resume();
            } catch {
                sound = null; /* no sound here */
            }
            if (globalThis.Notification?.permission === 'default')
                await Notification.requestPermission();
        },
        tell(title, words) {
            if (!on)
                return;
            if (sound !== null)
                beep();
            navigator.vibrate?.([200, 100, 200]);
            if (document.hidden && globalThis.Notification?.permission === 'granted')
                new Notification(title, { body: words, tag: 'turn' });
        },
    };
}
