/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/key_command.h"

#include "base/hash.h"
#include "base/random.h"
#include "base/text.h"
#include "cli/password_read.h"
#include "config/admin_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINE_BYTES = ADMIN_NAME_MAX + ADMIN_ROLE_CHARS_MAX + 16 + 2 * PASSWORD_SALT_BYTES + 2 * HASH_SHA256_BYTES,
};

struct key_options {
    const char *name, *role, *file;
    bool password; /* else a key */
    int in;
};

static int usage(FILE *errors, const char *wrong)
{
    if (wrong != NULL)
        fprintf(errors, "stampede key: %s\n", wrong);
    fputs(
        "usage: stampede key new --name NAME --role viewer|operator|admin|channel=NAME --file "
        "FILE\n"
        "       stampede key password --name NAME --role viewer|operator|admin --file FILE\n"
        "       stampede key list --file FILE\n"
        "  new shows the key once, and adds its name, role and hash to the file that admin.keys "
        "names.\n"
        "  password reads a password for the console from the terminal or standard input, and adds "
        "its "
        "salted hash.\n"
        "  A key with the role channel=NAME works for that sales channel only "
        "(docs/channels.md).\n",
        errors);
    return wrong != NULL ? KEY_USAGE : KEY_DONE;
}

static bool file_load(const char *path, struct admin_keys *keys, FILE *errors)
{
    char error[ADMIN_ERROR];
    if (admin_keys_load(keys, path, error) == STATUS_OK)
        return true;
    fprintf(errors, "stampede key: %s\n", error);
    return false;
}

/* Somebody may have edited the file and left its last line open. */
static bool line_is_open(int fd)
{
    char last = '\n';
    const off_t size = lseek(fd, 0, SEEK_END);
    return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

static bool line_append(int fd, const struct key_options *options, const uint8_t *salt,
    const uint8_t hash[HASH_SHA256_BYTES])
{
    char bytes[LINE_BYTES];
    struct text line = text_in(bytes, sizeof bytes);
    text_format(&line, "%s%s:%s:", line_is_open(fd) ? "\n" : "", options->name, options->role);
    if (salt != NULL) {
        text_literal(&line, "scrypt:");
        text_hex(&line, span_of(salt, PASSWORD_SALT_BYTES));
        text_literal(&line, ":");
    }
    text_hex(&line, span_of(hash, HASH_SHA256_BYTES));
    text_literal(&line, "\n");
    invariant(!line.overflow);
    return write(fd, line.data, line.size) == (ssize_t)line.size;
}

static int key_write(int fd, const struct key_options *options, FILE *out, FILE *errors)
{
    char key[ADMIN_KEY_CHARS + 1];
    uint8_t hash[HASH_SHA256_BYTES];
    admin_key_make(key);
    hash_sha256(key, ADMIN_KEY_CHARS, hash);
    const bool written = line_append(fd, options, NULL, hash);
    if (written)
        fprintf(out, "%s\n", key);
    else
        fprintf(errors, "stampede key: %s: %m\n", options->file);
    explicit_bzero(key, sizeof key);
    return written && fflush(out) == 0 ? KEY_DONE : KEY_FAILED;
}

static int password_write(int fd, const struct key_options *options, FILE *errors)
{
    char password[PASSWORD_BYTES_MAX];
    uint8_t salt[PASSWORD_SALT_BYTES], hash[HASH_SHA256_BYTES];
    size_t size;
    const char *wrong = password_read(options->in, errors, password, &size);
    random_secret(salt, sizeof salt);
    if (wrong == NULL && password_hash(span_of(password, size), salt, hash) != STATUS_OK)
        wrong = "no memory for hashing";
    explicit_bzero(password, sizeof password);
    if (wrong != NULL)
        fprintf(errors, "stampede key: %s\n", wrong);
    else if (!line_append(fd, options, salt, hash))
        fprintf(errors, "stampede key: %s: %m\n", options->file);
    else
        return KEY_DONE;
    return KEY_FAILED;
}

static int key_add(int fd, const struct key_options *options, FILE *out, FILE *errors)
{
    static struct admin_keys keys;
    if (!file_load(options->file, &keys, errors))
        return KEY_FAILED;
    for (uint32_t i = 0; i < keys.count; i++) {
        if (keys.keys[i].password != options->password || strcmp(keys.keys[i].name, options->name) != 0)
            continue;
        fprintf(errors, "stampede key: %s has a %s named %s already\n", options->file,
            options->password ? "password" : "key", options->name);
        return KEY_FAILED;
    }
    if (keys.count == ADMIN_KEYS_MAX) {
        fprintf(errors, "stampede key: %s is full (%d keys)\n", options->file, ADMIN_KEYS_MAX);
        return KEY_FAILED;
    }
    return options->password ? password_write(fd, options, errors) : key_write(fd, options, out, errors);
}

static int key_new(const struct key_options *options, FILE *out, FILE *errors)
{
    if (options->name == NULL || options->role == NULL || options->file == NULL)
        return usage(errors, "new and password need --name, --role and --file");
    if (!admin_name_is_good(span_from_string(options->name)))
        return usage(errors, "--name must be 1 to 64 visible characters without a colon");
    const struct admin_right right = admin_right_read(span_from_string(options->role));
    if (right.role == ADMIN_NOBODY)
        return usage(errors, "--role must be " ADMIN_ROLES_TEXT);
    if (options->password && right.role == ADMIN_CHANNEL)
        return usage(errors, "a channel has keys, no passwords: the console is for people");
    const int fd = open(options->file, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) != 0) {
        fprintf(errors, "stampede key: %s: %m\n", options->file);
        if (fd >= 0)
            close(fd);
        return KEY_FAILED;
    }
    int result = KEY_FAILED;
    if (fchmod(fd, 0600) == 0)
        result = key_add(fd, options, out, errors);
    else
        fprintf(errors, "stampede key: %s: %m\n", options->file);
    if (close(fd) != 0)
        result = KEY_FAILED;
    return result;
}

