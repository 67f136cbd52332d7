/* See draw.h. Every choice comes from one stream of random numbers. */
#include "tests/io/draw.h"
#include "tests/io/must.h"

#include <stdint.h>
#include <string.h>

enum { RANK_MAX = 4, VALUES_MAX = 3000, NAME_BYTES_MAX = 300, MANAGED_MAX = 1600 };

static uint64_t state;
static bool odd_file, shared; /* messages, which HDF5 1.10 does not always delete */
static int newest;            /* that structures may be of: H5F_LIBVER_ */

static uint64_t next_random(void) /* splitmix64 */
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static int below(int n)
{
    return (int)(next_random() % (uint64_t)n);
}

static bool one_in(int n)
{
    return below(n) == 0;
}

/* --- types and values --------------------------------------------------------------------------*/

static hid_t draw_string(void)
{
    hid_t type = GET(H5Tcopy(H5T_C_S1));
    MUST(H5Tset_size(type, one_in(2) ? H5T_VARIABLE : (size_t)(1 + below(20))));
    MUST(H5Tset_strpad(type, one_in(2) ? H5T_STR_NULLTERM : H5T_STR_SPACEPAD));
    MUST(H5Tset_cset(type, one_in(2) ? H5T_CSET_ASCII : H5T_CSET_UTF8));
    return type;
}

/* A type that no field of a data set has. */
static hid_t draw_odd_type(void)
{
    const hsize_t three = 3;
    hid_t type = -1;
    switch (below(9)) {
    case 0: /* integers that do not fill their bytes */
        type = GET(H5Tcopy(H5T_STD_I32LE));
        MUST(H5Tset_precision(type, 17));
        MUST(H5Tset_offset(type, (size_t)below(15)));
        return type;
    case 1:
        type = GET(H5Tcopy(H5T_STD_U32BE));
        MUST(H5Tset_size(type, 3));
        return type;
    case 2:
        return GET(H5Tcopy(H5T_STD_B16LE));
    case 3:
        type = GET(H5Tcreate(H5T_OPAQUE, 5));
        MUST(H5Tset_tag(type, "five"));
        return type;
    case 4: {
        int value = 1;
        type = GET(H5Tenum_create(H5T_NATIVE_INT));
        MUST(H5Tenum_insert(type, "ONE", &value));
        return type;
    }
    case 5:
        type = GET(H5Tcreate(H5T_COMPOUND, 16));
        MUST(H5Tinsert(type, "a", 0, H5T_STD_I32BE));
        MUST(H5Tinsert(type, "b", 8, H5T_IEEE_F64LE));
        return type;
    case 6:
        return GET(H5Tarray_create2(H5T_IEEE_F64LE, 1, &three));
    case 7:
        return GET(H5Tvlen_create(H5T_STD_I32LE));
    default:
        return GET(H5Tcopy(H5T_NATIVE_LDOUBLE));
    }
}

static hid_t draw_type(void)
{
    const hid_t numbers[] = {H5T_STD_I8LE,   H5T_STD_I8BE,   H5T_STD_U8LE,   H5T_STD_U8BE,
                             H5T_STD_I16LE,  H5T_STD_I16BE,  H5T_STD_U16LE,  H5T_STD_U16BE,
                             H5T_STD_I32LE,  H5T_STD_I32BE,  H5T_STD_U32LE,  H5T_STD_U32BE,
                             H5T_STD_I64LE,  H5T_STD_I64BE,  H5T_STD_U64LE,  H5T_STD_U64BE,
                             H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE};
    const int kind = below(10);
    if (kind == 0) return draw_odd_type();
    if (kind <= 2) return draw_string();
    if (kind <= 5) return GET(H5Tcopy(H5T_IEEE_F64LE));
    return GET(H5Tcopy(numbers[below((int)(sizeof numbers / sizeof *numbers))]));
}

static char *draw_text(int max_size)
{
    const int size = below(max_size + 1);
    char *text = calloc((size_t)max_size + 1, 1);
    for (int i = 0; i < size; i++) text[i] = (char)('a' + below(26));
    return text;
}

