/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/certificate_watch.h"

#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct certificate_marks marks(uint64_t certificate, uint64_t key)
{
    struct certificate_marks all = { 0 };
    all.of[0].inode = certificate;
    all.of[1].inode = key;
    return all;
}

static enum watch_step look(struct certificate_watch *watch, uint64_t certificate, uint64_t key)
{
    const struct certificate_marks now = marks(certificate, key);
    return certificate_watch_look(watch, &now);
}

static void a_change_is_loaded_once_when_it_has_stayed_for_a_look(void **state)
{
    struct certificate_watch watch;
    const struct certificate_marks start = marks(1, 2);
    (void)state;
    certificate_watch_tried(&watch, &start);
    assert_int_equal(look(&watch, 1, 2), WATCH_SAME);
    assert_int_equal(look(&watch, 3, 2), WATCH_WAIT); /* the certificate is there, its key is not */
    assert_int_equal(look(&watch, 3, 4), WATCH_WAIT);
    assert_int_equal(look(&watch, 3, 4), WATCH_LOAD);
    assert_int_equal(look(&watch, 3, 4), WATCH_SAME); /* refused or not: not again */
    assert_int_equal(look(&watch, 0, 4), WATCH_WAIT);
    assert_int_equal(look(&watch, 3, 4), WATCH_SAME); /* it was gone for a moment */
}

static void marks_tell_files_apart_by_their_inode_time_and_size(void **state)
{
    char folder[] = "/tmp/stampede-marks-XXXXXX";
    struct certificate_files files = { .key = "/nothing/there" };
    struct certificate_marks one, two;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(files.certificate, sizeof files.certificate, "%s/a", folder);
    FILE *file = fopen(files.certificate, "w");
    assert_non_null(file);
    certificate_marks_read(&one, &files, 1);
    assert_true(one.of[0].inode != 0 && one.of[1].inode == 0);
    certificate_marks_read(&two, &files, 1);
    assert_memory_equal(&one, &two, sizeof one);
    fputs("more", file);
    fclose(file);
    certificate_marks_read(&two, &files, 1);
    assert_true(two.of[0].size == 4 && one.of[0].size == 0);
    unlink(files.certificate);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_is_loaded_once_when_it_has_stayed_for_a_look),
        cmocka_unit_test(marks_tell_files_apart_by_their_inode_time_and_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
