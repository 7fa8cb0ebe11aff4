/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fuzz/run_corpus.c: runs a fuzz target over committed corpora without libFuzzer, so that
 * every input that was ever interesting stays a test. Usage: x_fuzz FOLDER|FILE…; prints `N
 * passed, 0 failed`; a finding stops the program the way the sanitizer or the invariant wants. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned inputs_run;

static void fail(const char *path)
{
    perror(path);
    exit(EXIT_FAILURE);
}

static void run_file(const char *path, size_t bytes)
{
    /* Exactly as large as the input, so that ASan sees a read one past its end. */
    uint8_t *data = malloc(bytes ? bytes : 1);
    FILE *file = fopen(path, "rb");
    if (!data || !file || fread(data, 1, bytes, file) != bytes)
        fail(path);
    fclose(file);
    fprintf(stderr, "%s\n", path); /* the last one named is the one that failed */
    LLVMFuzzerTestOneInput(data, bytes);
    free(data);
    inputs_run++;
}

static void run_path(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        fail(path);
    if (!S_ISDIR(info.st_mode)) {
        run_file(path, (size_t)info.st_size);
        return;
    }
    struct dirent **names = NULL;
    int count = scandir(path, &names, NULL, alphasort);
    if (count < 0)
        fail(path);
    for (int i = 0; i < count; i++) {
        char child[PATH_BYTES];
        int length = snprintf(child, sizeof child, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.' && length > 0 && (size_t)length < sizeof child)
            run_path(child);
        free(names[i]);
    }
    free(names);
}

int main(int argc, char **argv)
{
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    inputs_run++;
    for (int i = 1; i < argc; i++)
        run_path(argv[i]);
    printf("%u passed, 0 failed\n", inputs_run);
    return EXIT_SUCCESS;
}
