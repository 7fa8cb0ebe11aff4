/* SPDX-License-Identifier: Apache-2.0 */
/* config/config_file.c: a settings file, read to its end, so that all its mistakes are told at once.
 * inih calls setting_take for each "name = value" but does not say in which line: line_read counts.
 * inih takes an indented line for more of the value before it; that, too, is a setting told twice. */
#include "config/config.h"
#include "config/mistakes.h"

#include <ini.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct settings_file {
    struct config *config;
    const char *path;
    FILE *stream;
    struct mistakes mistakes;
    uint32_t line;
    bool line_ended; /* the next bytes are those of another line */
    bool expected;   /* this line should be a setting, and none was seen so far */
    uint32_t lines[CONFIG_SETTINGS_MAX]; /* where each setting stands; 0: nowhere so far */
};

static void mistake_tell(struct settings_file *file, const char *what)
{
    char told[CONFIG_MISTAKE];
    snprintf(told, sizeof told, "%.100s line %" PRIu32 ": %.160s", file->path, file->line, what);
    mistakes_add(&file->mistakes, told);
}

static bool is_setting_or_wrong(const char *line)
{
    line += strspn(line, "\xef\xbb\xbf \t\r\n\f\v");
    return *line != 0 && *line != ';' && *line != '#' && (*line != '[' || strchr(line, ']') == NULL);
}

static void line_end(struct settings_file *file)
{
    if (file->expected)
        mistake_tell(file, "neither [section] nor name = value");
    file->expected = false;
}

static char *line_read(char *line, int size, void *context)
{
    struct settings_file *file = context;
    const bool starts = file->line_ended;
    if (starts)
        line_end(file);
    if (fgets(line, size, file->stream) == NULL)
        return NULL;
    if (starts) {
        file->line++;
        file->expected = is_setting_or_wrong(line);
    }
    file->line_ended = strchr(line, '\n') != NULL;
    return line;
}

static int setting_take(void *context, const char *section, const char *key, const char *value)
{
    struct settings_file *file = context;
    char wrong[CONFIG_MISTAKE] = "";
    const size_t at = config_find(section, key);
    file->expected = false;
    if (section[0] == 0)
        snprintf(wrong, sizeof wrong, "%.60s is in no section, like [server]", key);
    else if (at < CONFIG_SETTINGS_MAX && file->lines[at] != 0)
        snprintf(wrong, sizeof wrong,
            "%s.%s stands in line %" PRIu32
            " already: keep one, and put no spaces before a setting",
            section, key, file->lines[at]);
    else if (config_store(file->config, CONFIG_FILE, section, key, value, wrong) == STATUS_OK)
        wrong[0] = 0;
    if (at < CONFIG_SETTINGS_MAX && file->lines[at] == 0)
        file->lines[at] = file->line;
    if (wrong[0] != 0)
        mistake_tell(file, wrong);
    return 1;
}

enum status config_load_file(struct config *config, const char *path, char error[CONFIG_ERROR])
{
    struct settings_file file = { .config = config, .path = path, .line_ended = true };
    mistakes_begin(&file.mistakes, error);
    file.stream = fopen(path, "re");
    const int line = file.stream == NULL ? -1 : ini_parse_stream(line_read, &file, setting_take, &file);
    const bool unread = file.stream == NULL || ferror(file.stream) != 0;
    if (file.stream != NULL)
        fclose(file.stream);
    line_end(&file);
    if (line > 0 && file.mistakes.count == 0) { /* only inih knows why */
        file.line = (uint32_t)line;
        mistake_tell(&file, "neither [section] nor name = value");
    }
    if (unread) {
        char told[CONFIG_MISTAKE];
        snprintf(told, sizeof told, "%.100s: can't be read", path);
        mistakes_add(&file.mistakes, told);
    }
    return mistakes_end(&file.mistakes);
}
