#include "CCacheFiles.h"

#include <xxhash.h>

ccachefiles_checksum ccachefiles_check(const void *bytes, size_t count) {
    XXH128_hash_t hash = XXH3_128bits(bytes, count);
    return (ccachefiles_checksum){.high = hash.high64, .low = hash.low64};
}
