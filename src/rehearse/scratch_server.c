/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/scratch_server.h"

#include "base/spawn.h"
#include "cli/key_command.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    END_WAIT_MS = 20000,
    END_LOOK_MS = 20,
    ENVIRONMENT_MAX = 512,
    FOLDER_DEPTH_FDS = 16,
    LOG_TAIL = 2000
};

bool scratch_server_takes(struct span name)
{
    static const char *const sections[] = { "limits.", "room.", "pass.", "switches.", "watch.",
        "waitlist.", "human.challenge_s", "human.spent_max", "data.tickets_max", "orders.lag_max",
        "session.life" };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        const size_t size = strlen(sections[i]);
        if (name.size >= size && memcmp(name.data, sections[i], size) == 0)
            return true;
    }
    return false;
}

static bool file_write(const char *path, struct span text)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const bool good = fd >= 0 && write(fd, text.data, text.size) == (ssize_t)text.size;
    if (fd >= 0)
        close(fd);
    return good;
}

static bool key_make(struct scratch_server *host, FILE *errors)
{
    char keys[SCRATCH_PATH_BYTES + 32];
    snprintf(keys, sizeof keys, "%s/admin.keys", host->folder);
    snprintf(host->key_file, sizeof host->key_file, "%s/key", host->folder);
    char *arguments[] = { "key", "new", "--name", "rehearsal", "--role", "admin", "--file", keys, NULL };
    const int fd = open(host->key_file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (out == NULL)
        return false;
    const bool made = key_command_run(8, arguments, -1, out, errors) == KEY_DONE;
    return fclose(out) == 0 && made;
}

/* A port that nobody has. Between this and the start somebody might take it: then the start fails and
 * says so. */
static uint16_t port_find(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t bytes = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool good = fd >= 0 && bind(fd, (const struct sockaddr *)&address, bytes) == 0
        && getsockname(fd, (struct sockaddr *)&address, &bytes) == 0;
    if (fd >= 0)
        close(fd);
    return good ? ntohs(address.sin_port) : 0;
}

/* "limits.address_per_s=100" → a section of its own, so that the order of lines does not matter. */
static void settings_take(struct text *out, struct span settings)
{
    struct span line, name, section;
    while (span_take_until(&settings, '\n', &line)) {
        struct span rest = line;
        if (!span_take_until(&rest, '=', &name) || rest.size == 0 || !scratch_server_takes(name)
            || !span_take_until(&name, '.', &section))
            continue;
        text_literal(out, "[");
        text_add(out, section);
        text_literal(out, "]\n");
        text_add(out, name);
        text_literal(out, " = ");
        text_add(out, rest);
        text_literal(out, "\n");
    }
}

static bool settings_write(
    struct scratch_server *host, struct span settings, uint32_t connections, const char *path)
{
    static char bytes[2 * SCRATCH_SETTINGS_BYTES];
    struct text text = text_in(bytes, sizeof bytes);
    text_format(&text,
        "[server]\naddress = 127.0.0.1\nport = %u\nconnections_max = %u\n"
        "[data]\nfolder = %s/data\n[admin]\nkeys = %s/admin.keys\n[session]\nguests = yes\n"
        "[payment]\nproviders = sandbox\n[proxy]\ntrusted = 127.0.0.1\n"
        "[human]\npow_hashes = 1\npictures = 0\n",
        host->port, connections + 512, host->folder, host->folder);
    settings_take(&text, settings);
    return !text.overflow && file_write(path, text_span(&text));
}

/* Settings of the environment are the shop's, not the rehearsal's. */
static void environment_make(char *out[ENVIRONMENT_MAX])
{
    uint32_t count = 0;
    for (char **at = environ; *at != NULL && count < ENVIRONMENT_MAX - 1; at++)
        if (strncmp(*at, "STAMPEDE", 8) != 0)
            out[count++] = *at;
    out[count] = NULL;
}

static int process_start(struct scratch_server *host, char *config)
{
    char *const arguments[] = { "stampede", "serve", "--config", config, NULL };
    char log[SCRATCH_PATH_BYTES + 32], *environment[ENVIRONMENT_MAX];
    environment_make(environment);
    snprintf(log, sizeof log, "%s/log", host->folder);
    const int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const int own = dup(STDERR_FILENO); /* the child inherits standard error: the log, meanwhile */
    int result = in < 0 || out < 0 || own < 0 || dup2(out, STDERR_FILENO) < 0 ? errno : 0;
    if (result == 0) {
        result = spawn_self(&host->pid, arguments, environment, in, out);
        (void)dup2(own, STDERR_FILENO);
    }
    for (size_t i = 0; i < 3; i++) {
        const int fd = (const int[]){ in, out, own }[i];
        if (fd >= 0)
            close(fd);
    }
    if (result != 0)
        host->pid = 0;
    return result;
}

bool scratch_server_start(struct scratch_server *host, const char *scratch, struct span settings,
    uint32_t connections, FILE *errors)
{
    char config[SCRATCH_PATH_BYTES + 32];
    *host = (struct scratch_server){ 0 };
    if (scratch == NULL)
        scratch = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : P_tmpdir;
    if (snprintf(host->folder, sizeof host->folder, "%s/stampede-rehearse-XXXXXX", scratch)
            >= (int)sizeof host->folder
        || mkdtemp(host->folder) == NULL) {
        fprintf(errors, "stampede rehearse: %s: no folder can be made there: %m\n", scratch);
        host->folder[0] = 0;
        return false;
    }
    host->port = port_find();
    snprintf(host->url, sizeof host->url, "http://127.0.0.1:%u", host->port);
    snprintf(config, sizeof config, "%s/stampede.ini", host->folder);
    if (host->port == 0 || !key_make(host, errors)
        || !settings_write(host, settings, connections, config)) {
        fprintf(errors, "stampede rehearse: %s: the rehearsal server can't be prepared: %m\n",
            host->folder);
        return false;
    }
    const int result = process_start(host, config);
    errno = result;
    if (result != 0)
        fprintf(errors, "stampede rehearse: the rehearsal server can't be started: %m\n");
    return result == 0;
}

bool scratch_server_lives(struct scratch_server *host)
{
    if (host->pid > 0 && waitpid(host->pid, NULL, WNOHANG) == host->pid)
        host->pid = 0;
    return host->pid > 0;
}

double scratch_server_cpu_s(const struct scratch_server *host)
{
    char path[64], line[1024];
    uint64_t user = 0, kernel = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", host->pid);
    FILE *file = host->pid > 0 ? fopen(path, "re") : NULL;
    if (file == NULL)
        return 0;
    const size_t size = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[size] = 0;
    const char *after = strrchr(line, ')'); /* a name may have blanks */
    for (int field = 2; after != NULL && field < 14; field++)
        after = strchr(after + 1, ' ');
    if (after != NULL) {
        struct span rest = span_from_string(after + 1), word;
        if (!span_take_until(&rest, ' ', &word) || span_to_u64(word, &user) != STATUS_OK
            || !span_take_until(&rest, ' ', &word) || span_to_u64(word, &kernel) != STATUS_OK)
            return 0;
    }
    return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

void scratch_server_log_show(const struct scratch_server *host, FILE *out)
{
    char path[SCRATCH_PATH_BYTES + 32], text[LOG_TAIL];
    snprintf(path, sizeof path, "%s/log", host->folder);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    if (fseek(file, -(long)sizeof text, SEEK_END) != 0)
        rewind(file);
    const size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    fprintf(out, "stampede rehearse: the rehearsal server's log ends with:\n%.*s", (int)size, text);
}

static int entry_remove(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    return remove(path);
}

void scratch_server_end(struct scratch_server *host)
{
    const struct timespec look = { .tv_nsec = END_LOOK_MS * 1000000L };
    if (host->pid > 0) {
        (void)kill(host->pid, SIGTERM);
        for (int waited = 0; scratch_server_lives(host) && waited < END_WAIT_MS; waited += END_LOOK_MS)
            nanosleep(&look, NULL);
    }
    if (host->pid > 0) {
        (void)kill(host->pid, SIGKILL);
        (void)waitpid(host->pid, NULL, 0);
        host->pid = 0;
    }
    if (host->folder[0] != 0)
        (void)nftw(host->folder, entry_remove, FOLDER_DEPTH_FDS, FTW_DEPTH | FTW_PHYS);
    host->folder[0] = 0;
}
