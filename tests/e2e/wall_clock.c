/* Put under a program with LD_PRELOAD, it makes the wall clock wrong by as many milliseconds as the file
 * $WALL_CLOCK_OFFSET says now; other clocks run as they are. What an administrator, NTP or a resumed
 * virtual machine does to the wall clock, without touching the machine's. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long offset_ms(void)
{
    const char *path = getenv("WALL_CLOCK_OFFSET");
    FILE *file = path == NULL ? NULL : fopen(path, "re");
    char text[32] = "0";
    if (file != NULL) {
        if (fgets(text, sizeof text, file) == NULL)
            text[0] = 0;
        fclose(file);
    }
    return strtoll(text, NULL, 10);
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    const int answer = real(id, now);
    if (answer == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
        const long long ns = now->tv_nsec + offset_ms() % 1000 * 1000000;
        now->tv_sec += offset_ms() / 1000 + ns / 1000000000 - (ns < 0);
        now->tv_nsec = (long)((ns + 1000000000) % 1000000000);
    }
    return answer;
}
