// Reads a row of MCUs. Every plane of a component has its lanes in the same sums, so that a coefficient is added to all at once.
// Included once for each instruction set, which defines
//   ROWS: the name of the functions;
//   PAIRED: the most vectors for which a coefficient more, which is often zero, costs less than a look-up more;
//   vector, sum(a, b), narrow(vectors, count, bytes);
//   share(value, lanes): a value of 16 bits times each lane, shifted by 15 bits with rounding;
//   product(value, lanes): the same after saturation to 16 bits;
//   share_out(samples, means, vectors, count, variance, shares): the shares of a variance (sharing.h) of each of `count` sums, beside the
//     means of their block; both are 0 in the lanes behind them.
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

// `measured` is the number of planes whose variances are measured, 0, 1 or SEVERAL, and known to the compiler, as `vectors` is.
#undef SEVERAL
#define SEVERAL 2
// Shares the variance of a block among the samples of a plane.
static inline __attribute__((always_inline)) void share_in_plane(
    const cjr_part *part, const cjr_plane *plane, const vector *samples, int vectors, int measured, int32_t dc, int corner,
    int variance, uint16_t *shares) {
    vector means[CJR_VECTORS], own[2 * CJR_SHARED];
    for (int i = 0; i < vectors; i++) means[i] = product(dc, part->basis + i * CJR_LANES);
    int count = corner * corner, whole = (count + CJR_LANES - 1) / CJR_LANES;
    memset(shares + whole * CJR_LANES, 0, 8 * sizeof *shares);
    if (measured == 1) {
        share_out(samples, means, whole, count, variance, shares);
        return;
    }
    // The plane's lanes alone.
    size_t size = (size_t)count * sizeof(int16_t), at = (size_t)plane->lane * sizeof(int16_t);
    memset(own, 0, sizeof own);
    memcpy(own, (const char *)samples + at, size);
    memcpy(own + CJR_SHARED, (const char *)means + at, size);
    share_out(own, own + CJR_SHARED, whole, count, variance, shares);
}

// Writes the samples of a block into each plane, eight in each row: the next block replaces those beyond its corner. With them the
// variance around each, from that of the block.
static inline __attribute__((always_inline)) void store(
    const cjr_part *part, const vector *samples, int vectors, int measured, int32_t dc, const uint16_t *variances, int column, int row) {
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
        if (measured && corner < CJR_CORNER) {
            uint16_t shares[CJR_SHARED * CJR_LANES + 8];
            share_in_plane(part, plane, samples, vectors, measured, dc, corner, *variances++, shares);
            uint16_t *first = plane->variances + (size_t)(row * corner) * stride + column * corner;
#pragma clang loop unroll(full)
            for (int y = 0; y < corner; y++) memcpy(first + (size_t)y * stride, shares + y * corner, 8 * sizeof *shares);
        } else if (measured) {
            variances++;
        }
        plane++;
    }
}

// The energy of skipped coefficients.
#if defined(__SSE2__)
#include <emmintrin.h>
typedef __m128i skipped;
static inline skipped nothing_skipped(void) { return _mm_setzero_si128(); }

static inline skipped skipped_more(skipped sum, const cjr_energy *skip, const cjr_weight *weight) {
    int32_t sums;
    memcpy(&sums, skip, sizeof sums);
    __m128i energy = _mm_unpacklo_epi8(_mm_cvtsi32_si128(sums), _mm_setzero_si128());
    return _mm_add_epi32(sum, _mm_madd_epi16(energy, _mm_loadl_epi64((const __m128i *)weight)));
}

static inline int32_t energy_of(skipped sum) {
    return _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_shuffle_epi32(sum, 1)));
}
#elif defined(__aarch64__)
typedef int32x4_t skipped;
static inline skipped nothing_skipped(void) { return vdupq_n_s32(0); }

static inline skipped skipped_more(skipped sum, const cjr_energy *skip, const cjr_weight *weight) {
    uint32_t sums;
    memcpy(&sums, skip, sizeof sums);
    int16x4_t energy = vreinterpret_s16_u16(vget_low_u16(vmovl_u8(vcreate_u8(sums))));
    return vmlal_s16(sum, energy, vld1_s16((const int16_t *)weight));
}

