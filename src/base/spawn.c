/* SPDX-License-Identifier: Apache-2.0 */
#include "base/spawn.h"

#include <signal.h>
#include <spawn.h>
#include <unistd.h>

int spawn_self(pid_t *pid, char *const argv[], char *const environment[], int in, int out)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    int result = posix_spawn_file_actions_init(&files);
    if (result != 0)
        return result;
    result = posix_spawnattr_init(&attributes);
    if (result == 0) {
        (void)posix_spawnattr_setsigmask(&attributes, &none);
        (void)posix_spawnattr_setpgroup(&attributes, 0);
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
        result = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
        if (result == 0)
            result = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
        if (result == 0)
            result = posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
        if (result == 0)
            result = posix_spawn(pid, "/proc/self/exe", &files, &attributes, argv, environment);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&files);
    return result;
}
