/* The input files of a command line: folders, the standard input, and what a file is by its name or
 * its first bytes. Declared in options.h and options_internal.h. */
#define _GNU_SOURCE /* memfd_create, versionsort */
#include "driver/cli/options_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool ends_in(const char *path, const char *const *ends)
{
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot && ends[i]; i++)
        if (strcasecmp(dot, ends[i]) == 0) return true;
    return false;
}

static const char *const xyz_ends[] = {".xyz", ".extxyz", NULL};

static const char *const hdf5_ends[] = {".h5", ".hdf5", ".trexio", NULL};

const char *driver_unknown_end(const char *path)
{
    const char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path;
    const char *const dot = strrchr(name, '.');
    return dot && dot != name && !ends_in(name, xyz_ends) && !ends_in(name, hdf5_ends) ? dot : NULL;
}

static bool is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* Whether the standard input is HDF5. */
static bool stdin_is_hdf5(void)
{
    char head[4] = "";
    return pread(STDIN_FILENO, head, sizeof head, 0) == 4 && memcmp(head, "\x89HDF", 4) == 0;
}

bool driver_is_xyz(const char *path)
{
    return is_stdin(path) ? !stdin_is_hdf5() : ends_in(path, xyz_ends);
}

bool driver_is_pdb(const char *path)
{
    static const char *const ends[] = {".pdb", ".ent", NULL};
    return ends_in(path, ends);
}

bool driver_is_system(const char *path)
{
    static const char *const ends[] = {".json", ".inp", ".ajf", ".cif", ".mmcif", NULL};
    return driver_is_pdb(path) || ends_in(path, ends);
}

bool driver_writes_xyz(const driver_options *options)
{
    return options->output && ends_in(options->output, xyz_ends);
}

bool driver_is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

const char *driver_unpacker_of(const char *path)
{
    static const struct {
        const char *ends[2], *program;
    } known[] = {{{".gz"}, "zcat"},
                 {{".bz2"}, "bzcat"},
                 {{".xz"}, "xzcat"},
                 {{".zst"}, "zstdcat"},
                 {{".zip"}, "unzip -p"}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (ends_in(path, known[k].ends)) return known[k].program;
    return NULL;
}

/* Whether the first line of a file is a whole number, as in a .xyz file. */
bool driver_looks_like_xyz(const char *path)
{
    struct stat status;
    char line[80] = "";
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false;
    FILE *file = fopen(path, "r");
    if (!file) return false;
    const bool got = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    const char *const text = strncmp(line, "\xEF\xBB\xBF", 3) == 0 ? line + 3 : line;
    const char *number = text + strspn(text, " \t");
    const size_t digits = strspn(number, "0123456789");
    return got && digits > 0 && number[digits + strspn(number + digits, " \t\r\n")] == '\0';
}

/* ---- folders and the standard input ---------------------------------------------------------- */

/* Copies a pipe into an anonymous file that takes the place of the standard input, so that it can
 * be read by name and more than once. */
static fmo_status keep_stdin(fmo_error *err)
{
    static char buffer[1 << 16];
    struct stat info;
    if (fstat(STDIN_FILENO, &info) == 0 && S_ISREG(info.st_mode)) return FMO_OK;
    const int file = memfd_create("stdin", MFD_CLOEXEC);
    ssize_t got = 0;
    bool good = file >= 0;
    while (good && (got = read(STDIN_FILENO, buffer, sizeof buffer)) != 0) {
        if (got < 0 && errno == EINTR) continue;
        good = got > 0 && write(file, buffer, (size_t)got) == got;
    }
    good = good && dup2(file, STDIN_FILENO) >= 0;
    const int error = errno;
    if (file >= 0) close(file);
    if (good) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_INPUT,
                         "standard input: cannot be read: %s; name a file instead",
                         strerror(error));
}

/* Files of a folder that are molecules: geometries if there is a basis set, else data sets. */
static int is_geometry(const struct dirent *entry)
{
    return *entry->d_name != '.' && ends_in(entry->d_name, xyz_ends);
}
static int is_dataset(const struct dirent *entry)
{
    static const char *const ends[] = {".h5", NULL};
    return *entry->d_name != '.' && ends_in(entry->d_name, ends);
}

typedef struct list {
    char **path;
    int num, capacity;
} list;

static bool append(list *files, char *path)
{
    if (files->num == files->capacity) {
        char **more = realloc(files->path, (size_t)(2 * files->capacity + 64) * sizeof *more);
        if (!more) return false;
        files->path = more;
        files->capacity = 2 * files->capacity + 64;
    }
    files->path[files->num++] = path;
    return path != NULL;
}

/* Appends the molecules in a folder, in the order of `ls -v`. */
static fmo_status append_folder(const driver_options *options, const char *folder, list *files,
                                fmo_error *err)
{
    struct dirent **entry = NULL;
    const int num = scandir(folder, &entry, options->basis ? is_geometry : is_dataset, versionsort);
    bool good = true;
    for (int k = 0; k < num; k++) {
        char *path = NULL;
        const size_t length = strlen(folder);
        const char *const slash = length && folder[length - 1] == '/' ? "" : "/";
        if (good && asprintf(&path, "%s%s%s", folder, slash, entry[k]->d_name) < 0) path = NULL;
        good = good && append(files, path);
        free(entry[k]);
    }
    free(entry);
    if (!good) return fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the list of files");
    if (num > 0) return FMO_OK;
    return fmo_error_set(err, FMO_ERR_ARGUMENT, "%.200s: %s", folder,
                         num < 0          ? strerror(errno)
                         : options->basis ? "a folder without .xyz and .extxyz files: name another"
                                          : "a folder without .h5 files: name another, or add "
                                            "--basis NAME for .xyz files");
}

/* Folders are listed for --scf --batch alone; elsewhere the readers refuse them. */
fmo_status driver_options_find_inputs(driver_options *options, fmo_error *err)
{
    static list all; /* used until the program ends */
    const bool batch = options->scf && options->batch;
    fmo_status status = FMO_OK;
    bool folders = false, spooled = false;
    for (int i = 0; i < options->dataset_num && status == FMO_OK; i++) {
        char *const path = options->datasets[i];
        if (is_stdin(path) && !spooled) status = keep_stdin(err);
        spooled = spooled || is_stdin(path);
        if (batch && driver_is_folder(path)) {
            folders = true;
            status = append_folder(options, path, &all, err);
        } else if (!append(&all, path)) {
            status = fmo_error_set(err, FMO_ERR_MEMORY, "no memory for the list of files");
        }
    }
    if (status != FMO_OK || !folders) return status;
    options->datasets = all.path;
    options->dataset_num = all.num;
    return FMO_OK;
}