static inline int32_t energy_of(skipped sum) { return vaddvq_s32(sum); }
#else
typedef uint32_t skipped;
static inline skipped nothing_skipped(void) { return 0; }

static inline skipped skipped_more(skipped sum, const cjr_energy *skip, const cjr_weight *weight) {
    const uint8_t *energy = skip->sums;
    return sum + (uint32_t)(energy[0] * weight->value) + (uint32_t)(energy[1] * weight->step) + (uint32_t)(energy[2] * weight->bend);
}

static inline int32_t energy_of(skipped sum) { return (int32_t)sum; }
#endif

// Weights between those of two quantisers may be less than zero.
static inline uint16_t variance_of(const cjr_part *part, int64_t energy) {
    int64_t variance = energy < 0 ? 0 : energy * 4 >> part->shift;
    return (uint16_t)(variance < CJR_VARIANCE ? variance : CJR_VARIANCE);
}

// Writes the variance of what each plane leaves out, from the energies by the number of planes that leave them out.
static inline void sum_variances(const cjr_part *part, const int64_t *energies, uint16_t *variances) {
    int64_t energy = 0;
    const int64_t *last = energies + part->planes;
    do {
        energy += *last--;
        *variances++ = variance_of(part, energy);
    } while (last > energies);
}

static inline __attribute__((always_inline)) local_bits read_block(
    cjr_reader *reader, local_bits b, cjr_part *part, int vectors, int measured, int column, int row) {
    // In variables, because the compiler would load them again after each store and call.
    const cjr_codes *ac = part->ac;
    const cjr_pair *pairs = part->pairs;
    const cjr_skip *skips = part->skips;
    const int32_t *quantisers = part->quantisers;
    const int16_t *basis = part->basis;
    const cjr_energy *skip_energies = part->energies;
    const cjr_weight *weights = part->weights;
    const uint8_t *omissions = part->omissions;
    vector samples[CJR_VECTORS];
    int last = part->last, lanes = vectors * CJR_LANES;
    const int32_t *outside = part->outside;
    // By the number of planes that leave the coefficients out, or of the single plane.
    int64_t energies[CJR_CORNER + 1], energy = 0;
    for (int i = 0; i <= CJR_CORNER && measured == SEVERAL; i++) energies[i] = 0;
    skipped sum = nothing_skipped();
#define MEASURE(of, k)                                                                                                \
    do {                                                                                                              \
        int64_t square = (of) * (of);                                                                                 \
        if (measured == 1) energy += square * outside[k];                                                             \
        if (measured == SEVERAL) energies[omissions[k]] += square * weights[k].value;                                 \
    } while (0)
    REFILL(b);
    cjr_entry entry = next_entry(reader, &b, part->dc, true);
    part->predictor += (int32_t)entry >> 16;
    int32_t dc = (int16_t)part->predictor * quantisers[0];
    for (int i = 0; i < vectors; i++) samples[i] = product(dc, basis + i * CJR_LANES);
    int k = 0;
    // The last position is so low that the first code of a pair ends no block.
    int paired = last < CJR_PAIRED_LAST ? last : last < 63 ? CJR_PAIRED_LAST : 0;
    while (vectors <= PAIRED && k < paired) {
        // DC and four look-ups fit in 56 bits.
        for (int i = 0; i < 4 && k < paired; i++) {
            cjr_pair pair = pairs[b.bits >> (64 - CJR_CODE_BITS)];
            if (__builtin_expect(pair == 0, 0)) {
                entry = next_entry(reader, &b, ac, false);
                k += (int)(entry >> 8 & 255);
                if (k < 64) MEASURE((int32_t)entry >> 16, k);
                if (k > last) break;
                add(samples, basis + k * lanes, vectors, ((int32_t)entry >> 16) * quantisers[k]);
                continue;
            }
            CONSUME(b, pair);
            k += (int)(pair >> 6 & 31);
            // Behind the corner the quantisers are zero.
            MEASURE((int8_t)(pair >> 17), k);
            add(samples, basis + k * lanes, vectors, (int8_t)(pair >> 17) * quantisers[k]);
            k += (int)(pair >> 11 & 63);
            MEASURE((int32_t)pair >> 25, k);
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
            if (k < 64) MEASURE((int32_t)entry >> 16, k);
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
            uint64_t place = b.bits >> (64 - CJR_SKIP_BITS);
            unsigned skip = skips[place];
            int next = k + (int)(skip >> 6 & 63);
            if (__builtin_expect(next <= 63 && skip & 63, 1)) {
                CONSUME(b, skip);
                if (measured) sum = skipped_more(sum, &skip_energies[place], &weights[k]);
                k = skip & CJR_SKIPS_END ? 64 : next;
                continue;
            }
            entry = next_entry(reader, &b, ac, false);
            k += (int)(entry >> 8 & 255);
            if (k < 64) MEASURE((int32_t)entry >> 16, k);
        }
        REFILL(b);
    }
#undef MEASURE
    uint16_t variances[CJR_CORNER];
    if (measured == 1) variances[0] = variance_of(part, energy + energy_of(sum));
    if (measured == SEVERAL) {
        energies[part->planes] += energy_of(sum);
        sum_variances(part, energies, variances);
    }
    store(part, samples, vectors, measured, dc, variances, column, row);
    return b;
}

