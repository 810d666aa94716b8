// Reads a row of MCUs. Every plane of a component has its lanes in the same sums, so that a coefficient is added to all at once.
// Included once for each instruction set, which defines
//   ROWS: the name of the functions;
//   PAIRED: the most vectors for which a coefficient more, which is often zero, costs less than a look-up more;
//   vector, sum(a, b), narrow(vectors, count, bytes);
//   share(value, lanes): a value of 16 bits times each lane, shifted by 15 bits with rounding;
//   product(value, lanes): the same after saturation to 16 bits.
#include "local_bits.h"
#include "progressive.h"

// The next entry, for which CJR_CODE_BITS bits are known. It takes no more of them, or refills.
static inline __attribute__((always_inline)) cjr_entry next_entry(
    cjr_reader *reader, local_bits *b, const cjr_codes *codes, bool is_dc) {
    cjr_entry entry = codes->entries[b->bits >> (64 - CJR_CODE_BITS)];
    if (__builtin_expect(entry & (CJR_LONG | CJR_VALUE_FOLLOWS), 0)) {
        REFILL(*b);
        if (entry & CJR_LONG) {
            reader->bits.in = b->in;
            entry = cjr_any_code(&reader->bits, codes, b->bits, is_dc, reader->blocks);
        } else {
            // A value in the bits behind a known code: fine pictures have many.
            int length = (int)(entry & 63), size = (int)(entry >> 16);
            int value = (int)(b->bits << length >> (64 - size));
            value -= (value >> (size - 1) & 1) ? 0 : (1 << size) - 1;
            entry = (unsigned)(length + size) | (entry & 0xFF00) | (unsigned)value << 16;
        }
        CONSUME(*b, entry);
        REFILL(*b);
        return entry;
    }
    CONSUME(*b, entry);
    return entry;
}

// Adds the shares of a coefficient in all samples of a block: basis pictures are zero outside of their corner. `vectors` is known to
// the compiler, here and below, so that the sums stay in registers.
static inline __attribute__((always_inline)) void add(vector *samples, const int16_t *lanes, int vectors, int32_t value) {
    for (int i = 0; i < vectors; i++) samples[i] = sum(samples[i], product(value, lanes + i * CJR_LANES));
}

// Writes the samples of a block into each plane, eight bytes in each row: the next block replaces those beyond its corner.
static inline __attribute__((always_inline)) void store(
    const cjr_part *part, const vector *samples, int vectors, int column, int row) {
    uint8_t bytes[CJR_VECTORS * CJR_LANES + 8];
    narrow(samples, vectors, bytes);
    memset(bytes + vectors * CJR_LANES, 0, 8);
    const cjr_plane *plane = part->plane;
    // Each branch goes one way in all blocks of a part, and the compiler knows the corner, so that its rows are no loop.
#pragma clang loop unroll(full)
    for (int corner = CJR_CORNER; corner > 0; corner--) {
        if (corner * corner > vectors * CJR_LANES || !(part->corners & CJR_SIDE(corner))) continue;
        size_t stride = plane->stride;
        const uint8_t *from = bytes + plane->lane;
        uint8_t *to = plane->rows + (size_t)(row * corner) * stride + column * corner;
#pragma clang loop unroll(full)
        for (int y = 0; y < corner; y++) memcpy(to + (size_t)y * stride, from + y * corner, 8);
        plane++;
    }
}

static inline __attribute__((always_inline)) local_bits read_block(
    cjr_reader *reader, local_bits b, cjr_part *part, int vectors, int column, int row) {
    // In variables, because the compiler would load them again after each store and call.
    const cjr_codes *ac = part->ac;
    const cjr_pair *pairs = part->pairs;
    const cjr_skip *skips = part->skips;
    const int32_t *quantisers = part->quantisers;
    const int16_t *basis = part->basis;
    vector samples[CJR_VECTORS];
    int last = part->last, lanes = vectors * CJR_LANES;
    REFILL(b);
    cjr_entry entry = next_entry(reader, &b, part->dc, true);
    part->predictor += (int32_t)entry >> 16;
    int32_t dc = (int16_t)part->predictor * quantisers[0];
    for (int i = 0; i < vectors; i++) samples[i] = product(dc, basis + i * CJR_LANES);
    int k = 0;
    // The last position is so low that the first code of a pair ends no block.
    while (vectors <= PAIRED && last <= CJR_PAIRED_LAST && k < last) {
        // DC and four look-ups fit in 56 bits.
        for (int i = 0; i < 4 && k < last; i++) {
            cjr_pair pair = pairs[b.bits >> (64 - CJR_CODE_BITS)];
            if (__builtin_expect(pair == 0, 0)) {
                entry = next_entry(reader, &b, ac, false);
                k += (int)(entry >> 8 & 255);
                if (k > last) break;
                add(samples, basis + k * lanes, vectors, ((int32_t)entry >> 16) * quantisers[k]);
                continue;
            }
            CONSUME(b, pair);
            k += (int)(pair >> 6 & 31);
            // Behind the corner the quantisers are zero.
            add(samples, basis + k * lanes, vectors, (int8_t)(pair >> 17) * quantisers[k]);
            k += (int)(pair >> 11 & 63);
            add(samples, basis + k * lanes, vectors, ((int32_t)pair >> 25) * quantisers[k]);
        }
        REFILL(b);
    }
    while (k < last) {
        // Five entries fit in 56 bits: that of DC and four.
#pragma clang loop unroll(full)
        for (int i = 0; i < 4 && k < last; i++) {
            entry = next_entry(reader, &b, ac, false);
            k += (int)(entry >> 8 & 255);
            if (k > last) {
                if (last < 63 || k >= (int)CJR_END) break;
                // libjpeg-turbo takes what lies beyond a block for its last coefficient.
                k = last;
            }
            add(samples, basis + k * lanes, vectors, ((int32_t)entry >> 16) * quantisers[k]);
        }
        REFILL(b);
    }
    while (k < 63) {
        // Three look-ups fit in the 45 bits that are known after DC.
#pragma clang loop unroll(full)
        for (int i = 0; i < 3 && k < 63; i++) {
            unsigned skip = skips[b.bits >> (64 - CJR_SKIP_BITS)];
            int next = k + (int)(skip >> 6 & 63);
            if (__builtin_expect(next <= 63 && skip & 63, 1)) {
                CONSUME(b, skip);
                k = skip & CJR_SKIPS_END ? 64 : next;
                continue;
            }
            entry = next_entry(reader, &b, ac, false);
            k += (int)(entry >> 8 & 255);
        }
        REFILL(b);
    }
    store(part, samples, vectors, column, row);
    return b;
}

