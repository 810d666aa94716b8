// Reads a block in a scan that refines AC coefficients (ITU-T T.81 G.1.2.3). Included by scan.h, for which the instruction set defines
//   in_turn(zeros), pass(turn, steps, left): zeros to pass in the order of the zigzag, and the position of the next after `steps` - 1
//   others, behind which so many are left;
//   deposit(values, bits, wanted): bits of `values` at the places of the set bits, the lowest first; right at least for those wanted;
//   change(values, places, mask, corrected, added, negative, step): moves corrected coefficients of a block away from zero, and sets
//   those that are new. `mask` has a bit for each place.

// At most 63 bits.
INLINE uint64_t take_many(local_bits *b, int count) {
    if (count <= 32) return take(b, count);
    uint64_t upper = take(b, count - 32);
    return upper << 32 | take(b, 32);
}

// The entry of a code that is not in the table. The code is consumed. CJR_UNCOMMON at the end of a band, with the run of blocks.
INLINE unsigned uncommon(cjr_reader *reader, local_bits *b, uint32_t *ended) {
    int symbol = next_symbol(reader, b, &reader->scans->ac), zeros = symbol >> 4, size = symbol & 15;
    if (size > 1) reader->bits.is_bad = true;
    if (size == 0 && zeros < 15) {
        *ended = run(b, zeros);
        return CJR_UNCOMMON;
    }
    REFILL(*b);
    return (size ? 1u << CJR_NEW_BIT | 1u : 0) | (unsigned)(zeros + 1) << 8;
}

// A block while it is read.
typedef struct {
    /// The zeros of the band that were not passed yet, and their number.
    uint64_t turn;
    int left;
    /// The position that was read last.
    int at;
    /// The bits of known coefficients so far, and the new coefficients.
    uint64_t corrections, added, negative;
} block_refinement;

// Reads one code, and the bits of known coefficients before its own position, if there are any. False if the block has ended, or is
// damaged.
INLINE bool refine_one(cjr_reader *reader, local_bits *b, uint32_t *ended, block_refinement *block, bool has_known) {
    REFILL(*b);
    unsigned entry = reader->scans->refinements[b->bits >> (64 - CJR_CODE_BITS)];
    if (__builtin_expect(entry == CJR_UNCOMMON, 0)) {
        entry = uncommon(reader, b, ended);
        if (entry == CJR_UNCOMMON) return false;
    }
    int steps = (int)(entry >> 8), length = (int)(entry & 63);
    block->left -= steps;
    if (__builtin_expect(block->left < 0, 0)) {
        reader->bits.is_bad = true;
        return false;
    }
    int place = has_known ? pass(&block->turn, steps, block->left) : block->at + steps, passed = place - block->at - steps;
    block->at = place;
    uint64_t is_new = (uint64_t)(entry >> CJR_NEW_BIT & 1) << (63 - place);
    block->added |= is_new;
    // The sign is the last of the bits.
    block->negative |= b->bits >> (-length & 63) & 1 ? 0 : is_new;
    CONSUME(*b, length);
    if (__builtin_expect(passed > 32, 0)) {
        block->corrections = block->corrections << passed | take_many(b, passed);
    } else {
        block->corrections = block->corrections << passed | b->bits >> 1 >> (63 - passed);
        CONSUME(*b, passed);
    }
    return true;
}

// `ended` is the length of a run of blocks that end, with this one.
INLINE bool refine(
    cjr_reader *reader, local_bits *b, uint32_t *ended, const cjr_coefficients *part, int planes, uint64_t *all_known,
    int16_t *values, uint32_t *energies, const cjr_scan *scan) {
    uint64_t band = ~0ull >> scan->first & ~0ull << (63 - scan->last), known = *all_known & band, zeros = ~known & band;
    block_refinement block = {.turn = in_turn(zeros), .left = __builtin_popcountll(zeros), .at = scan->first - 1};
    if (*ended == 0) {
        int last_known = known ? 63 - __builtin_ctzll(known) : -1;
        while (block.at < last_known && refine_one(reader, b, ended, &block, true)) continue;
        // Nothing is known behind: several codes in one look-up, which may end the block, but not go beyond it.
        while (*ended == 0 && block.at < scan->last && !reader->bits.is_bad) {
            REFILL(*b);
            uint64_t entry = reader->scans->several[b->bits >> (64 - CJR_CODE_BITS)];
            int steps = (int)(entry >> 8 & 63), at = block.at + 1;
            if (__builtin_expect(entry == CJR_UNCOMMON || block.at + steps > scan->last, 0)) {
                if (!refine_one(reader, b, ended, &block, false)) break;
                continue;
            }
            block.added |= (entry << 24 & ~0ull << 40) >> at;
            block.negative |= (entry & ~0ull << 40) >> at;
            block.at += steps;
            block.left -= steps;
            CONSUME(*b, entry);
            *ended = entry >> CJR_END_BIT & 1;
        }
    }
    if (*ended > 0) {
        --*ended;
        int rest = scan->last - block.at - block.left;
        block.corrections = block.corrections << rest | take_many(b, rest);
    }
    uint64_t corrected = deposit(block.corrections, known, part->corner_mask);
    *all_known |= block.added;
    if ((corrected | block.added) & part->corner_mask)
        change(values, part->places, part->corner_mask, corrected, block.added, block.negative, (int16_t)(1 << scan->low));
    if (energies) measure(part, planes, energies, block.added, (3 << scan->low) - 1);
    return !reader->bits.is_bad;
}
