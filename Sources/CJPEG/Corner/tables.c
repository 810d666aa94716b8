#include "tables.h"
#include <string.h>

const uint8_t cjr_last_of_corner[CJR_CORNER + 1] = {0, 0, 4, 12, 24, 39, 51, 59, 63};

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

static cjr_pair pair(unsigned length, unsigned steps, int value, unsigned more, int second) {
    return length | steps << 6 | more << 11 | (unsigned)(uint8_t)(int8_t)value << 17 | (unsigned)second << 25;
}

void cjr_make_pairs(cjr_pair pairs[1 << CJR_CODE_BITS], const cjr_codes *codes) {
    const unsigned uncommon = CJR_LONG | CJR_VALUE_FOLLOWS;
    for (unsigned bits = 0; bits < 1u << CJR_CODE_BITS; bits++) {
        cjr_entry one = codes->entries[bits];
        unsigned length = one & 63, steps = one >> 8 & 255;
        int value = (int32_t)one >> 16;
        pairs[bits] = 0;
        if (one & uncommon || value < INT8_MIN || value > INT8_MAX) continue;
        if (steps == CJR_END) {
            pairs[bits] = pair(length, 0, 0, CJR_PAIR_END, 0);
            continue;
        }
        // The bits after the known ones count as zeros; a symbol that needs them does not fit.
        cjr_entry two = codes->entries[bits << length & ((1u << CJR_CODE_BITS) - 1)];
        unsigned both = length + (two & 63), more = two >> 8 & 255;
        int second = (int32_t)two >> 16;
        bool is_pair = !(two & uncommon) && both <= CJR_CODE_BITS && second >= -64 && second < 64;
        if (more == CJR_END) more = CJR_PAIR_END;
        pairs[bits] = is_pair ? pair(both, steps, value, more, second) : pair(length, steps, value, 0, 0);
    }
}

void cjr_make_skips(cjr_skip skips[1 << CJR_SKIP_BITS], cjr_energy energies[1 << CJR_SKIP_BITS], const cjr_codes *codes) {
    for (unsigned bits = 0; bits < 1u << CJR_SKIP_BITS; bits++) {
        int used = 0, energy[3] = {0};
        unsigned steps = 0, end = 0;
        while (used < CJR_SKIP_BITS && !end) {
            // The bits after the known ones count as zeros; an entry that needs them does not fit.
            unsigned next = (bits << used & ((1u << CJR_SKIP_BITS) - 1)) >> (CJR_SKIP_BITS - CJR_CODE_BITS);
            cjr_entry entry = codes->entries[next];
            if (entry & CJR_LONG) break;
            int length = (int)(entry & 63);
            int value = (int32_t)entry >> 16;
            if (entry & CJR_VALUE_FOLLOWS) {
                int size = value, after = used + length;
                length += size;
                if (used + length > CJR_SKIP_BITS) break;
                value = extended((int)(bits << after & ((1u << CJR_SKIP_BITS) - 1)) >> (CJR_SKIP_BITS - size), size);
            }
            if (used + length > CJR_SKIP_BITS) break;
            unsigned step = entry >> 8 & 255;
            bool is_end = step == CJR_END;
            if (is_end) step = 1;
            if (steps + step > 63) break;
            int s = (int)(steps + step), square = is_end ? 0 : value * value;
            if (energy[0] + square > UINT8_MAX || energy[1] + square * s > UINT8_MAX) break;
            if (energy[2] + square * (s * (s - 1) / 2) > UINT8_MAX) break;
            energy[0] += square;
            energy[1] += square * s;
            energy[2] += square * (s * (s - 1) / 2);
            end = is_end;
            steps += step;
            used += length;
        }
        skips[bits] = (cjr_skip)((unsigned)used | steps << 6 | (end ? CJR_SKIPS_END : 0));
        energies[bits] = (cjr_energy){{(uint8_t)energy[0], (uint8_t)energy[1], (uint8_t)energy[2]}, 0};
    }
}

// As many codes as the bits have and the steps allow.
static cjr_refinements several_of(unsigned bits, const cjr_refinement *refinements, const cjr_codes *codes) {
    uint64_t added = 0, negative = 0;
    unsigned used = 0, steps = 0;
    while (used < CJR_CODE_BITS) {
        // The bits after the known ones count as zeros; a code that needs them does not fit.
        unsigned next = bits << used & ((1u << CJR_CODE_BITS) - 1), length = refinements[next] & 63, more = refinements[next] >> 8;
        if (refinements[next] == CJR_UNCOMMON) {
            unsigned end = codes->lengths[next] >> 8;
            bool is_end = codes->lengths[next] == end << 8 && end > 0 && used + end <= CJR_CODE_BITS;
            if (!is_end) break;
            return (used + end) | 1u << CJR_END_BIT | (steps + 1) << 8 | added << 16 | negative << 40;
        }
        if (used + length > CJR_CODE_BITS || steps + more > 24) break;
        used += length;
        steps += more;
        if (!(refinements[next] >> CJR_NEW_BIT & 1)) continue;
        added |= 1ull << (24 - steps);
        if (!(bits >> (CJR_CODE_BITS - used) & 1)) negative |= 1ull << (24 - steps);
    }
    return used | steps << 8 | added << 16 | negative << 40;
}

