/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/words.h"

const char *const step_labels[STEPS] = {
#define STEP(name, label) label,
    STEP_LIST(STEP)
#undef STEP
};
const char *const layer_labels[LAYERS] = {
#define LAYER(name, label) label,
    LAYER_LIST(LAYER)
#undef LAYER
};
const char *const word_texts[WORDS] = {
#define WORD(name, text, layer) text,
    WORD_LIST(WORD)
#undef WORD
};
static const uint8_t layers[WORDS] = {
#define WORD(name, text, layer) LAYER_##layer,
    WORD_LIST(WORD)
#undef WORD
};

enum layer word_layer(enum word word)
{
    return (enum layer)layers[word];
}

enum word word_find(struct span name)
{
    for (uint32_t i = WORD_OTHER + 1; i < WORDS; i++)
        if (span_equal(name, span_from_string(word_texts[i])))
            return (enum word)i;
    return WORD_OTHER;
}
