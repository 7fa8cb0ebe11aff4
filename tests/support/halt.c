/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/halt.h"

#include "tests/unit/base/unit.h"

#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { PATIENCE_MS = 30000 };

static bool thread_stands_still(const char *stat_path)
{
    char line[512];
    FILE *file = fopen(stat_path, "r");
    if (file == NULL)
        return true; /* the thread has ended */
    const char *name_end = fgets(line, sizeof line, file) == NULL ? NULL : strrchr(line, ')');
    fclose(file);
    return name_end == NULL || strncmp(name_end, ") T", 3) == 0; /* no line: it ended after it was opened */
}

static bool stands_still(pid_t pid)
{
    char path[64];
    bool all = true;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    assert_non_null(tasks);
    for (const struct dirent *task; (task = readdir(tasks)) != NULL;) {
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/stat", (int)pid, task->d_name);
        all = (task->d_name[0] == '.' || thread_stands_still(path)) && all;
    }
    closedir(tasks);
    return all;
}

void halt(pid_t pid)
{
    assert_int_equal(kill(pid, SIGSTOP), 0);
    for (int waited_ms = 0; !stands_still(pid); waited_ms++) {
        assert_true(waited_ms < PATIENCE_MS);
        poll(NULL, 0, 1);
    }
}
