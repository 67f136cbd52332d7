/* Recognises files written by fmo: HDF5 files by attributes of /fmo that data sets of other
 * programs do not have, provided that they contain nothing that fmo does not write (content.c);
 * Molden files by their title, JSON by its first key, and other texts by their first lines
 * (kind.h). */
#include "io/output/content.h"
#include "io/output/kind.h"
#include "io/trexio/store.h"
#include <fmo/result.h>

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *fmo_file_kind_text(fmo_file_kind kind)
{
#define ROW(e, text) [e] = text,
    static const char *const texts[] = {FMO_FILE_TABLE(ROW)};
#undef ROW
    return (unsigned)kind < FMO_FILE_KIND_COUNT ? texts[kind] : NULL;
}

/* Whether the second line of a file begins as those of extended .xyz, with or without forces
 * and charges. */
static bool is_extxyz(const char *line)
{
    if (strncmp(line, FMO_EXTXYZ_HEAD, strlen(FMO_EXTXYZ_HEAD)) != 0) return false;
    line += strlen(FMO_EXTXYZ_HEAD);
    if (strncmp(line, FMO_EXTXYZ_FORCES, strlen(FMO_EXTXYZ_FORCES)) == 0)
        line += strlen(FMO_EXTXYZ_FORCES);
    if (strncmp(line, FMO_EXTXYZ_CHARGES, strlen(FMO_EXTXYZ_CHARGES)) == 0)
        line += strlen(FMO_EXTXYZ_CHARGES);
    return strncmp(line, FMO_EXTXYZ_VERSION, strlen(FMO_EXTXYZ_VERSION)) == 0;
}

/* Returns the kind of a text file by its first bytes. */
static fmo_file_kind kind_of_text(const char *head)
{
    if (strncmp(head, FMO_MOLDEN_HEAD, strlen(FMO_MOLDEN_HEAD)) == 0) return FMO_FILE_MOLDEN;
    if (strncmp(head, FMO_STATE_HEAD, strlen(FMO_STATE_HEAD)) == 0) return FMO_FILE_STATE;
    if (strncmp(head, FMO_PAIRS_HEAD, strlen(FMO_PAIRS_HEAD)) == 0) return FMO_FILE_PAIRS;
    if (strncmp(head, FMO_MAP_HEAD, strlen(FMO_MAP_HEAD)) == 0) return FMO_FILE_MAP;
    if (strncmp(head, FMO_PAGE_HEAD, strlen(FMO_PAGE_HEAD)) == 0) return FMO_FILE_PAGE;
    if (strncmp(head, FMO_CPF_HEAD, strlen(FMO_CPF_HEAD)) == 0) return FMO_FILE_CPF;
    if (strncmp(head, FMO_CHECKPOINT_HEAD, strlen(FMO_CHECKPOINT_HEAD)) == 0)
        return FMO_FILE_CHECKPOINT;
    const char *second = strchr(head, '\n');
    if (second && is_extxyz(second + 1)) return FMO_FILE_EXTXYZ;
    if (*head != '{') return FMO_FILE_OTHER;
    head++;
    head += strspn(head, " \n");
    return strncmp(head, FMO_JSON_HEAD, strlen(FMO_JSON_HEAD)) == 0 ? FMO_FILE_JSON
                                                                    : FMO_FILE_OTHER;
}

/* Returns the kind of an HDF5 file by its attributes, or FMO_FILE_OTHER. */
static fmo_file_kind kind_of_hdf5(int descriptor, uint64_t size)
{
    const fmo_attribute *a = fmo_attributes;
    fmo_store store = {.descriptor = descriptor, .size = size};
    fmo_file_kind kind = FMO_FILE_OTHER;
    if (fmo_store_open(&store) == FMO_OK &&
        fmo_store_has_attribute(&store, &a[ATTR_fmo_fmo_version])) {
        const bool trexio = fmo_store_has_attribute(&store, &a[ATTR_metadata_package_version]);
        if (trexio && fmo_store_has_attribute(&store, &a[ATTR_fmo_converged]))
            kind = FMO_FILE_ORBITALS;
        else if (!trexio && fmo_store_has_attribute(&store, &a[ATTR_fmo_fragments]))
            kind = FMO_FILE_FRAGMENTS;
        else if (!trexio && fmo_store_has_attribute(&store, &a[ATTR_fmo_molecule_num]))
            kind = FMO_FILE_MOLECULES;
        else if (!trexio && fmo_store_has_attribute(&store, &a[ATTR_fmo_mode]))
            kind = FMO_FILE_MATRICES;
        if (!fmo_content_is_ours(&store.tree, kind)) kind = FMO_FILE_OTHER; /* modified */
    }
    fmo_store_close(&store);
    return kind;
}

fmo_file_kind fmo_file_kind_of(const char *path)
{
    struct stat info;
    char head[256] = "";
    fmo_file_kind kind = FMO_FILE_OTHER;
    if (!path || stat(path, &info) != 0) {
        struct stat link; /* a dangling symbolic link is not a free path */
        return path && lstat(path, &link) != 0 ? FMO_FILE_NONE : FMO_FILE_OTHER;
    }
    if (!S_ISREG(info.st_mode)) return FMO_FILE_OTHER;
    if (info.st_size == 0) return FMO_FILE_EMPTY;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return FMO_FILE_OTHER;
    if (pread(descriptor, head, sizeof head - 1, 0) > 0) kind = kind_of_text(head);
    if (kind == FMO_FILE_OTHER) kind = kind_of_hdf5(descriptor, (uint64_t)info.st_size);
    close(descriptor);
    return kind;
}
