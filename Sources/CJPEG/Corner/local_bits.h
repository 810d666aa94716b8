// Bits in variables of a function, so that the compiler keeps them in registers.
#pragma once

#include <stdint.h>
#include <string.h>

typedef struct local_bits {
    uint64_t bits;
    int count;
    const uint8_t *in;
} local_bits;

static inline uint64_t big_endian(const uint8_t *bytes) {
    uint64_t value;
    memcpy(&value, bytes, 8);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

// At least 56 bits are known afterwards, without a branch (Giesen, “Reading bits in far too many ways”, variant 4).
#define REFILL(b)                                    \
    do {                                             \
        (b).bits |= big_endian((b).in) >> (b).count; \
        (b).in += (63 - (b).count) >> 3;             \
        (b).count |= 56;                             \
    } while (0)
#define CONSUME(b, entry)                   \
    do {                                    \
        (b).bits <<= (entry) & 63;          \
        (b).count -= (int)((entry) & 63);   \
    } while (0)
