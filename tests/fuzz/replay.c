/* Runs a fuzz target over files and folders, without libFuzzer: replay FILE-OR-FOLDER... */
#include "fuzz.h"

#include <dirent.h>
#include <sys/stat.h>

static long files;

static int run_file(const char *path)
{
    struct stat info;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &info) != 0) return 1;
    size_t size = (size_t)info.st_size;
    uint8_t *bytes = malloc(size + 1);
    int bad = !bytes || fread(bytes, 1, size, file) != size;
    fclose(file);
    if (!bad) LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    files++;
    return bad;
}

static int run(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) return 1;
    if (!S_ISDIR(info.st_mode)) return run_file(path);
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort), bad = n < 0;
    for (int i = 0; i < n; i++) {
        char name[2048];
        snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (stat(name, &info) == 0 && S_ISREG(info.st_mode)) bad |= run_file(name);
        free(entries[i]);
    }
    if (n >= 0) free(entries);
    return bad;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (run(argv[i]) != 0) {
            fprintf(stderr, "cannot read %s\n", argv[i]);
            return 1;
        }
    }
    printf("%ld files\n", files);
    return files ? 0 : 1;
}