static int key_list(const struct key_options *options, FILE *out, FILE *errors)
{
    static struct admin_keys keys;
    if (options->file == NULL)
        return usage(errors, "list needs --file");
    if (!file_load(options->file, &keys, errors))
        return KEY_FAILED;
    for (uint32_t i = 0; i < keys.count; i++) {
        char role[ADMIN_ROLE_CHARS_MAX + 1];
        fprintf(out, "%-24s %s%s\n", keys.keys[i].name, admin_right_text(&keys.keys[i].right, role),
            keys.keys[i].password ? " (password)" : "");
    }
    return KEY_DONE;
}

int key_command_run(int argc, char **argv, int in, FILE *out, FILE *errors)
{
    struct key_options options = { .in = in };
    if (argc < 2)
        return usage(errors, "missing verb: new, password or list");
    if (strcmp(argv[argc - 1], "--help") == 0)
        return usage(out, NULL);
    for (int i = 2; i < argc; i += 2) {
        const char **place = strcmp(argv[i], "--name") == 0 ? &options.name
            : strcmp(argv[i], "--role") == 0                ? &options.role
            : strcmp(argv[i], "--file") == 0                ? &options.file
                                                            : NULL;
        if (place == NULL || i + 1 == argc)
            return usage(errors, "unknown option, or an option without its value");
        *place = argv[i + 1];
    }
    options.password = strcmp(argv[1], "password") == 0;
    if (options.password || strcmp(argv[1], "new") == 0)
        return key_new(&options, out, errors);
    if (strcmp(argv[1], "list") == 0)
        return key_list(&options, out, errors);
    return usage(errors, "missing verb: new, password or list");
}

int key_command_main(int argc, char **argv)
{
    return key_command_run(argc, argv, STDIN_FILENO, stdout, stderr);
}
