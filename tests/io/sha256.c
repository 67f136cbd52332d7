/* SHA-256 (io/text/sha256.h) against NIST's examples and, around the borders of its blocks and of
 * the pieces in which files are read, against Python's hashlib; of bytes, and of a file of them. */
#include "tests/support/check.h"
#include "io/text/sha256.h"

#include <unistd.h>

/* FIPS 180-4's example algorithms (csrc.nist.gov, SHA256.pdf and SHA2_Additional.pdf). */
static const char *const nist[][2] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnop"
     "qrsmnopqrstnopqrstu",
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
};

/* So many letters 'a'; the million is NIST's, too. */
static const struct {
    size_t size;
    const char *hex;
} letters[] = {
    {1, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"},
    {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
    {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
    {57, "f13b2d724659eb3bf47f2dd6af1accc87b81f09f59f2b75e5c0bed6589dfe8c6"},
    {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
    {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
    {65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
    {119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
    {120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"},
    {121, "e9615320128cc7a3d6078e9af05603188e5ccbf0d07d8b735d3df5e8e0c1281f"},
    {127, "c57e9278af78fa3cab38667bef4ce29d783787a2f731d4e12200270f0c32320a"},
    {128, "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e"},
    {129, "c12cb024a2e5551cca0e08fce8f1c5e314555cc3fef6329ee994a3db752166ae"},
    {16383, "2e1023f5ad46df0d01aa4b73ce3db452ed0a768387949efa5a858b532b763012"},
    {16384, "f3336bea752b5a28743033dd2c844a4a63fba08871aaee2586a2bf2d69be83a2"},
    {16385, "608b801060d579a7b659a01755259a13dec8853b97d3d8062763c97ffac6ddae"},
    {1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
};

static void check_hash(const char *bytes, size_t size, const char *expected)
{
    char hex[65] = "";
    FILE *file = tmpfile();
    fmo_sha256_bytes(bytes, size, hex);
    CHECK(strcmp(hex, expected) == 0, "%zu bytes: %s", size, hex);
    CHECK(file && fwrite(bytes, 1, size, file) == size && fflush(file) == 0, "%zu: no file", size);
    if (!file) return;
    hex[0] = '\0';
    CHECK(fmo_sha256_file(fileno(file), hex), "%zu: cannot be read", size);
    CHECK(strcmp(hex, expected) == 0, "file of %zu bytes: %s", size, hex);
    CHECK(lseek(fileno(file), 0, SEEK_CUR) == (off_t)size, "%zu: position", size);
    fclose(file);
}

int main(void)
{
    enum { MAX = 1000000 };
    char *bytes = malloc(MAX), hex[65];
    if (!bytes) return 1;
    memset(bytes, 'a', MAX);
    for (size_t i = 0; i < sizeof nist / sizeof nist[0]; i++)
        check_hash(nist[i][0], strlen(nist[i][0]), nist[i][1]);
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        check_hash(bytes, letters[i].size, letters[i].hex);
    CHECK(!fmo_sha256_file(-1, hex), "a file that is not open");
    free(bytes);
    return check_summary();
}