/* n values in memory of the type itself; free_values. */
static void *draw_values(hid_t type, size_t n)
{
    const size_t size = H5Tget_size(type);
    unsigned char *values = calloc(n + 1, size);
    const bool constant = one_in(3), small = one_in(3);
    if (H5Tis_variable_str(type) > 0) {
        for (size_t i = 0; i < n; i++) {
            char *text = one_in(5) ? NULL : draw_text(one_in(20) ? 6000 : 12);
            memcpy(values + i * size, &text, sizeof text);
        }
    } else if (H5Tget_class(type) == H5T_VLEN) {
        for (size_t i = 0; i < n; i++) {
            hvl_t sequence = {(size_t)below(4), NULL};
            sequence.p = calloc(4, sizeof(int32_t));
            memcpy(values + i * size, &sequence, sizeof sequence);
        }
    } else {
        for (size_t i = 0; i < n * size; i++)
            values[i] = (unsigned char)(constant            ? (int)(i % size)
                                        : small && i % size ? 0
                                                            : below(256));
        for (size_t i = 0; H5Tget_class(type) == H5T_STRING && i < n * size; i++)
            values[i] = (unsigned char)('a' + values[i] % 26);
    }
    return values;
}

static void free_values(hid_t type, hid_t space, void *values)
{
    if (H5Tis_variable_str(type) > 0 || H5Tget_class(type) == H5T_VLEN)
        MUST(H5Dvlen_reclaim(type, space, H5P_DEFAULT, values));
    free(values);
}

/* Shapes of up to VALUES_MAX values. max_dims may be NULL; the limits are equal, larger or
 * unlimited. */
static hid_t draw_space(int *rank, hsize_t *dims, hsize_t *max_dims)
{
    int left = one_in(4) ? VALUES_MAX : 60;
    *rank = 0;
    if (one_in(12)) return GET(H5Screate(H5S_NULL));
    if (one_in(10)) return GET(H5Screate(H5S_SCALAR));
    *rank = 1 + below(RANK_MAX);
    const bool same = one_in(3);
    for (int d = 0; d < *rank; d++) {
        dims[d] = one_in(30) ? 0 : (hsize_t)(1 + below(left < 100 ? left : left / 2));
        left = dims[d] ? left / (int)dims[d] : left;
        if (left < 1) left = 1;
        if (!max_dims) continue;
        max_dims[d] = same || one_in(3) ? dims[d]
                      : one_in(2)       ? H5S_UNLIMITED
                                        : dims[d] + (hsize_t)below(20);
        if (!max_dims[d]) max_dims[d] = 1;
    }
    return GET(H5Screate_simple(*rank, dims, max_dims));
}

/* --- names, attributes -------------------------------------------------------------------------*/

static void draw_name(char name[NAME_BYTES_MAX], int number)
{
    const int extra = one_in(20) ? below(NAME_BYTES_MAX - 20) : below(12);
    int n = snprintf(name, NAME_BYTES_MAX, "%c%d", 'a' + below(26), number);
    for (int i = 0; i < extra; i++) name[n++] = (char)('A' + below(26));
    name[n] = '\0';
}

/* Adds an attribute of a random type, shape and value; large: it may exceed what fits into an
 * object header. */
static void draw_attribute(hid_t object, const char *name, bool large)
{
    int rank = 0;
    hsize_t dims[RANK_MAX];
    hid_t type = draw_type(), space = draw_space(&rank, dims, NULL);
    while (!large &&
           (size_t)H5Sget_simple_extent_npoints(space) * H5Tget_size(type) > MANAGED_MAX) {
        H5Sclose(space);
        space = draw_space(&rank, dims, NULL);
    }
    const size_t n = (size_t)H5Sget_simple_extent_npoints(space);
    hid_t attribute = GET(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT));
    if (n && H5Sget_simple_extent_type(space) != H5S_NULL && !one_in(8)) {
        void *values = draw_values(type, n);
        MUST(H5Awrite(attribute, type, values));
        free_values(type, space, values);
    }
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
}

