/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/password_read.h"

#include <string.h>
#include <termios.h>
#include <unistd.h>

enum {
    LINE_BYTES = PASSWORD_BYTES_MAX + 2
}; /* one more shows that it is too long, and the end of the line */

/* Up to the end of the line, which is not part of it; byte by byte, so that nothing after it is taken. */
static size_t line_read(int in, char line[LINE_BYTES])
{
    size_t size = 0;
    char byte;
    while (size < LINE_BYTES && read(in, &byte, 1) == 1 && byte != '\n')
        line[size++] = byte;
    if (size > 0 && line[size - 1] == '\r')
        size--;
    return size;
}

static size_t line_ask(int in, FILE *prompts, const char *prompt, char line[LINE_BYTES])
{
    fputs(prompt, prompts);
    fflush(prompts);
    const size_t size = line_read(in, line);
    fputs("\n", prompts);
    return size;
}

/* False: the two differ. */
static bool terminal_read(int in, FILE *prompts, char line[LINE_BYTES], size_t *size)
{
    struct termios shown, hidden;
    char again[LINE_BYTES];
    if (tcgetattr(in, &shown) != 0)
        return false;
    hidden = shown;
    hidden.c_lflag &= ~(tcflag_t)ECHO;
    if (tcsetattr(in, TCSAFLUSH, &hidden) != 0)
        return false;
    *size = line_ask(in, prompts, "New password: ", line);
    const size_t second = line_ask(in, prompts, "The same again: ", again);
    const bool same = second == *size && memcmp(line, again, second) == 0;
    explicit_bzero(again, sizeof again);
    return tcsetattr(in, TCSAFLUSH, &shown) == 0 && same;
}

const char *password_read(int in, FILE *prompts, char password[PASSWORD_BYTES_MAX], size_t *size)
{
    char line[LINE_BYTES];
    const char *wrong = NULL;
    if (isatty(in) == 0)
        *size = line_read(in, line);
    else if (!terminal_read(in, prompts, line, size))
        wrong = "the two passwords differ";
    if (wrong == NULL && *size < PASSWORD_BYTES_MIN)
        wrong = "a password must have at least 12 bytes";
    if (wrong == NULL && *size > PASSWORD_BYTES_MAX)
        wrong = "a password must have at most 128 bytes";
    if (wrong == NULL)
        memcpy(password, line, *size);
    explicit_bzero(line, sizeof line);
    return wrong;
}
