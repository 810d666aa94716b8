// Reads a row of MCUs. Included once for each instruction set, which defines
//   ROW, MADE_ROW: the names of the functions;
//   vector, product(value, lanes), sum(a, b), store(vector, rows, stride, corner).
#include "local_bits.h"
#include "progressive.h"

static inline __attribute__((always_inline)) cjr_entry next_entry(
    cjr_reader *reader, local_bits *b, const cjr_codes *codes, bool is_dc) {
    REFILL(*b);
    cjr_entry entry = codes->entries[b->bits >> (64 - CJR_CODE_BITS)];
    if (__builtin_expect(entry & (CJR_LONG | CJR_VALUE_FOLLOWS), 0)) {
        reader->bits.in = b->in;
        entry = cjr_any_code(&reader->bits, codes, b->bits, is_dc, reader->blocks);
    }
    CONSUME(*b, entry);
    return entry;
}

static inline __attribute__((always_inline)) void block(cjr_reader *reader, local_bits *b, cjr_part *part, uint8_t *to) {
    // In variables, because the compiler would load them again after each store and call.
    const cjr_codes *ac = part->ac;
    const cjr_skip *skips = part->skips;
    const cjr_basis *basis = part->basis;
    const int32_t *quantisers = part->quantisers;
    int last = part->last;
    cjr_entry entry = next_entry(reader, b, part->dc, true);
    part->predictor += (int32_t)entry >> 16;
    vector samples = product((int16_t)part->predictor * quantisers[0], basis->lanes[0]);
    int k = 0;
    while (k < last) {
        entry = next_entry(reader, b, ac, false);
        k += (int)(entry >> 8 & 255);
        if (k > last) break;
        samples = sum(samples, product(((int32_t)entry >> 16) * quantisers[k], basis->lanes[k]));
    }
    while (k < 63) {
        REFILL(*b);
        unsigned skip = skips[b->bits >> (64 - CJR_SKIP_BITS)];
        int next = k + (int)(skip >> 6 & 63);
        if (__builtin_expect(next <= 63 && skip & 63, 1)) {
            CONSUME(*b, skip);
            if (skip & CJR_SKIPS_END) break;
            k = next;
            continue;
        }
        entry = next_entry(reader, b, ac, false);
        k += (int)(entry >> 8 & 255);
    }
    store(samples, to, part->stride, part->corner);
}

cjr_status ROW(cjr_reader *reader) {
    cjr_bits *state = &reader->bits;
    local_bits b = {state->bits, state->count, state->in};
#define SAVE() (state->bits = b.bits, state->count = b.count, state->in = b.in)
#define LOAD() (b = (local_bits){state->bits, state->count, state->in})
    for (int mcu = 0; mcu < reader->mcus_across; mcu++) {
        if (reader->restart_interval && reader->until_restart == 0) {
            SAVE();
            cjr_status status = cjr_restart(reader);
            if (status != CJR_OK) return status;
            LOAD();
        }
        if (b.in >= state->safe) {
            SAVE();
            if (!cjr_top_up(state)) return cjr_fail(reader, "premature end of data segment");
            LOAD();
        }
        for (int i = 0; i < reader->components; i++) {
            cjr_part *part = &reader->part[i];
            for (int y = 0; y < part->down; y++) {
                uint8_t *to = part->rows + (size_t)(y * part->corner) * part->stride;
                for (int x = 0; x < part->across; x++) block(reader, &b, part, to + (mcu * part->across + x) * part->corner);
            }
        }
        if (state->is_bad) {
            SAVE();
            return cjr_fail(reader, "bad Huffman code");
        }
        reader->until_restart--;
    }
    SAVE();
    if (cjr_is_overdrawn(state)) return cjr_fail(reader, "premature end of data segment");
    return CJR_OK;
}
#undef SAVE
#undef LOAD

cjr_status MADE_ROW(cjr_reader *reader) {
    for (int i = 0; i < reader->components; i++) {
        cjr_part *part = &reader->part[i];
        const cjr_coefficients *from = &reader->scans->part[i];
        int places = part->corner * part->corner;
        for (int y = 0; y < part->down; y++) {
            uint8_t *to = part->rows + (size_t)(y * part->corner) * part->stride;
            size_t first = (size_t)(reader->row * part->down + y) * (size_t)from->blocks_across;
            for (int x = 0; x < from->blocks_across; x++) {
                const int16_t *values = from->values + (first + (size_t)x) * (size_t)places;
                vector samples = product(values[0] * part->quantisers[0], part->basis->lanes[0]);
                for (uint64_t known = from->known[first + (size_t)x] & from->corner_mask; known; known &= known - 1) {
                    int k = __builtin_ctzll(known);
                    samples = sum(samples, product(values[from->place[k]] * part->quantisers[k], part->basis->lanes[k]));
                }
                store(samples, to + x * part->corner, part->stride, part->corner);
            }
        }
    }
    return CJR_OK;
}