void cjr_make_refinements(
    cjr_refinement refinements[1 << CJR_CODE_BITS], cjr_refinements several[1 << CJR_CODE_BITS], const cjr_codes *codes) {
    for (unsigned i = 0; i < 1u << CJR_CODE_BITS; i++) {
        unsigned length = codes->lengths[i] >> 8, zeros = codes->lengths[i] >> 4 & 15, size = codes->lengths[i] & 15;
        bool is_common = length > 0 && (size == 1 || (size == 0 && zeros == 15));
        refinements[i] = is_common ? (cjr_refinement)((length + size) | size << CJR_NEW_BIT | (zeros + 1) << 8) : CJR_UNCOMMON;
    }
    for (unsigned i = 0; i < 1u << CJR_CODE_BITS; i++) several[i] = several_of(i, refinements, codes);
}

// A polynomial whose values are near the squares of the quantisers: least squares, with the same roundings on every machine. Large
// quantisers count for less, but not by the square of their size: the polynomial would then be too small in the mean.
static void fit(double polynomial[3], const uint16_t quantisers[64]) {
#pragma clang fp contract(off)
    double rows[3][4] = {{0}}, largest = 1;
    for (int k = 1; k < 64; k++)
        if (quantisers[k] > largest) largest = quantisers[k];
    for (int k = 1; k < 64; k++) {
        double square = (double)quantisers[k] * quantisers[k], powers[4] = {1, k, (double)k * k, square};
        // Coefficients are rarer towards the end. No square is so small that the others would not matter.
        double size = square * 1024 > largest * largest ? square : largest * largest / 1024, weight = 1 / (size * (8 + k));
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 4; j++) rows[i][j] += weight * powers[i] * powers[j];
    }
    // The matrix is positive definite, and needs no pivots.
    for (int i = 0; i < 3; i++)
        for (int j = i + 1; j < 3; j++) {
            double factor = rows[j][i] / rows[i][i];
            for (int l = i; l < 4; l++) rows[j][l] -= factor * rows[i][l];
        }
    for (int i = 2; i >= 0; i--) {
        polynomial[i] = rows[i][3];
        for (int j = i + 1; j < 3; j++) polynomial[i] -= rows[i][j] * polynomial[j];
        polynomial[i] /= rows[i][i];
    }
}

static double size_of(double value) { return value < 0 ? -value : value; }
static int rounded(double value) { return (int)(value < 0 ? value - 0.5 : value + 0.5); }

int cjr_make_weights(cjr_weight weights[64], const uint16_t quantisers[64]) {
#pragma clang fp contract(off)
    double polynomial[3], largest = 0;
    fit(polynomial, quantisers);
    for (int k = 0; k < 64; k++) {
        double value = size_of(polynomial[0] + polynomial[1] * k + polynomial[2] * (k * k));
        if (value > largest) largest = value;
    }
    int exponent = 14;
    double scale = 1 << 14;
    // Some room for the roundings of the differences.
    while (largest * scale > 31000) exponent--, scale /= 2;
    int value = rounded(polynomial[0] * scale), step = rounded((polynomial[1] + polynomial[2]) * scale);
    int bend = rounded(2 * polynomial[2] * scale);
    for (int k = 0; k < 64; k++, value += step, step += bend)
        weights[k] = (cjr_weight){(int16_t)value, (int16_t)step, (int16_t)bend, 0};
    return exponent;
}

// cosines[n][m] = cos(m · π / (2 · n)). Written out, because libraries round differently.
static const double cosines[CJR_CORNER + 1][CJR_CORNER] = {
    [1] = {1},
    [2] = {1, 0.70710678118654752},
    [3] = {1, 0.86602540378443865, 0.5},
    [4] = {1, 0.92387953251128676, 0.70710678118654752, 0.38268343236508977},
    [5] = {1, 0.95105651629515357, 0.80901699437494742, 0.58778525229247313, 0.30901699437494742},
    [6] = {1, 0.96592582628906829, 0.86602540378443865, 0.70710678118654752, 0.5, 0.25881904510252076},
    [7] = {1, 0.97492791218182361, 0.90096886790241913, 0.78183148246802981, 0.62348980185873353, 0.43388373911755812,
           0.22252093395631440},
    [8] = {1, 0.98078528040323045, 0.92387953251128676, 0.83146961230254524, 0.70710678118654752, 0.55557023301960222,
           0.38268343236508977, 0.19509032201612827},
};

// cos((2x + 1) · u · π / (2 · corner)), times √½ for u = 0.
static double wave(int corner, int u, int x) {
    if (u == 0) return cosines[2][1];
    int place = (2 * x + 1) * u % (4 * corner);
    if (place > 2 * corner) place = 4 * corner - place;
    if (place == corner) return 0;
    return place < corner ? cosines[corner][place] : -cosines[corner][2 * corner - place];
}

void cjr_make_basis(int16_t *lanes, size_t stride, int corner) {
    for (int k = 0; k <= cjr_last_of_corner[corner]; k++) {
        int v = cjr_zigzag[k] >> 3, u = cjr_zigzag[k] & 7;
        bool is_inside = u < corner && v < corner;
        for (int y = 0; y < corner; y++)
            for (int x = 0; x < corner; x++) {
                // A quarter, in the fraction bits of a sum over those of a coefficient.
                double share = is_inside ? wave(corner, u, x) * wave(corner, v, y) : 0;
                double whole = share * (1 << (CJR_SAMPLE_BITS - CJR_COEFFICIENT_BITS)) / 4 * 32768;
                int rounded = (int)(whole < 0 ? whole - 0.5 : whole + 0.5);
                if (rounded > 32767) rounded = 32767;
                if (rounded < -32767) rounded = -32767;
                lanes[(size_t)k * stride + (size_t)(corner * y + x)] = (int16_t)rounded;
            }
    }
}
