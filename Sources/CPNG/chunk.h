#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// A number in a chunk: its length, its checksum.
static inline uint32_t big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static inline void put_big_endian(uint8_t *bytes, uint32_t number) {
    for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)(number >> (24 - 8 * i));
}

static inline bool is_named(const uint8_t *chunk, const char *name) { return memcmp(chunk + 4, name, 4) == 0; }
