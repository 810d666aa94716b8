#pragma once

#include <stdbool.h>
#include <stdint.h>

// The Huffman codes of deflate (RFC 1951) as tables. An entry is found with the next bits of the stream, the first one lowest:
//   bits 0 to 7    the bits that the entry takes: the code, and the extra bits behind it
//   bits 8 to 11   literals: how many there are; lengths and distances: the bits of the code alone; a further table: its bits
//   bits 12 to 15  the kind
//   bits 16 to 31  one or two literals; the base of a length or a distance; the place of a further table
// Two literals whose codes fit the bits of one look-up are one entry: rows of pictures are mostly short codes.

enum { CODES_LITERAL = 1 << 12, CODES_FURTHER = 1 << 13, CODES_END = 1 << 14, CODES_INVALID = 1 << 15 };

enum { LITERAL_BITS = 11, DISTANCE_BITS = 8 };

typedef struct {
    // Behind the entries of the first look-up are further tables. A complete code has at least five codes for each table of 16 entries
    // (286 are up to 57 tables), and eight for each one of 128 (30 are up to three).
    uint32_t literals[(1 << LITERAL_BITS) + 1024];
    uint32_t distances[(1 << DISTANCE_BITS) + 512];
} deflate_codes;

// Reads the lengths of `count` codes. False if they are not those of a complete code: zlib may accept them.
bool codes_of_literals(deflate_codes *codes, const uint8_t *lengths, int count);
// Accepts no distance at all, or a single one too.
bool codes_of_distances(deflate_codes *codes, const uint8_t *lengths, int count);
// Code lengths in `table`, of 128 entries, with their symbols as bases.
bool codes_of_lengths(uint32_t *table, const uint8_t *lengths);
