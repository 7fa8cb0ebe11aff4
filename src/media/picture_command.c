/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture_command.h"

#include "base/log.h"
#include "base/spawn.h"
#include "media/picture_clean.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_REFUSED = 3, EXIT_TOO_LONG = 4, EXIT_FAILED = 5, CHILD_PRIORITY = 19 };

/* ---- the child */

/* A sanitizer's own memory would count as well. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MEMORY_BOUNDED = 0 };
#else
enum { MEMORY_BOUNDED = 1 };
#endif

static bool bounds_set(void)
{
    const struct rlimit cpu = { PICTURE_CPU_S, PICTURE_CPU_S };
    const struct rlimit memory = { PICTURE_MEMORY_BYTES, PICTURE_MEMORY_BYTES };
    const struct rlimit output = { PICTURE_KEPT_BYTES_MAX, PICTURE_KEPT_BYTES_MAX };
    const struct rlimit none = { 0, 0 };
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
        && setpriority(PRIO_PROCESS, 0, CHILD_PRIORITY) == 0 && setrlimit(RLIMIT_CPU, &cpu) == 0
        && setrlimit(RLIMIT_FSIZE, &output) == 0 && setrlimit(RLIMIT_CORE, &none) == 0
        && (!MEMORY_BOUNDED || setrlimit(RLIMIT_AS, &memory) == 0);
}

static bool write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(fd, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

int picture_command_main(int argc, char **argv)
{
    struct stat input;
    void *cleaned = NULL;
    size_t size = 0;
    (void)argv;
    if (argc != 1 || !bounds_set() || fstat(STDIN_FILENO, &input) != 0 || input.st_size <= 0)
        return EXIT_FAILED;
    const size_t bytes = (size_t)input.st_size;
    const void *data = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0);
    if (data == MAP_FAILED)
        return EXIT_FAILED;
    const enum status status = picture_clean(span_of(data, bytes), &cleaned, &size);
    if (status != STATUS_OK)
        return status == STATUS_FULL ? EXIT_TOO_LONG : EXIT_REFUSED;
    const bool written = write_all(STDOUT_FILENO, cleaned, size);
    picture_free(cleaned);
    return written ? 0 : EXIT_FAILED;
}

/* ---- the server */

static int file_make(const char *name)
{
    return memfd_create(name, MFD_CLOEXEC);
}

enum status picture_child_start(struct picture_child *child, struct span bytes, uint64_t now_ms)
{
    char *const argv[] = { "stampede", PICTURE_VERB, NULL };
    char *const environment[] = { NULL };
    const int in = file_make("picture-in"), out = file_make("picture-out");
    int result = in < 0 || out < 0 ? errno : 0;
    pid_t pid = 0;
    if (result == 0 && !write_all(in, bytes.data, bytes.size))
        result = errno;
    if (result == 0 && lseek(in, 0, SEEK_SET) != 0)
        result = errno;
    if (result == 0)
        result = spawn_self(&pid, argv, environment, in, out);
    if (in >= 0)
        close(in);
    if (result == 0) {
        *child =
            (struct picture_child){ .pid = pid, .out = out, .deadline_ms = now_ms + PICTURE_WAIT_MS };
        return STATUS_OK;
    }
    if (out >= 0)
        close(out);
    log_error("media", "a picture can't be decoded: %s", strerrordesc_np(result));
    return STATUS_IO;
}

/* What it wrote; PICTURE_CHILD_FAILED if that can't be had. */
static enum picture_outcome result_read(int out, char **bytes, size_t *size)
{
    struct stat written;
    if (fstat(out, &written) != 0 || written.st_size <= 0 || written.st_size > PICTURE_KEPT_BYTES_MAX)
        return PICTURE_CHILD_FAILED;
    *size = (size_t)written.st_size;
    *bytes = malloc(*size);
    if (*bytes != NULL && pread(out, *bytes, *size, 0) == written.st_size)
        return PICTURE_CHILD_DONE;
    free(*bytes);
    *bytes = NULL;
    return PICTURE_CHILD_FAILED;
}

enum picture_outcome picture_child_look(
    struct picture_child *child, uint64_t now_ms, char **bytes, size_t *size)
{
    int ended = 0;
    enum picture_outcome outcome = PICTURE_CHILD_REFUSED; /* by a signal too: it broke the decoder */
    *bytes = NULL;
    *size = 0;
    const pid_t pid = waitpid(child->pid, &ended, WNOHANG);
    if (pid == 0 && now_ms < child->deadline_ms)
        return PICTURE_CHILD_RUNS;
    if (pid == child->pid) {
        child->pid = 0;
        if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0)
            outcome = result_read(child->out, bytes, size);
        else if (WIFEXITED(ended) && WEXITSTATUS(ended) == EXIT_TOO_LONG)
            outcome = PICTURE_CHILD_TOO_LONG;
        else if (WIFEXITED(ended) && WEXITSTATUS(ended) != EXIT_REFUSED)
            outcome = PICTURE_CHILD_FAILED;
    }
    if (pid < 0)
        outcome = PICTURE_CHILD_FAILED; /* somebody else has waited for it */
    picture_child_end(child);
    return outcome;
}

void picture_child_end(struct picture_child *child)
{
    if (child->pid > 0) {
        (void)kill(child->pid, SIGKILL);
        (void)waitpid(child->pid, NULL, 0);
    }
    if (child->out > 0)
        close(child->out);
    *child = (struct picture_child){ 0 };
}