static inline __attribute__((always_inline)) void read_blocks(
    cjr_reader *reader, local_bits *bits, cjr_part *part, int vectors, int mcu) {
    local_bits b = *bits;
    for (int y = 0; y < part->down; y++)
        for (int x = 0; x < part->across; x++) b = read_block(reader, b, part, vectors, mcu * part->across + x, y);
    *bits = b;
}

// `vectors` is that of all components, or 0 if they differ: then each has its own function.
static inline __attribute__((always_inline)) cjr_status read_row_of(cjr_reader *reader, int vectors) {
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
            if (vectors > 0) read_blocks(reader, &b, part, vectors, mcu);
            else part->functions->read(reader, &b, part, mcu);
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

static cjr_status read_row_1(cjr_reader *reader) { return read_row_of(reader, 1); }

static cjr_status read_row(cjr_reader *reader) {
    for (int i = 0; i < reader->components; i++)
        if (reader->part[i].functions->vectors > 1) return read_row_of(reader, 0);
    return read_row_1(reader);
}

// Adds all coefficients of a small corner: zeros cost less than branches that depend on them.
static inline __attribute__((always_inline)) void add_all(
    const cjr_coefficients *from, const int16_t *values, const int16_t *basis, vector *samples) {
    int16_t scaled[CJR_LANES];
    for (int i = 0; i < from->places; i += CJR_GROUP)
        for (int j = i; j < i + CJR_GROUP; j++) {
            int value = (values[j] * from->quantisers[j]) * (1 << CJR_COEFFICIENT_BITS);
            scaled[j] = (int16_t)(value < INT16_MIN ? INT16_MIN : value > INT16_MAX ? INT16_MAX : value);
        }
    for (int i = from->places - 1; i >= 0; i--)
        samples[0] = sum(samples[0], share(scaled[i], basis + from->position[i] * CJR_LANES));
}

static inline __attribute__((always_inline)) void make_row_of(const cjr_reader *reader, int component, int vectors) {
    const cjr_part *part = &reader->part[component];
    const cjr_coefficients *from = &reader->scans->part[component];
    int lanes = vectors * CJR_LANES;
    size_t stride = (size_t)from->stride;
    const int16_t *basis = part->basis;
    for (int y = 0; y < part->down; y++) {
        size_t first = (size_t)(reader->row * part->down + y) * (size_t)from->blocks_across;
        for (int x = 0; x < from->blocks_across; x++) {
            const int16_t *values = from->values + (first + (size_t)x) * stride;
            vector samples[CJR_VECTORS];
            int32_t dc = from->dc[first + (size_t)x] * part->quantisers[0];
            for (int i = 0; i < vectors; i++) samples[i] = product(dc, basis + i * CJR_LANES);
            uint64_t known = from->known[first + (size_t)x] & from->corner_mask;
            if (vectors == 1 && known) {
                add_all(from, values, basis, samples);
                known = 0;
            }
            // The next position is the highest bit.
            while (known) {
                int k = __builtin_clzll(known);
                known &= ~CJR_POSITION(k);
                add(samples, basis + k * lanes, vectors, values[from->place[k]] * part->quantisers[k]);
            }
            store(part, samples, vectors, x, y);
        }
    }
}

static cjr_status make_row(cjr_reader *reader) {
    for (int i = 0; i < reader->components; i++) reader->part[i].functions->make_row(reader, i);
    return CJR_OK;
}

#define FUNCTIONS(count)                                                                                              \
    static void read_blocks_##count(cjr_reader *reader, local_bits *bits, cjr_part *part, int mcu) {                  \
        read_blocks(reader, bits, part, count, mcu);                                                                  \
    }                                                                                                                 \
    static void make_row_##count(const cjr_reader *reader, int component) { make_row_of(reader, component, count); }
FUNCTIONS(1)
FUNCTIONS(2)
FUNCTIONS(3)
FUNCTIONS(4)
FUNCTIONS(6)
FUNCTIONS(9)
FUNCTIONS(13)
#undef FUNCTIONS

#define BOTH(count) {count, read_blocks_##count, make_row_##count}
const cjr_row_functions ROWS = {
    .read_row = read_row,
    .make_row = make_row,
    .blocks = {BOTH(1), BOTH(2), BOTH(3), BOTH(4), BOTH(6), BOTH(9), BOTH(13)},
};
#undef BOTH