/* Adds a random number of attributes to an object, and deletes or renames one now and then. */
static void draw_attributes(hid_t object)
{
    const int n = one_in(2) ? 0 : one_in(6) ? 10 + below(40) : 1 + below(6);
    char name[NAME_BYTES_MAX], first[NAME_BYTES_MAX] = "";
    const bool large = n && one_in(40);
    odd_file |= large;
    for (int i = 0; i < n; i++) {
        draw_name(name, i);
        draw_attribute(object, name, large);
        if (i == 0) strcpy(first, name);
        if (i > 1 && *first && !shared && one_in(6)) {
            MUST(H5Adelete(object, first));
            *first = '\0';
        } else if (i > 1 && *first && one_in(12)) {
            MUST(H5Arename(object, first, "renamed"));
            *first = '\0';
        }
    }
    if (one_in(20)) MUST(H5Oset_comment(object, "a comment"));
}

static void draw_object_properties(hid_t properties)
{
    if (one_in(3)) {
        const unsigned dense = (unsigned)below(9);
        MUST(H5Pset_attr_phase_change(properties, dense + (unsigned)below(5), dense));
    }
    if (one_in(4)) MUST(H5Pset_attr_creation_order(properties, H5P_CRT_ORDER_TRACKED));
    if (one_in(3)) MUST(H5Pset_obj_track_times(properties, one_in(2)));
}

/* --- datasets ----------------------------------------------------------------------------------*/

enum { ODD_FILTER = 300 /* like a plug-in's */ };

/* Inverts every byte, and back; one more byte precedes them. */
static size_t odd_filter(unsigned flags, size_t parameter_num, const unsigned parameters[],
                         size_t size, size_t *capacity, void **bytes)
{
    const size_t from = flags & H5Z_FLAG_REVERSE ? 1 : 0, to = 1 - from;
    unsigned char *made = H5allocate_memory(size + 1, false), *given = *bytes;
    (void)parameter_num;
    (void)parameters;
    if (!made || size < from) return 0;
    made[0] = 'x';
    for (size_t i = 0; i + from < size; i++) made[i + to] = given[i + from] ^ 0xff;
    H5free_memory(given);
    *bytes = made;
    *capacity = size + 1;
    return size + to - from;
}

static void draw_filters(hid_t properties, hid_t type)
{
    static const H5Z_class2_t odd = {H5Z_CLASS_T_VERS, ODD_FILTER, 1,    1,
                                     "odd filter",     NULL,       NULL, odd_filter};
    const bool heap = H5Tis_variable_str(type) > 0 || H5Tget_class(type) == H5T_VLEN;
    const bool first = one_in(2), other = one_in(4) && !heap; /* heaps: optional filters alone */
    if (H5Tget_class(type) == H5T_INTEGER && H5Tget_precision(type) < 8 * H5Tget_size(type)) {
        MUST(H5Pset_nbit(properties)); /* of the values themselves */
        return;
    }
    MUST(H5Zregister(&odd));
    if (other && first) MUST(H5Pset_filter(properties, ODD_FILTER, 0, 0, NULL));
    if (one_in(3)) MUST(H5Pset_shuffle(properties));
    if (one_in(3)) MUST(H5Pset_deflate(properties, (unsigned)(1 + below(9))));
    if (one_in(3) && !heap) MUST(H5Pset_fletcher32(properties));
    if (other && !first) MUST(H5Pset_filter(properties, ODD_FILTER, 0, 0, NULL));
}

/* Chunks with their filters; the whole shape in one, sometimes. */
static void draw_chunks(hid_t properties, hid_t type, int rank, const hsize_t *dims,
                        const hsize_t *max_dims)
{
    hsize_t chunk[RANK_MAX];
    const bool whole = one_in(4), tiny = one_in(6);
    for (int d = 0; d < rank; d++) {
        const hsize_t limit = max_dims[d] == H5S_UNLIMITED ? dims[d] + 10 : max_dims[d];
        chunk[d] = whole ? dims[d] : tiny ? 1 : 1 + (hsize_t)below((int)(dims[d] ? dims[d] : 3));
        if (chunk[d] < 1) chunk[d] = 1;
        if (chunk[d] > limit) chunk[d] = limit;
    }
    MUST(H5Pset_chunk(properties, rank, chunk));
    if (one_in(2)) draw_filters(properties, type);
    if (newest > H5F_LIBVER_V18 && one_in(20))
        MUST(H5Pset_chunk_opts(properties, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS));
}

