/* SPDX-License-Identifier: Apache-2.0 */
#include "media/media_service.h"

#include "tests/unit/base/unit.h"
#include "tests/unit/media/pictures.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char path[] = "/tmp/stampede-media-XXXXXX";
static struct reader_turns turns; /* no edges */

static int folder_make(void **state)
{
    (void)state;
    return mkdtemp(path) == NULL;
}

static int folder_drop(void **state)
{
    (void)state;
    return picture_folder_remove(path);
}

static void opened(struct media_service *media)
{
    static struct config config;
    char error[CONFIG_ERROR];
    config_defaults(&config);
    snprintf(config.folder, sizeof config.folder, "%s", path);
    assert_int_equal(media_service_open(media, &config, error), STATUS_OK);
}

/* Until the upload that is worked on has ended. */
static const struct upload *worked(struct media_service *media)
{
    const struct upload *ended = NULL;
    for (int i = 0; i < 6000 && ended == NULL; i++) {
        ended = media_service_turn(media, &turns, 1000);
        if (ended == NULL)
            poll(NULL, 0, 5);
    }
    assert_non_null(ended);
    return ended;
}

static struct upload *sent(struct media_service *media, struct made made, uint64_t now_ms)
{
    struct upload *upload = media_upload_begin(media, "ann", made.size, now_ms);
    assert_non_null(upload);
    assert_int_equal(media_upload_add(upload, span_of(made.bytes, 10), now_ms), STATUS_OK);
    assert_int_equal(upload->state, UPLOAD_RECEIVING);
    assert_int_equal(
        media_upload_add(upload, span_of(made.bytes + 10, made.size - 10), now_ms), STATUS_OK);
    return upload;
}

static void a_picture_in_pieces_is_cleaned_kept_and_shown(void **state)
{
    static struct media_service media;
    (void)state;
    opened(&media);
    struct made made = picture_draw(PICTURE_JPEG, 40, 20);
    made = picture_with(made, made.size, SPAN("Hidden"));
    struct upload *upload = sent(&media, made, 1000);
    assert_int_equal(upload->state, UPLOAD_WORKING);
    assert_int_equal(media_upload_add(upload, SPAN("x"), 1000), STATUS_BAD_INPUT);
    assert_ptr_equal(worked(&media), upload);
    assert_int_equal(upload->state, UPLOAD_DONE);
    assert_int_equal(upload->width, 40);
    assert_int_equal(upload->height, 20);
    const struct media_set *set = handover_get(&media.shown);
    const struct media_file *file = media_set_find(set, span_from_string(upload->name));
    assert_non_null(file);
    assert_null(memmem(file->body.data, file->body.size, "Hidden", 6));
    char address[64];
    snprintf(address, sizeof address, "/media/%s", upload->name);
    assert_null(media_address_wrong(&media, "", address));
    assert_int_equal(media_service_remove(&media, &turns, span_from_string(upload->name)), STATUS_OK);
    assert_non_null(media_address_wrong(&media, "", address));
    media_service_close(&media);
    free(made.bytes);
}

static void a_picture_that_can_not_be_decoded_is_refused(void **state)
{
    static struct media_service media;
    (void)state;
    opened(&media);
    struct made made = picture_draw(PICTURE_PNG, 64, 64);
    made.size -= 30;
    const struct upload *upload = sent(&media, made, 1000);
    assert_ptr_equal(worked(&media), upload);
    assert_int_equal(upload->state, UPLOAD_REFUSED);
    assert_non_null(strstr(upload->why, "can't be decoded"));
    memcpy(made.bytes, "GIF89a", 6);
    upload = sent(&media, made, 1000);
    assert_int_equal(upload->state, UPLOAD_REFUSED); /* its first bytes are enough */
    media_service_close(&media);
    free(made.bytes);
}

static void places_are_few_and_those_that_are_silent_or_done_give_way(void **state)
{
    static struct media_service media;
    uint32_t ids[MEDIA_UPLOADS_MAX];
    (void)state;
    opened(&media);
    for (int i = 0; i < MEDIA_UPLOADS_MAX; i++)
        ids[i] = media_upload_begin(&media, "ann", 100, 1000)->id;
    assert_null(media_upload_begin(&media, "ann", 100, 1000 + MEDIA_UPLOAD_IDLE_MS - 1));
    struct upload *second = media_upload_find(&media, ids[1]);
    assert_int_equal(media_upload_add(second, SPAN("abc"), 2000), STATUS_OK);
    for (int i = 0; i < MEDIA_UPLOADS_MAX - 1; i++)
        assert_non_null(media_upload_begin(&media, "ann", 100, 1000 + MEDIA_UPLOAD_IDLE_MS));
    assert_null(media_upload_begin(&media, "ann", 100, 1000 + MEDIA_UPLOAD_IDLE_MS));
    assert_non_null(media_upload_find(&media, ids[1]));
    assert_null(media_upload_find(&media, ids[0]));
    assert_int_equal(media_upload_add(second, SPAN(""), 2000), STATUS_BAD_INPUT);
    char many[98] = { 0 };
    assert_int_equal(media_upload_add(second, span_of(many, 98), 2000), STATUS_BAD_INPUT);
    media_service_close(&media);
}

static void addresses_are_ours_or_of_an_origin_that_is_named(void **state)
{
    static struct media_service media;
    (void)state;
    opened(&media);
    static const char *const good[] = { "/demo/phone.svg", "/pictures/a%20b.jpg?v=2",
        "https://img.example/a.jpg", "https://b.example:8443/x" };
    static const char *const bad[] = { "", "//evil.example/x", "/\\evil.example", "\\\\evil",
        "http://img.example/a", "https://other.example/a", "https://img.example",
        "javascript:alert(1)", "data:image/png;base64,AAAA", "/media/../admin",
        "/media/0123456789abcdef0123456789abcdef.jpg", "/a b", "/a\"b", "/\xc3\xa9", "a.jpg" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_null(media_address_wrong(&media, "https://img.example https://b.example:8443", good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_non_null(
            media_address_wrong(&media, "https://img.example https://b.example:8443", bad[i]));
    media_service_close(&media);
}

/* The child is this program again, under the name of the verb. */
int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], PICTURE_VERB) == 0)
        return picture_command_main(argc - 1, argv + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_in_pieces_is_cleaned_kept_and_shown),
        cmocka_unit_test(a_picture_that_can_not_be_decoded_is_refused),
        cmocka_unit_test(places_are_few_and_those_that_are_silent_or_done_give_way),
        cmocka_unit_test(addresses_are_ours_or_of_an_origin_that_is_named),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_drop);
}
