// Reads the rows of one scan of a progressive file. Included once for each instruction set, which defines
//   SCAN_ROWS: the name of the function;
//   set_bit(bits, skip): the place of the set bit after `skip` others, 64 if there are fewer.
#include "progressive.h"
#include "local_bits.h"

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

INLINE bool dc_first(cjr_reader *reader, local_bits *b, cjr_coefficients *part, int i, size_t block, int places, int low) {
    cjr_entry entry = peek(reader, b, &reader->scans->dc[i], true);
    CONSUME(*b, entry);
    int64_t predictor = reader->part[i].predictor += (int32_t)entry >> 16;
    if (predictor > INT16_MAX || predictor < INT16_MIN) return false;
    int32_t value = (int32_t)predictor * (1 << low);
    part->values[block * (size_t)places] = (int16_t)value;
    return value <= INT16_MAX && value >= INT16_MIN;
}

// The length of a run of blocks that end: this one and those that follow.
INLINE uint32_t run(local_bits *b, int exponent) { return (1u << exponent) + take(b, exponent); }

INLINE bool ac_first(
    cjr_reader *reader, local_bits *b, const cjr_coefficients *part, uint64_t *all_known, int16_t *values, const cjr_scan *scan) {
    struct cjr_scans *scans = reader->scans;
    uint64_t known = *all_known;
    for (int k = scan->first; k <= scan->last; k++) {
        cjr_entry entry = peek(reader, b, &scans->ac, false);
        unsigned steps = entry >> 8 & 255;
        if (steps == CJR_END) {
            scans->end_of_band_run = run(b, next_symbol(reader, b, &scans->ac) >> 4) - 1;
            break;
        }
        CONSUME(*b, entry);
        k += (int)steps - 1;
        if (k > scan->last) return false;
        int value = ((int32_t)entry >> 16) * (1 << scan->low);
        if (value == 0) continue;
        if (value > INT16_MAX || value < INT16_MIN) return false;
        known |= 1ull << k;
        if (part->place[k] >= 0) values[part->place[k]] = (int16_t)value;
    }
    *all_known = known;
    return true;
}

// Reads a bit for each known coefficient in `which`, and moves those of the corner away from zero.
INLINE void correct(local_bits *b, uint64_t which, const cjr_coefficients *part, int16_t *values, int step) {
    int count = __builtin_popcountll(which);
    if (count == 0) return;
    REFILL(*b);
    uint64_t bits = b->bits;
    if (__builtin_expect(count <= 56, 1)) {
        CONSUME(*b, count);
    } else {
        bits = (uint64_t)take(b, 32) << 32;
        bits |= (uint64_t)take(b, count - 32) << (64 - count);
    }
    for (uint64_t inside = which & part->corner_mask; inside; inside &= inside - 1) {
        int k = __builtin_ctzll(inside), before = __builtin_popcountll(which & ((1ull << k) - 1));
        int16_t *value = &values[part->place[k]];
        int change = bits << before >> 63 ? step : 0;
        *value = (int16_t)(*value + (*value < 0 ? -change : change));
    }
}

// The positions from `first` to `last`.
INLINE uint64_t band(int first, int last) { return first > last ? 0 : ~0ull << first & ~0ull >> (63 - last); }

INLINE bool ac_refined(
    cjr_reader *reader, local_bits *b, const cjr_coefficients *part, uint64_t *all_known, int16_t *values, const cjr_scan *scan) {
    struct cjr_scans *scans = reader->scans;
    uint64_t known = *all_known;
    int k = scan->first, last = scan->last, step = 1 << scan->low;
    while (scans->end_of_band_run == 0 && k <= last) {
        int symbol = next_symbol(reader, b, &scans->ac), zeros = symbol >> 4, size = symbol & 15;
        if (size > 1) return false;
        if (size == 0 && zeros < 15) {
            scans->end_of_band_run = run(b, zeros);
            break;
        }
        int value = size ? take(b, 1) ? step : -step : 0;
        int place = set_bit(~known & band(k, last), zeros);
        if (place > last) return false;
        correct(b, known & band(k, place), part, values, step);
        if (value) {
            known |= 1ull << place;
            if (part->place[place] >= 0) values[part->place[place]] = (int16_t)value;
        }
        k = place + 1;
    }
    if (scans->end_of_band_run > 0) {
        correct(b, known & band(k, last), part, values, step);
        scans->end_of_band_run--;
    }
    *all_known = known;
    return true;
}

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
#define SAVE() (reader->bits.bits = b.bits, reader->bits.count = b.count, reader->bits.in = b.in)
#define LOAD() (b = (local_bits){reader->bits.bits, reader->bits.count, reader->bits.in})

// A row of blocks of one component.
static bool ac_row(cjr_reader *reader, const cjr_scan *scan, int row) {
    int index = scan->component[0];
    const cjr_coefficients *part = &reader->scans->part[index];
    size_t places = (size_t)(reader->part[index].corner * reader->part[index].corner);
    size_t first = (size_t)row * (size_t)part->blocks_across;
    uint64_t *known = part->known + first;
    int16_t *values = part->values + first * places;
    bool is_first = scan->high == 0;
    local_bits b;
    LOAD();
    for (int column = 0; column < part->own_across; column++, known++, values += places) {
        PREPARE();
        if (!is_first) {
            if (!ac_refined(reader, &b, part, known, values, scan)) return false;
        } else if (reader->scans->end_of_band_run > 0) {
            reader->scans->end_of_band_run--;
        } else if (!ac_first(reader, &b, part, known, values, scan)) {
            return false;
        }
    }
    SAVE();
    return !reader->bits.is_bad;
}

static bool dc_row(cjr_reader *reader, const cjr_scan *scan, int row) {
    bool is_alone = scan->components == 1;
    int columns = is_alone ? reader->scans->part[scan->component[0]].own_across : reader->mcus_across;
    local_bits b;
    LOAD();
    for (int column = 0; column < columns; column++) {
        PREPARE();
        for (int i = 0; i < scan->components; i++) {
            int index = scan->component[i];
            cjr_coefficients *to = &reader->scans->part[index];
            const cjr_part *part = &reader->part[index];
            int places = part->corner * part->corner, across = is_alone ? 1 : part->across, down = is_alone ? 1 : part->down;
            for (int y = 0; y < down; y++)
                for (int x = 0; x < across; x++) {
                    size_t block = (size_t)(row * down + y) * (size_t)to->blocks_across + (size_t)(column * across + x);
                    if (scan->high == 0) {
                        if (!dc_first(reader, &b, to, index, block, places, scan->low)) return false;
                    } else if (take(&b, 1)) {
                        to->values[block * (size_t)places] |= (int16_t)(1 << scan->low);
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
    for (int row = 0; row < rows; row++) {
        if (progression->may_go_on && !progression->may_go_on(progression->context)) return CJR_TIMED_OUT;
        if (!(scan->first == 0 ? dc_row(reader, scan, row) : ac_row(reader, scan, row))) return CJR_UNFIT;
    }
    return CJR_OK;
}
#undef PREPARE
#undef SAVE
#undef LOAD
