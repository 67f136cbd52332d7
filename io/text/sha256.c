/* SHA-256 of a file, streamed through OpenSSL. */
#include "io/text/sha256.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <openssl/evp.h>

enum { BLOCK = 1 << 16 };

fmo_status fmo_sha256_file(int descriptor, char hex[65])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    ssize_t got = -1;
    fmo_status status = FMO_ERR_MEMORY;
    unsigned char *block = malloc(BLOCK);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (!block || !context || EVP_DigestInit_ex(context, EVP_sha256(), NULL) != 1) goto done;
    status = FMO_ERR_INPUT;
    if (lseek(descriptor, 0, SEEK_SET) != 0) goto done;
    do {
        got = read(descriptor, block, BLOCK);
        if (got > 0 && EVP_DigestUpdate(context, block, (size_t)got) != 1) goto done;
    } while (got > 0 || (got < 0 && errno == EINTR));
    if (got == 0 && EVP_DigestFinal_ex(context, digest, &length) == 1 && length == 32) {
        for (unsigned i = 0; i < length; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
        status = FMO_OK;
    }
done:
    EVP_MD_CTX_free(context);
    free(block);
    return status;
}
