#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// A number in a chunk: its length, its checksum.
static inline uint32_t big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static inline bool is_named(const uint8_t *chunk, const char *name) { return memcmp(chunk + 4, name, 4) == 0; }
