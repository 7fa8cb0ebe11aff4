/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/human/picture.h"

#include "tests/unit/base/unit.h"

#include <string.h>

static struct picture whole, again;

static bool is_png(const struct picture *picture, uint32_t width, uint32_t height)
{
    static const uint8_t magic[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
    const uint8_t size[8] = { 0, 0, (uint8_t)(width >> 8), (uint8_t)width, 0, 0,
        (uint8_t)(height >> 8), (uint8_t)height };
    return picture->size > 100 && picture->size <= PICTURE_BYTES_MAX
        && memcmp(picture->png, magic, sizeof magic) == 0
        && memcmp(picture->png + 16, size, sizeof size) == 0;
}

static void every_letter_is_drawn_and_no_two_pictures_are_alike(void **state)
{
    (void)state;
    struct random random;
    random_seed(&random, 1);
    for (const char *letter = picture_letters; *letter != 0; letter++) {
        const char code[6] = { *letter, *letter, *letter, *letter, *letter, 0 };
        assert_int_equal(picture_code(&random, code, &whole), STATUS_OK);
        assert_true(is_png(&whole, PICTURE_CODE_WIDTH, PICTURE_CODE_HEIGHT));
        assert_int_equal(picture_code(&random, code, &again), STATUS_OK);
        assert_false(whole.size == again.size && memcmp(whole.png, again.png, whole.size) == 0);
    }
}

static void letters_that_look_alike_are_left_out(void **state)
{
    (void)state;
    for (const char *pair = "O0 I1 Z2 S5 B8 G6"; *pair != 0; pair += pair[2] == 0 ? 2 : 3)
        assert_true(strchr(picture_letters, pair[0]) == NULL || strchr(picture_letters, pair[1]) == NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_letter_is_drawn_and_no_two_pictures_are_alike),
        cmocka_unit_test(letters_that_look_alike_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
