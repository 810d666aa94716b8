// Reads the rows of one scan of a progressive file. Included once for each instruction set, which defines
//   SCAN_ROWS: the name of the function;
//   what refinement.h uses.
#include "local_bits.h"
#include "progressive.h"

#define INLINE static inline __attribute__((always_inline))

// At most 32 bits.
INLINE uint32_t take(local_bits *b, int count) {
    if (count == 0) return 0;
    REFILL(*b);
    uint32_t value = (uint32_t)(b->bits >> (64 - count));
    CONSUME(*b, count);
    return value;
}

// Codes without a symbol are damage wherever they occur.
#define EVERYWHERE (1 << 21)

// The entry of the next code, which is not consumed.
INLINE cjr_entry peek(cjr_reader *reader, local_bits *b, const cjr_codes *codes, bool is_dc) {
    REFILL(*b);
    cjr_entry entry = codes->entries[b->bits >> (64 - CJR_CODE_BITS)];
    if (__builtin_expect(entry & (CJR_LONG | CJR_VALUE_FOLLOWS), 0)) {
        reader->bits.in = b->in;
        entry = cjr_any_code(&reader->bits, codes, b->bits, is_dc, EVERYWHERE);
    }
    return entry;
}

// The next symbol, after which bits of a run may follow.
INLINE int next_symbol(cjr_reader *reader, local_bits *b, const cjr_codes *codes) {
    REFILL(*b);
    unsigned known = codes->lengths[b->bits >> (64 - CJR_CODE_BITS)];
    int length = (int)(known >> 8), symbol = (int)(known & 255);
    if (__builtin_expect(known == 0, 0)) {
        length = CJR_CODE_BITS + 1;
        while ((int32_t)(b->bits >> (64 - length)) > codes->largest[length]) length++;
        if (length > 16) reader->bits.is_bad = true;
        else symbol = codes->symbols[((int)(b->bits >> (64 - length)) + codes->offset[length]) & 255];
    }
    CONSUME(*b, length);
    return symbol;
}

INLINE bool dc_first(cjr_reader *reader, local_bits *b, int16_t *dc, int i, int low) {
    cjr_entry entry = peek(reader, b, &reader->scans->dc[i], true);
    CONSUME(*b, entry);
    int64_t predictor = reader->part[i].predictor += (int32_t)entry >> 16;
    if (predictor > INT16_MAX || predictor < INT16_MIN) return false;
    int32_t value = (int32_t)predictor * (1 << low);
    *dc = (int16_t)value;
    return value <= INT16_MAX && value >= INT16_MIN;
}

// The length of a run of blocks that end: this one and those that follow.
INLINE uint32_t run(local_bits *b, int exponent) { return (1u << exponent) + take(b, exponent); }

// Adds the energy of coefficients of one size that have become known, and of which each plane leaves out some. Missing bits count as
// half of what they may be, so twice the size is a whole number. Sums that are too large stay so, so that their order does not matter.
INLINE void measure(const cjr_coefficients *part, int planes, uint32_t *energies, uint64_t new, int64_t twice) {
    for (int i = 0; i < planes; i++) {
        uint64_t mask = new & part->outside[i];
        if (!mask) continue;
        uint64_t weight = 0;
        for (int byte = 0; byte < 8; byte++) weight += part->sums[byte][mask >> (56 - 8 * byte) & 255];
        uint64_t sum = energies[i] + ((uint64_t)(twice * twice) * weight >> 2);
        energies[i] = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
    }
}

// `ended` is the length of a run of blocks that begins with this one.
INLINE bool ac_first(
    cjr_reader *reader, local_bits *b, uint32_t *ended, const cjr_coefficients *part, int planes, uint64_t *all_known,
    int16_t *values, uint32_t *energies, const cjr_scan *scan) {
    const cjr_codes *codes = &reader->scans->ac;
    uint64_t known = *all_known;
    for (int k = scan->first; k <= scan->last; k++) {
        cjr_entry entry = peek(reader, b, codes, false);
        unsigned steps = entry >> 8 & 255;
        if (steps == CJR_END) {
            *ended = run(b, next_symbol(reader, b, codes) >> 4);
            break;
        }
        CONSUME(*b, entry);
        k += (int)steps - 1;
        if (k > scan->last) return false;
        int value = ((int32_t)entry >> 16) * (1 << scan->low);
        if (value == 0) continue;
        if (value > INT16_MAX || value < INT16_MIN) return false;
        known |= CJR_POSITION(k);
        if (energies) measure(part, planes, energies, CJR_POSITION(k), 2 * (value < 0 ? -value : value) + (1 << scan->low) - 1);
        if (part->place[k] >= 0) values[part->place[k]] = (int16_t)value;
    }
    *all_known = known;
    return true;
}

