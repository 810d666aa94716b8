#include "reader.h"
#include <string.h>

// Appends destuffed bytes until the chunk is full or the segment ends (ITU-T T.81 B.1.1.5).
static void fill(cjr_bits *bits, uint8_t *to) {
    uint8_t *room = bits->chunk + CJR_CHUNK;
    while (to < room) {
        size_t left = (size_t)(bits->end - bits->source), count = (size_t)(room - to);
        if (count > left) count = left;
        const uint8_t *marker = count ? memchr(bits->source, 0xFF, count) : NULL;
        if (marker) count = (size_t)(marker - bits->source);
        memcpy(to, bits->source, count);
        to += count;
        bits->source += count;
        if (!marker && count < left) continue;
        if (!marker) {
            bits->is_last = bits->has_ended = true;
            break;
        }
        // Any number of fill bytes may stand before a marker.
        const uint8_t *after = bits->source + 1;
        while (after < bits->end && *after == 0xFF) after++;
        if (after == bits->end) {
            bits->is_last = bits->has_ended = true;
            break;
        }
        if (*after != 0) {
            bits->is_last = true;
            break;
        }
        *to++ = 0xFF;
        bits->source = after + 1;
    }
    bits->limit = to;
    bits->safe = to;
    if (bits->is_last) memset(to, 0, CJR_AHEAD);
    else bits->safe -= CJR_AHEAD;
}

void cjr_begin_segment(cjr_bits *bits) {
    bits->bits = 0;
    bits->count = 0;
    bits->is_last = bits->has_ended = false;
    bits->in = bits->chunk;
    fill(bits, bits->chunk);
}

bool cjr_is_overdrawn(const cjr_bits *bits) {
    return bits->is_last && (bits->in - bits->limit) * 8 > (ptrdiff_t)bits->count;
}

bool cjr_top_up(cjr_bits *bits) {
    if (bits->is_last) return !cjr_is_overdrawn(bits);
    size_t left = (size_t)(bits->limit - bits->in);
    memmove(bits->chunk, bits->in, left);
    bits->in = bits->chunk;
    fill(bits, bits->chunk + left);
    return true;
}

bool cjr_is_used_up(cjr_bits *bits) {
    if (cjr_is_overdrawn(bits)) return false;
    // The first bits end the byte of the last code. Whole bytes of zeros or ones are padding.
    uint64_t rest = bits->bits << bits->count % 8;
    for (int left = bits->count / 8; left > 0; left--, rest <<= 8)
        if (rest >> 56 != 0 && rest >> 56 != 0xFF) return false;
    bits->count %= 8;
    while (true) {
        for (; bits->in < bits->limit; bits->in++)
            if (*bits->in != 0 && *bits->in != 0xFF) return false;
        if (bits->is_last) return true;
        // A marker may follow at the very end of a chunk.
        cjr_top_up(bits);
    }
}

cjr_entry cjr_any_code(cjr_bits *state, const cjr_codes *codes, uint64_t bits, bool is_dc, int blocks) {
    cjr_entry found = codes->entries[bits >> (64 - CJR_CODE_BITS)];
    int length = (int)(found & 63), size = (int)(found >> 16);
    unsigned steps = found >> 8 & 255;
    if (found & CJR_LONG) {
        length = CJR_CODE_BITS + 1;
        while ((int32_t)(bits >> (64 - length)) > codes->largest[length]) length++;
        int symbol = 0;
        if (length <= 16) {
            symbol = codes->symbols[((int)(bits >> (64 - length)) + codes->offset[length]) & 255];
        } else if (
            (state->is_last && state->limit - state->in < 8)
            || (state->end - state->source) + (state->limit - state->in) < 512 * blocks) {
            // libjpeg-turbo takes a code without a symbol for 0, except near the end, where it is an error.
            state->is_bad = true;
        }
        size = is_dc ? symbol : symbol & 15;
        steps = is_dc ? 0 : symbol == 0xF0 || size ? (unsigned)(symbol >> 4) + 1 : CJR_END;
    }
    int value = 0;
    if (size) {
        value = (int)(bits << length >> (64 - size));
        if (value < 1 << (size - 1)) value -= (1 << size) - 1;
    }
    return (unsigned)(length + size) | steps << 8 | (unsigned)(uint16_t)(int16_t)value << 16;
}
