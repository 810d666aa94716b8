#include "CCacheFiles.h"

#include <errno.h>
#include <unistd.h>
#include <xxhash.h>

ccachefiles_checksum ccachefiles_check(const void *bytes, size_t count) {
    XXH128_hash_t hash = XXH3_128bits(bytes, count);
    return (ccachefiles_checksum){.high = hash.high64, .low = hash.low64};
}

static int check_file(XXH3_state_t *state, int descriptor, off_t offset, size_t count) {
    unsigned char piece[1 << 16];
    XXH3_128bits_reset(state);
    while (count > 0) {
        ssize_t got = pread(descriptor, piece, count < sizeof piece ? count : sizeof piece, offset);
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = 0;
        if (got <= 0) return -1;
        XXH3_128bits_update(state, piece, (size_t)got);
        offset += got;
        count -= (size_t)got;
    }
    return 0;
}

int ccachefiles_check_file(int descriptor, off_t offset, size_t count, ccachefiles_checksum *checksum) {
    XXH3_state_t *state = XXH3_createState();
    if (state == NULL) {
        errno = ENOMEM;
        return -1;
    }
    int result = check_file(state, descriptor, offset, count);
    int failure = errno;
    XXH128_hash_t hash = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    *checksum = (ccachefiles_checksum){.high = hash.high64, .low = hash.low64};
    errno = failure;
    return result;
}