#include "refinement.h"

// Before each MCU: passes a restart marker, and provides bytes.
static bool prepare(cjr_reader *reader) {
    cjr_bits *bits = &reader->bits;
    if (reader->restart_interval && reader->until_restart == 0) {
        if (cjr_restart(reader) != CJR_OK) return false;
        reader->scans->end_of_band_run = 0;
    }
    return bits->in < bits->safe || cjr_top_up(bits);
}

#define PREPARE()                                                                                                     \
    do {                                                                                                              \
        if (b.in >= reader->bits.safe || (reader->restart_interval && reader->until_restart == 0)) {                  \
            SAVE();                                                                                                   \
            if (!prepare(reader)) return false;                                                                       \
            LOAD();                                                                                                   \
        }                                                                                                             \
        reader->until_restart--;                                                                                      \
    } while (0)
#define SAVE()                                                                                                        \
    (reader->bits.bits = b.bits, reader->bits.count = b.count, reader->bits.in = b.in,                                \
     reader->scans->end_of_band_run = ended)
#define LOAD()                                                                                                        \
    (b = (local_bits){reader->bits.bits, reader->bits.count, reader->bits.in},                                        \
     ended = reader->scans->end_of_band_run)

// A row of blocks of one component.
INLINE bool ac_row(cjr_reader *reader, const cjr_scan *scan, int row, bool is_first) {
    const cjr_coefficients *part = &reader->scans->part[scan->component[0]];
    size_t stride = (size_t)part->stride, first = (size_t)row * (size_t)part->blocks_across;
    uint64_t *known = part->known + first;
    int16_t *values = part->values + first * stride;
    int planes = reader->part[scan->component[0]].planes;
    uint32_t *energies = part->energies ? part->energies + first * (size_t)planes : NULL;
    // In variables, as in a row of a sequential file.
    uint32_t ended;
    local_bits b;
    LOAD();
    for (int column = 0; column < part->own_across; column++, known++, values += stride) {
        uint32_t *own = energies ? energies + column * planes : NULL;
        PREPARE();
        if (is_first) {
            if (ended == 0 && !ac_first(reader, &b, &ended, part, planes, known, values, own, scan)) return false;
            if (ended > 0) ended--;
        } else if (!refine(reader, &b, &ended, part, planes, known, values, own, scan)) {
            return false;
        }
    }
    SAVE();
    return !reader->bits.is_bad;
}

static bool ac_first_row(cjr_reader *reader, const cjr_scan *scan, int row) { return ac_row(reader, scan, row, true); }
static bool ac_refined_row(cjr_reader *reader, const cjr_scan *scan, int row) { return ac_row(reader, scan, row, false); }

static bool dc_row(cjr_reader *reader, const cjr_scan *scan, int row) {
    bool is_alone = scan->components == 1;
    int columns = is_alone ? reader->scans->part[scan->component[0]].own_across : reader->mcus_across;
    uint32_t ended;
    local_bits b;
    LOAD();
    for (int column = 0; column < columns; column++) {
        PREPARE();
        // One for each block of the MCU.
        if (scan->high > 0) REFILL(b);
        for (int i = 0; i < scan->components; i++) {
            int index = scan->component[i];
            cjr_coefficients *to = &reader->scans->part[index];
            const cjr_part *part = &reader->part[index];
            int across = is_alone ? 1 : part->across, down = is_alone ? 1 : part->down;
            for (int y = 0; y < down; y++) {
                int16_t *dc = to->dc + (size_t)(row * down + y) * (size_t)to->blocks_across + (size_t)(column * across);
                for (int x = 0; x < across; x++) {
                    if (scan->high == 0) {
                        if (!dc_first(reader, &b, &dc[x], index, scan->low)) return false;
                        continue;
                    }
                    dc[x] |= (int16_t)(b.bits >> 63 << scan->low);
                    CONSUME(b, 1);
                }
            }
        }
    }
    SAVE();
    return !reader->bits.is_bad;
}

cjr_status SCAN_ROWS(cjr_reader *reader, const cjr_scan *scan) {
    const cjr_progression *progression = &reader->scans->progression;
    int rows = scan->components == 1 ? reader->scans->part[scan->component[0]].own_down : reader->mcus_down;
    bool (*read_row)(cjr_reader *, const cjr_scan *, int) = scan->first == 0 ? dc_row : scan->high == 0 ? ac_first_row : ac_refined_row;
    for (int row = 0; row < rows; row++) {
        if (progression->may_go_on && !progression->may_go_on(progression->context)) return CJR_TIMED_OUT;
        if (!read_row(reader, scan, row)) return CJR_UNFIT;
    }
    return CJR_OK;
}
#undef PREPARE
#undef SAVE
#undef LOAD