static inline __attribute__((always_inline)) void read_blocks(
    cjr_reader *reader, local_bits *bits, cjr_part *part, int vectors, int measured, int mcu) {
    local_bits b = *bits;
    for (int y = 0; y < part->down; y++)
        for (int x = 0; x < part->across; x++) b = read_block(reader, b, part, vectors, measured, mcu * part->across + x, y);
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
            const cjr_block_functions *functions = part->functions;
            if (vectors == 0 && !part->is_measured) functions->read(reader, &b, part, mcu);
            else if (vectors == 0) (part->planes == 1 ? functions->measure_one : functions->measure)(reader, &b, part, mcu);
            else if (!part->is_measured) read_blocks(reader, &b, part, vectors, 0, mcu);
            else if (part->planes == 1) read_blocks(reader, &b, part, vectors, 1, mcu);
            else read_blocks(reader, &b, part, vectors, SEVERAL, mcu);
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
            if (!from->energies) {
                store(part, samples, vectors, 0, 0, NULL, x, y);
                continue;
            }
            const uint32_t *energies = from->energies + (first + (size_t)x) * (size_t)part->planes;
            uint16_t variances[CJR_CORNER];
            for (int i = 0; i < part->planes; i++) variances[i] = variance_of(part, energies[i]);
            store(part, samples, vectors, SEVERAL, dc, variances, x, y);
        }
    }
}

static cjr_status make_row(cjr_reader *reader) {
    for (int i = 0; i < reader->components; i++) reader->part[i].functions->make_row(reader, i);
    return CJR_OK;
}

#define FUNCTIONS(count)                                                                                              \
    static void read_blocks_##count(cjr_reader *reader, local_bits *bits, cjr_part *part, int mcu) {                  \
        read_blocks(reader, bits, part, count, 0, mcu);                                                               \
    }                                                                                                                 \
    static void measure_one_##count(cjr_reader *reader, local_bits *bits, cjr_part *part, int mcu) {                  \
        read_blocks(reader, bits, part, count, 1, mcu);                                                               \
    }                                                                                                                 \
    static void measure_##count(cjr_reader *reader, local_bits *bits, cjr_part *part, int mcu) {                      \
        read_blocks(reader, bits, part, count, SEVERAL, mcu);                                                         \
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

#define BOTH(count) {count, read_blocks_##count, measure_one_##count, measure_##count, make_row_##count}
const cjr_row_functions ROWS = {
    .read_row = read_row,
    .make_row = make_row,
    .blocks = {BOTH(1), BOTH(2), BOTH(3), BOTH(4), BOTH(6), BOTH(9), BOTH(13)},
};
#undef BOTH