/* Random storage of a dataset: contiguous, compact, external or in chunks with filters, with or
 * without fill values. */
static hid_t draw_dataset_properties(hid_t type, hid_t space, int rank, const hsize_t *dims,
                                     const hsize_t *max_dims)
{
    static const H5D_alloc_time_t times[] = {H5D_ALLOC_TIME_EARLY, H5D_ALLOC_TIME_INCR,
                                             H5D_ALLOC_TIME_LATE};
    hid_t properties = GET(H5Pcreate(H5P_DATASET_CREATE));
    const size_t n = (size_t)H5Sget_simple_extent_npoints(space);
    const size_t bytes = n * H5Tget_size(type);
    const bool plain = H5Tis_variable_str(type) <= 0 && H5Tget_class(type) != H5T_VLEN;
    bool grows = false;
    for (int d = 0; d < rank; d++) grows |= max_dims[d] != dims[d];
    if (rank && (grows || one_in(2)))
        draw_chunks(properties, type, rank, dims, max_dims);
    else if (bytes < 20000 && one_in(3))
        MUST(H5Pset_layout(properties, H5D_COMPACT));
    else if (bytes && plain && one_in(30))
        MUST(H5Pset_external(properties, "no-such-file", 0, bytes));
    if (H5Pget_layout(properties) != H5D_COMPACT && H5Pget_external_count(properties) == 0 &&
        one_in(2))
        MUST(H5Pset_alloc_time(properties, times[below(3)]));
    const bool bare = H5Pget_nfilters(properties) ==
                      0; /* libhdf5 cannot read filtered chunks that it did not fill */
    if (!bare) MUST(H5Pset_fill_time(properties, H5D_FILL_TIME_ALLOC));
    if (plain && one_in(3)) {
        void *fill = draw_values(type, 1);
        MUST(H5Pset_fill_value(properties, type, bare && one_in(4) ? NULL : fill));
        free(fill);
    } else if (bare && one_in(3))
        MUST(H5Pset_fill_time(properties,
                              plain && one_in(2) ? H5D_FILL_TIME_NEVER : H5D_FILL_TIME_ALLOC));
    draw_object_properties(properties);
    return properties;
}

/* Write all values, those of a part of the shape, or none. */
static void draw_write(hid_t set, hid_t type)
{
    hid_t space = GET(H5Dget_space(set)), memory = H5S_ALL;
    hsize_t dims[RANK_MAX], start[RANK_MAX], count[RANK_MAX];
    const int rank = H5Sget_simple_extent_dims(space, dims, NULL), how = below(10);
    size_t n = (size_t)H5Sget_simple_extent_npoints(space);
    if (n && how > 2) {
        if (rank && how < 5) {
            n = 1;
            for (int d = 0; d < rank; d++) {
                start[d] = (hsize_t)below((int)dims[d]);
                count[d] = 1 + (hsize_t)below((int)(dims[d] - start[d]));
                n *= (size_t)count[d];
            }
            MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL));
        }
        const hsize_t total = n;
        memory = GET(H5Screate_simple(1, &total, NULL));
        void *values = draw_values(type, n);
        MUST(H5Dwrite(set, type, memory, space, H5P_DEFAULT, values));
        free_values(type, memory, values);
        H5Sclose(memory);
    }
    H5Sclose(space);
}

static void draw_extent(hid_t set, hid_t type, int rank, const hsize_t *dims,
                        const hsize_t *max_dims)
{
    hsize_t new[RANK_MAX];
    bool grow = false; /* HDF5 1.10 frees wrong chunks of some extensible arrays */
    for (int d = 1; d < rank; d++) grow |= max_dims[d] == H5S_UNLIMITED;
    for (int d = 0; d < rank; d++) {
        new[d] = dims[d] + (hsize_t)below(6);
        if (!grow && one_in(2)) new[d] = (hsize_t)below((int)dims[d] + 1);
        if (max_dims[d] != H5S_UNLIMITED && new[d] > max_dims[d]) new[d] = max_dims[d];
    }
    MUST(H5Dset_extent(set, new));
    if (one_in(2)) draw_write(set, type);
}

