#include "codes.h"

#include <string.h>

enum { LONGEST = 15, SYMBOLS = 288 };

// Symbols in the order of their codes.
typedef struct {
    uint16_t sorted[SYMBOLS];
    int used;
    int unused;  // of 1 << LONGEST: what the code leaves; below 0 if there are too many
} code_order;

static void put_in_order(code_order *order, const uint8_t *lengths, int count) {
    int counts[LONGEST + 1] = {0}, places[LONGEST + 2];
    for (int i = 0; i < count; i++) counts[lengths[i]]++;
    order->unused = 1 << LONGEST;
    order->used = count - counts[0];
    places[1] = 0;
    for (int length = 1; length <= LONGEST; length++) {
        order->unused -= counts[length] << (LONGEST - length);
        places[length + 1] = places[length] + counts[length];
    }
    for (int i = 0; i < count; i++)
        if (lengths[i] > 0) order->sorted[places[lengths[i]]++] = (uint16_t)i;
}

// The code with its first bit lowest, as streams have it.
static unsigned reversed(unsigned code, int length) { return __builtin_bitreverse16((uint16_t)code) >> (16 - length); }

// The longest code with the same first `bits` bits as `code`, that of symbol `i`. Such codes are neighbours, and the last is the
// longest.
static int longest(const code_order *order, int i, unsigned code, const uint8_t *lengths, int bits) {
    int length = lengths[order->sorted[i]];
    unsigned first = code >> (length - bits);
    while (++i < order->used) {
        int next = lengths[order->sorted[i]];
        code = (code + 1) << (next - length);
        if (code >> (next - bits) != first) break;
        length = next;
    }
    return length;
}

// Fills a table for `bits` bits. `meanings` has the entries of symbols without their bits of code.
static void fill(uint32_t *table, int bits, const code_order *order, const uint8_t *lengths, const uint32_t *meanings) {
    unsigned code = 0;
    int length = 0, further_bits = 0;
    uint32_t further = 1u << bits, place = UINT32_MAX;
    for (int i = 0; i < order->used; i++) {
        int symbol = order->sorted[i];
        code <<= lengths[symbol] - length;
        length = lengths[symbol];
        uint32_t meaning = meanings[symbol];
        unsigned found = reversed(code++, length);
        if (length <= bits) {
            uint32_t own = (meaning & CODES_LITERAL) != 0 ? 0 : (uint32_t)length << 8;
            for (unsigned at = found; at < 1u << bits; at += 1u << length) table[at] = meaning + length + own;
            continue;
        }
        unsigned first = found & ((1u << bits) - 1);
        if (first != place) {
            if (place != UINT32_MAX) further += 1u << further_bits;
            place = first;
            further_bits = longest(order, i, code - 1, lengths, bits) - bits;
            table[first] = further << 16 | CODES_FURTHER | (uint32_t)further_bits << 8 | (uint32_t)bits;
        }
        int rest = length - bits;
        uint32_t own = (meaning & CODES_LITERAL) != 0 ? 0 : (uint32_t)rest << 8;
        for (unsigned at = found >> bits; at < 1u << further_bits; at += 1u << rest) table[further + at] = meaning + rest + own;
    }
}

// Joins a literal and the one behind it, if both codes fit the look-up.
static void join_literals(uint32_t *table) {
    for (unsigned at = 1u << LITERAL_BITS; at-- > 0;) {
        uint32_t first = table[at];
        if ((first & CODES_LITERAL) == 0) continue;
        // Lower entries are still single.
        uint32_t second = table[at >> (first & 255)];
        if ((second & CODES_LITERAL) == 0 || (first & 255) + (second & 255) > LITERAL_BITS) continue;
        table[at] = first + (second & 255) + (1 << 8) + ((second & 0xff0000) << 8);
    }
}

bool codes_of_literals(deflate_codes *codes, const uint8_t *lengths, int count) {
    static const uint16_t bases[31] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                       31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t extra[31] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    code_order order;
    put_in_order(&order, lengths, count);
    if (order.unused != 0 || lengths[256] == 0) return false;
    uint32_t meanings[SYMBOLS];
    int shortest = LONGEST;
    for (int i = 0; i < 256; i++) {
        meanings[i] = (uint32_t)i << 16 | CODES_LITERAL | 1 << 8;
        if (lengths[i] > 0 && lengths[i] < shortest) shortest = lengths[i];
    }
    meanings[256] = CODES_END;
    for (int i = 257; i < SYMBOLS; i++)
        meanings[i] = i < 286 ? (uint32_t)bases[i - 257] << 16 | extra[i - 257] : CODES_INVALID;
    fill(codes->literals, LITERAL_BITS, &order, lengths, meanings);
    if (2 * shortest <= LITERAL_BITS) join_literals(codes->literals);
    return true;
}

bool codes_of_distances(deflate_codes *codes, const uint8_t *lengths, int count) {
    uint32_t meanings[32];
    for (int i = 0; i < 32; i++) {
        int extra = i < 4 ? 0 : i / 2 - 1;
        uint32_t base = i < 4 ? i + 1 : ((2u + (i & 1)) << extra) + 1;
        meanings[i] = i < 30 ? base << 16 | (uint32_t)extra : CODES_INVALID;
    }
    code_order order;
    put_in_order(&order, lengths, count);
    if (order.unused != 0) {
        if (order.used > 1 || (order.used == 1 && lengths[order.sorted[0]] != 1)) return false;
        for (unsigned at = 0; at < 1u << DISTANCE_BITS; at++) codes->distances[at] = CODES_INVALID;
    }
    fill(codes->distances, DISTANCE_BITS, &order, lengths, meanings);
    return true;
}

bool codes_of_lengths(uint32_t *table, const uint8_t *lengths) {
    uint32_t meanings[19];
    for (uint32_t i = 0; i < 19; i++) meanings[i] = i << 16;
    code_order order;
    put_in_order(&order, lengths, 19);
    if (order.unused != 0) return false;
    fill(table, 7, &order, lengths, meanings);
    return true;
}
