/* SPDX-License-Identifier: Apache-2.0 */
/* Put under a program with LD_PRELOAD, it makes the wall clock wrong by as many milliseconds as the file
 * $WALL_CLOCK_OFFSET says now, and the clock since boot by those of $BOOT_CLOCK_OFFSET; other clocks run
 * as they are. What an administrator, NTP or a resumed virtual machine does to the wall clock, and
 * minutes that nobody wants to wait for, without touching the machine's. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long offset_ms(const char *name)
{
    const char *path = getenv(name);
    FILE *file = path == NULL ? NULL : fopen(path, "re");
    char text[32] = "0";
    if (file != NULL) {
        if (fgets(text, sizeof text, file) == NULL)
            text[0] = 0;
        fclose(file);
    }
    return strtoll(text, NULL, 10);
}

static void move(struct timespec *now, long long by_ms)
{
    const long long ns = now->tv_nsec + by_ms % 1000 * 1000000;
    now->tv_sec += by_ms / 1000 + ns / 1000000000 - (ns < 0);
    now->tv_nsec = (long)((ns + 1000000000) % 1000000000);
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    const int answer = real(id, now);
    if (answer == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        move(now, offset_ms("WALL_CLOCK_OFFSET"));
    else if (answer == 0 && id == CLOCK_BOOTTIME)
        move(now, offset_ms("BOOT_CLOCK_OFFSET"));
    return answer;
}