/* True if it is not in chunks: HDF5 1.10 frees wrong bytes when it deletes some that are. */
static bool draw_dataset(hid_t group, const char *name)
{
    int rank = 0;
    hsize_t dims[RANK_MAX], max_dims[RANK_MAX];
    hid_t type = draw_type(), space = draw_space(&rank, dims, max_dims);
    if (one_in(25)) {
        char named[NAME_BYTES_MAX + 8];
        snprintf(named, sizeof named, "%.250s type", name);
        MUST(H5Tcommit2(group, named, type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    hid_t properties = draw_dataset_properties(type, space, rank, dims, max_dims);
    hid_t set = GET(H5Dcreate2(group, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    const bool here = H5Pget_external_count(properties) == 0;
    if (here) draw_write(set, type);
    unsigned options = 0; /* with any, HDF5 1.10 crashes where a shape changes */
    if (H5Pget_layout(properties) == H5D_CHUNKED) MUST(H5Pget_chunk_opts(properties, &options));
    if (here && rank && !options && H5Pget_layout(properties) == H5D_CHUNKED && one_in(3))
        draw_extent(set, type, rank, dims, max_dims);
    draw_attributes(set);
    const bool plain = H5Pget_layout(properties) != H5D_CHUNKED;
    H5Dclose(set);
    H5Pclose(properties);
    H5Sclose(space);
    H5Tclose(type);
    return plain;
}

/* --- groups ------------------------------------------------------------------------------------*/

static hid_t draw_group_properties(void)
{
    hid_t properties = GET(H5Pcreate(H5P_GROUP_CREATE));
    const unsigned dense = (unsigned)below(9);
    if (one_in(3)) MUST(H5Pset_link_phase_change(properties, dense + (unsigned)below(5), dense));
    if (one_in(4))
        MUST(H5Pset_link_creation_order(properties, H5P_CRT_ORDER_TRACKED |
                                                        (one_in(2) ? H5P_CRT_ORDER_INDEXED : 0u)));
    if (one_in(4)) MUST(H5Pset_local_heap_size_hint(properties, (size_t)below(500)));
    if (one_in(4)) MUST(H5Pset_est_link_info(properties, (unsigned)below(9), (unsigned)below(99)));
    draw_object_properties(properties);
    return properties;
}

/* Groups, datasets, links of all kinds; some are renamed or removed again. */
static void draw_members(hid_t group, int depth)
{
    const bool many = one_in(12); /* groups of nothing and links */
    const int n = many ? 20 + below(60) : below(depth ? 7 : 12);
    char name[NAME_BYTES_MAX], last[NAME_BYTES_MAX] = "";
    bool plain = false, next = false; /* may the last one be removed? */
    for (int i = 0; i < n; i++) {
        draw_name(name, i);
        const int kind = many ? 9 + below(4) : below(13);
        if (kind < 7)
            next = draw_dataset(group, name);
        else if (kind < 11 && depth < 3) {
            hid_t properties = draw_group_properties();
            hid_t made = GET(H5Gcreate2(group, name, H5P_DEFAULT, properties, H5P_DEFAULT));
            next = many;
            if (!many) draw_members(made, depth + 1);
            if (!many) draw_attributes(made);
            H5Gclose(made);
            H5Pclose(properties);
        } else if (kind == 11 && *last)
            MUST(H5Lcreate_hard(group, last, group, name, H5P_DEFAULT, H5P_DEFAULT));
        else if (one_in(2))
            MUST(H5Lcreate_soft("/nowhere/at/all", group, name, H5P_DEFAULT, H5P_DEFAULT));
        else
            MUST(H5Lcreate_external("elsewhere.h5", "/x", group, name, H5P_DEFAULT, H5P_DEFAULT));
        if (*last && plain && !shared && one_in(5)) {
            MUST(H5Ldelete(group, last, H5P_DEFAULT));
            *last = '\0';
        } else if (*last && plain && !shared && one_in(8)) {
            MUST(H5Lmove(group, last, group, "moved elsewhere", H5P_DEFAULT, H5P_DEFAULT));
            MUST(H5Ldelete(group, "moved elsewhere", H5P_DEFAULT));
            *last = '\0';
        } else if (kind < 7 || (kind < 11 && depth < 3)) {
            strcpy(last, name);
            plain = next;
        }
    }
}

/* --- files -------------------------------------------------------------------------------------*/

static hid_t draw_access(bool again)
{
    hid_t access = GET(H5Pcreate(H5P_FILE_ACCESS));
    const int low = below((int)H5F_LIBVER_LATEST + 1);
    newest = low + below((int)H5F_LIBVER_LATEST + 1 - low);
    if (again) newest = H5F_LIBVER_LATEST; /* what is there may not be newer */
    if (newest < 1) newest = 1;            /* the oldest cannot be the newest */
    MUST(H5Pset_libver_bounds(access, (H5F_libver_t)low, (H5F_libver_t)newest));
    if (!again && newest > H5F_LIBVER_V18 && one_in(30)) { /* metadata in one piece of their own */
        H5AC_cache_image_config_t image = {H5AC__CURR_CACHE_IMAGE_CONFIG_VERSION, true, false,
                                           H5AC__CACHE_IMAGE__ENTRY_AGEOUT__NONE};
        MUST(H5Pset_mdc_image_config(access, &image));
        odd_file = true;
    }
    return access;
}

/* Random properties of a file: user block, sizes of B-tree nodes, file space strategy, shared
 * messages. */
static hid_t draw_creation(void)
{
    static const H5F_fspace_strategy_t strategies[] = {
        H5F_FSPACE_STRATEGY_FSM_AGGR, H5F_FSPACE_STRATEGY_PAGE, H5F_FSPACE_STRATEGY_AGGR,
        H5F_FSPACE_STRATEGY_NONE};
    hid_t create = draw_group_properties(), file = GET(H5Pcreate(H5P_FILE_CREATE));
    H5Pclose(create);
    const bool block = one_in(4);
    if (block) MUST(H5Pset_userblock(file, (hsize_t)512 << below(4)));
    if (one_in(5)) MUST(H5Pset_sym_k(file, (unsigned)(1 + below(20)), (unsigned)(1 + below(10))));
    if (one_in(5)) MUST(H5Pset_istore_k(file, (unsigned)(2 + below(40))));
    if (newest > H5F_LIBVER_V18 && one_in(5))
        MUST(H5Pset_file_space_strategy(file, strategies[block ? 2 + below(2) : below(4)],
                                        one_in(3), 1));
    if (one_in(40)) {
        MUST(H5Pset_shared_mesg_nindexes(file, 1));
        MUST(H5Pset_shared_mesg_index(file, 0, H5O_SHMESG_ALL_FLAG, 10));
        odd_file = shared = true;
    }
    return file;
}

/* Writes a random file; *odd: it has something that the reader may refuse as unsupported. */
void io_draw_file(const char *path, unsigned long long seed, long number, bool *odd)
{
    state = seed * 1000003u + (uint64_t)number;
    odd_file = shared = false;
    hid_t access = draw_access(false), create = draw_creation();
    hid_t file = GET(H5Fcreate(path, H5F_ACC_TRUNC, create, access));
    draw_members(file, 0);
    draw_attributes(file);
    MUST(H5Fclose(file));
    if (one_in(3)) { /* a second session, perhaps by another version */
        H5Pclose(access);
        access = draw_access(true);
        file = GET(H5Fopen(path, H5F_ACC_RDWR, access));
        hid_t group = GET(H5Gcreate2(file, "later", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        draw_members(group, 1);
        H5Gclose(group);
        MUST(H5Fclose(file));
    }
    H5Pclose(create);
    H5Pclose(access);
    *odd = odd_file;
}
