// Look-up tables for Huffman codes, and the basis pictures.
#pragma once

#include "CJPEGReader.h"

/// Bits that look up a code together with its value.
#define CJR_CODE_BITS 11
/// Bits that look up several codes to skip.
#define CJR_SKIP_BITS 12

/// An entry for the next CJR_CODE_BITS bits:
///  bits 0–5: the bits to consume: code and value, or the code alone with CJR_VALUE_FOLLOWS;
///  bit 6: CJR_VALUE_FOLLOWS: bits 16–31 hold the number of bits of the value, which is not part of the entry;
///  bit 7: CJR_LONG: the code is longer; no other bit counts;
///  bits 8–15: the steps to the coefficient: zeros and one; CJR_END at the end of a block. 0 for DC;
///  bits 16–31: the value, signed.
typedef uint32_t cjr_entry;
#define CJR_VALUE_FOLLOWS 0x40u
#define CJR_LONG 0x80u
#define CJR_END 128u

/// An entry for one or two whole symbols in the next CJR_CODE_BITS bits, as a block has them after its DC coefficient:
///  bits 0–5: the bits to consume; 0 if the first symbol is not complete, or its value too large;
///  bits 6–10 and 11–16: the steps to the first coefficient, and from there to the second; CJR_PAIR_END at the end of a block, and 0
///  if there is no such coefficient;
///  bits 17–24 and 25–31: their values, signed.
typedef uint32_t cjr_pair;
#define CJR_PAIR_END 63u

/// An entry to skip whole symbols in the next CJR_SKIP_BITS bits:
///  bits 0–5: the bits to consume; 0 if not even the first symbol is complete;
///  bits 6–11: the steps over coefficients, one more if the end of the block follows;
///  bit 12: CJR_SKIPS_END: the last symbol ends the block.
typedef uint16_t cjr_skip;
#define CJR_SKIPS_END 0x1000u

/// The energy of skipped coefficients: the sums of value², of value² times the steps s to the coefficient, and of value² times
/// s · (s - 1) / 2. With a weight and its differences (cjr_weight) they give value² times the weight of each position. Not beside the
/// bits, whose table stays small, because the next look-up waits for it. In bytes, so that both tables fit into the L1 cache: larger
/// values are read one by one. The sums of a block with their weights fit into 32 bits.
typedef struct {
    uint8_t sums[3], unused;
} cjr_energy;

/// The weight of a position in the zigzag, which is about the square of its quantiser times a power of two, and the first and second
/// difference to the weights that follow: those of all positions are a polynomial of the second degree.
typedef struct {
    int16_t value, step, bend, unused;
} cjr_weight;

typedef struct {
    cjr_entry entries[1 << CJR_CODE_BITS];
    /// 256 × the length of the code plus its symbol; 0 if it is longer.
    uint16_t lengths[1 << CJR_CODE_BITS];
    /// For codes of each length: the largest, -1 if there is none, and the distance from a code to the place of its symbol.
    int32_t largest[18];
    int32_t offset[17];
    uint8_t symbols[256];
} cjr_codes;

/// An entry for the next CJR_CODE_BITS bits in a scan that refines AC coefficients (ITU-T T.81 G.1.2.3):
///  bits 0–5: the bits to consume: the code, and the sign of a new coefficient;
///  bit 6 (CJR_NEW_BIT): there is a new coefficient;
///  bits 8–12: the steps over zeros, the new coefficient included.
/// CJR_UNCOMMON instead for the end of a band, and for codes that are longer or damaged.
typedef uint16_t cjr_refinement;
#define CJR_NEW_BIT 6
#define CJR_UNCOMMON 0

/// The same for as many whole codes as the bits have, where no coefficient is known:
///  bits 0–5: the bits to consume;
///  bit 6 (CJR_END_BIT): the last code ends the band in this block alone;
///  bits 8–13: the steps, one more if the end follows;
///  bits 16–39 and 40–63: which coefficients are new, and those of them that are negative, the first from the highest bit on.
typedef uint64_t cjr_refinements;
#define CJR_END_BIT 6

/// False if the table contradicts itself, or if `is_dc` and a symbol is no number of bits.
bool cjr_make_codes(cjr_codes *codes, const cjr_huffman *table, bool is_dc);
void cjr_make_pairs(cjr_pair pairs[1 << CJR_CODE_BITS], const cjr_codes *codes);
void cjr_make_skips(cjr_skip skips[1 << CJR_SKIP_BITS], cjr_energy energies[1 << CJR_SKIP_BITS], const cjr_codes *codes);
void cjr_make_refinements(
    cjr_refinement refinements[1 << CJR_CODE_BITS], cjr_refinements several[1 << CJR_CODE_BITS], const cjr_codes *codes);

/// Writes the weights for the quantisers, in the order of the zigzag. Returns the exponent of the power of two.
int cjr_make_weights(cjr_weight weights[64], const uint16_t quantisers[64]);

/// Samples of a vector, in 16 bits each.
#define CJR_LANES 16
/// The most vectors that the samples of a block take, in planes of every corner: 204 lanes.
#define CJR_VECTORS 13
/// Fraction bits of a coefficient and of a sum of samples.
#define CJR_COEFFICIENT_BITS 4
#define CJR_SAMPLE_BITS 6

/// The position before which pairs begin, in corners smaller than a block, and the positions to which a pair can lead. Behind the block
/// the last coefficient has a rule of its own, which pairs do not follow.
#define CJR_PAIRED_LAST 47
#define CJR_REACHED (CJR_PAIRED_LAST + 16 + CJR_PAIR_END)

/// The position of the last coefficient of a corner in the zigzag.
extern const uint8_t cjr_last_of_corner[CJR_CORNER + 1];
/// The row and column of each position of the zigzag: 8 × row + column.
extern const uint8_t cjr_zigzag[64];

/// Writes the basis pictures of a corner, in the order of rows, for the positions of the zigzag up to the last of the corner: that of
/// position k from `lanes[k * stride]` on, zero outside of the corner. The product of a coefficient and a lane, shifted by 15 bits with
/// rounding, is a share of a sample.
void cjr_make_basis(int16_t *lanes, size_t stride, int corner);
