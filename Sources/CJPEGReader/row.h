// Reads a row of MCUs. Included once for each instruction set, which defines
//   ROWS: the name of the functions;
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

// Adds the basis pictures of a coefficient: `planes` is known to the compiler, so that the sums stay in registers. Outside of a
// smaller corner its basis pictures are zero.
static inline __attribute__((always_inline)) void add(
    vector *samples, const cjr_basis *const *basis, int planes, int k, int32_t value) {
    for (int i = 0; i < planes; i++) samples[i] = sum(samples[i], product(value, basis[i]->lanes[k]));
}

static inline __attribute__((always_inline)) void block(
    cjr_reader *reader, local_bits *b, cjr_part *part, int planes, int column, int row) {
    // In variables, because the compiler would load them again after each store and call.
    const cjr_codes *ac = part->ac;
    const cjr_skip *skips = part->skips;
    const int32_t *quantisers = part->quantisers;
    const cjr_basis *basis[CJR_CORNER];
    vector samples[CJR_CORNER];
    int last = part->last;
    for (int i = 0; i < planes; i++) basis[i] = part->plane[i].basis;
    cjr_entry entry = next_entry(reader, b, part->dc, true);
    part->predictor += (int32_t)entry >> 16;
    for (int i = 0; i < planes; i++) samples[i] = product((int16_t)part->predictor * quantisers[0], basis[i]->lanes[0]);
    int k = 0;
    while (k < last) {
        entry = next_entry(reader, b, ac, false);
        k += (int)(entry >> 8 & 255);
        if (k > last) break;
        add(samples, basis, planes, k, ((int32_t)entry >> 16) * quantisers[k]);
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
    for (int i = 0; i < planes; i++) {
        const cjr_plane *plane = &part->plane[i];
        uint8_t *to = plane->rows + (size_t)(row * plane->corner) * plane->stride + column * plane->corner;
        store(samples[i], to, plane->stride, plane->corner);
    }
}

static inline __attribute__((always_inline)) cjr_status read_row(cjr_reader *reader, bool is_one) {
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
            for (int y = 0; y < part->down; y++)
                for (int x = 0; x < part->across; x++) {
                    int column = mcu * part->across + x;
                    if (is_one) {
                        block(reader, &b, part, 1, column, y);
                        continue;
                    }
                    switch (part->planes) {
                    case 1: block(reader, &b, part, 1, column, y); break;
                    case 2: block(reader, &b, part, 2, column, y); break;
                    case 3: block(reader, &b, part, 3, column, y); break;
                    default: block(reader, &b, part, 4, column, y);
                    }
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

static inline __attribute__((always_inline)) void make_row(const cjr_reader *reader, int index, int planes) {
    const cjr_part *part = &reader->part[index];
    const cjr_coefficients *from = &reader->scans->part[index];
    int places = part->corner * part->corner;
    const cjr_basis *basis[CJR_CORNER];
    for (int i = 0; i < planes; i++) basis[i] = part->plane[i].basis;
    for (int y = 0; y < part->down; y++) {
        size_t first = (size_t)(reader->row * part->down + y) * (size_t)from->blocks_across;
        for (int x = 0; x < from->blocks_across; x++) {
            const int16_t *values = from->values + (first + (size_t)x) * (size_t)places;
            vector samples[CJR_CORNER];
            for (int i = 0; i < planes; i++) samples[i] = product(values[0] * part->quantisers[0], basis[i]->lanes[0]);
            for (uint64_t known = from->known[first + (size_t)x] & from->corner_mask; known; known &= known - 1) {
                int k = __builtin_ctzll(known);
                add(samples, basis, planes, k, values[from->place[k]] * part->quantisers[k]);
            }
            for (int i = 0; i < planes; i++) {
                const cjr_plane *plane = &part->plane[i];
                uint8_t *to = plane->rows + (size_t)(y * plane->corner) * plane->stride + x * plane->corner;
                store(samples[i], to, plane->stride, plane->corner);
            }
        }
    }
}

static cjr_status row_of_one(cjr_reader *reader) { return read_row(reader, true); }
static cjr_status row_of_several(cjr_reader *reader) { return read_row(reader, false); }

static cjr_status made_row_of_one(cjr_reader *reader) {
    for (int i = 0; i < reader->components; i++) make_row(reader, i, 1);
    return CJR_OK;
}

static cjr_status made_row_of_several(cjr_reader *reader) {
    for (int i = 0; i < reader->components; i++) {
        switch (reader->part[i].planes) {
        case 1: make_row(reader, i, 1); break;
        case 2: make_row(reader, i, 2); break;
        case 3: make_row(reader, i, 3); break;
        default: make_row(reader, i, 4);
        }
    }
    return CJR_OK;
}

const cjr_row_functions ROWS = {
    .row = row_of_one, .rows = row_of_several, .made_row = made_row_of_one, .made_rows = made_row_of_several};
