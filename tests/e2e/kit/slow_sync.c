/* SPDX-License-Identifier: Apache-2.0 */
/* Put under a program with LD_PRELOAD: while the file $SLOW_SYNC is there, a sync of a journal segment
 * waits until it is gone (or a minute is over). With $FAIL_SYNC there, it fails instead. $SLOW_DATABASE does
 * the first to the database's log. What a slow or broken disk does, at the moment that a test wants. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int there(const char *name)
{
    const char *path = getenv(name);
    return path != NULL && access(path, F_OK) == 0;
}

/* Whether the path of the file has these words. */
static int is_named(int fd, const char *words)
{
    char link[64], path[512];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t size = readlink(link, path, sizeof path - 1);
    if (size <= 0)
        return 0;
    path[size] = 0;
    return strstr(path, words) != NULL;
}

static void wait_for(const char *name)
{
    for (int i = 0; i < 6000 && there(name); i++)
        usleep(10000);
}

int fdatasync(int fd)
{
    static int (*real)(int);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "fdatasync");
    if (is_named(fd, "-wal"))
        wait_for("SLOW_DATABASE");
    if (!is_named(fd, "/journal/segment-"))
        return real(fd);
    wait_for("SLOW_SYNC");
    if (there("FAIL_SYNC")) {
        (void)real(fd); /* the bytes are there; only the answer is bad */
        errno = EIO;
        return -1;
    }
    return real(fd);
}
