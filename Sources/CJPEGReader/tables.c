#include "tables.h"
#include <string.h>

const uint8_t cjr_last_of_corner[CJR_CORNER + 1] = {0, 0, 4, 12, 24};

const uint8_t cjr_zigzag[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

// A value of `size` bits (ITU-T T.81 F.2.2.1): a leading 0 means a negative value.
static int extended(int bits, int size) { return size && bits < 1 << (size - 1) ? bits - (1 << size) + 1 : bits; }

// The entry for a symbol whose code has `length` bits and is followed by `rest` known bits.
static cjr_entry entry(int symbol, int length, unsigned following, int rest, bool is_dc) {
    int size = is_dc ? symbol : symbol & 15;
    unsigned steps = is_dc ? 0 : (unsigned)(symbol >> 4) + 1;
    if (!is_dc && size == 0 && symbol != 0xF0) steps = CJR_END;
    if (size > rest) return (unsigned)length | CJR_VALUE_FOLLOWS | steps << 8 | (unsigned)size << 16;
    int value = extended((int)(following >> (rest - size)), size);
    return (unsigned)(length + size) | steps << 8 | (unsigned)(uint16_t)(int16_t)value << 16;
}

bool cjr_make_codes(cjr_codes *codes, const cjr_huffman *table, bool is_dc) {
    for (int i = 0; i < 1 << CJR_CODE_BITS; i++) {
        codes->entries[i] = CJR_LONG;
        codes->lengths[i] = 0;
    }
    memcpy(codes->symbols, table->symbols, sizeof codes->symbols);
    int code = 0, place = 0;
    for (int length = 1; length <= 16; length++, code <<= 1) {
        int count = table->counts[length];
        codes->offset[length] = place - code;
        codes->largest[length] = count ? code + count - 1 : -1;
        if (place + count > 256 || code + count > 1 << length) return false;
        for (int i = 0; i < count; i++, code++, place++) {
            int symbol = table->symbols[place];
            if (is_dc && symbol > 15) return false;
            if (length > CJR_CODE_BITS) continue;
            int rest = CJR_CODE_BITS - length;
            for (unsigned following = 0; following < 1u << rest; following++) {
                unsigned place_of_bits = ((unsigned)code << rest) + following;
                codes->entries[place_of_bits] = entry(symbol, length, following, rest, is_dc);
                codes->lengths[place_of_bits] = (uint16_t)(length << 8 | symbol);
            }
        }
    }
    codes->largest[17] = INT32_MAX;
    return true;
}

void cjr_make_skips(cjr_skip skips[1 << CJR_SKIP_BITS], const cjr_codes *codes) {
    for (unsigned bits = 0; bits < 1u << CJR_SKIP_BITS; bits++) {
        int used = 0;
        unsigned steps = 0, end = 0;
        while (used < CJR_SKIP_BITS && !end) {
            // The bits after the known ones count as zeros; an entry that needs them does not fit.
            unsigned next = (bits << used & ((1u << CJR_SKIP_BITS) - 1)) >> (CJR_SKIP_BITS - CJR_CODE_BITS);
            cjr_entry entry = codes->entries[next];
            if (entry & CJR_LONG) break;
            int length = (int)(entry & 63);
            if (entry & CJR_VALUE_FOLLOWS) length += (int)(entry >> 16);
            if (used + length > CJR_SKIP_BITS) break;
            unsigned step = entry >> 8 & 255;
            if (step == CJR_END) end = 1, step = 1;
            if (steps + step > 63) break;
            steps += step;
            used += length;
        }
        skips[bits] = (cjr_skip)((unsigned)used | steps << 6 | (end ? CJR_SKIPS_END : 0));
    }
}

// cosines[corner][u][x] = cos((2x + 1) · u · π / (2 · corner)), times √½ for u = 0. Written out, because libraries round differently.
static const double cosines[CJR_CORNER + 1][CJR_CORNER][CJR_CORNER] = {
    [1] = {{0.70710678118654752}},
    [2] = {{0.70710678118654752, 0.70710678118654752}, {0.70710678118654752, -0.70710678118654752}},
    [3] = {{0.70710678118654752, 0.70710678118654752, 0.70710678118654752},
           {0.86602540378443865, 0, -0.86602540378443865},
           {0.5, -1, 0.5}},
    [4] = {{0.70710678118654752, 0.70710678118654752, 0.70710678118654752, 0.70710678118654752},
           {0.92387953251128676, 0.38268343236508977, -0.38268343236508977, -0.92387953251128676},
           {0.70710678118654752, -0.70710678118654752, -0.70710678118654752, 0.70710678118654752},
           {0.38268343236508977, -0.92387953251128676, 0.92387953251128676, -0.38268343236508977}},
};

void cjr_make_basis(cjr_basis *basis, int corner) {
    memset(basis, 0, sizeof *basis);
    for (int k = 0; k <= cjr_last_of_corner[corner]; k++) {
        int v = cjr_zigzag[k] >> 3, u = cjr_zigzag[k] & 7;
        if (u >= corner || v >= corner) continue;
        for (int y = 0; y < corner; y++)
            for (int x = 0; x < corner; x++) {
                // A quarter, in the fraction bits of a sum over those of a coefficient.
                double share = cosines[corner][u][x] * cosines[corner][v][y] * (1 << (CJR_SAMPLE_BITS - CJR_COEFFICIENT_BITS)) / 4;
                double whole = share * 32768;
                int rounded = (int)(whole < 0 ? whole - 0.5 : whole + 0.5);
                basis->lanes[k][4 * y + x] = (int16_t)(rounded > 32767 ? 32767 : rounded < -32767 ? -32767 : rounded);
            }
    }
}
