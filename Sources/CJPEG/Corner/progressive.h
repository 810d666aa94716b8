// Reads the scans of a progressive file into coefficients.
#pragma once

#include "reader.h"

/// The bit of a position in the zigzag.
#define CJR_POSITION(k) (1ull << 63 >> (k))

/// Vector instructions change so many coefficients at once, also those behind the block, which stay as they are.
#define CJR_GROUP 8

/// The coefficients of a component, in blocks of whole MCUs.
typedef struct {
    int blocks_across, blocks_down;
    /// Blocks in scans of this component alone.
    int own_across, own_down;
    /// For each block, the AC coefficients that are not zero: position k of the zigzag is bit 63 - k, in the order of correction bits.
    uint64_t *known;
    /// For each block, its DC coefficient, and the AC coefficients of the largest corner, the last position first.
    int16_t *dc, *values;
    /// For each block and each plane, the energy of coefficients that the plane leaves out, as they were when they became known; NULL if
    /// it is not measured.
    uint32_t *energies;
    /// The AC coefficients of the corner, and the distance of those of the next block.
    int places, stride;
    /// For each position in the zigzag, the place among the block's values; -1 outside of the corner.
    int8_t place[64];
    /// For each place, the position and its quantiser.
    uint8_t position[64];
    int16_t quantisers[64];
    /// The AC coefficients of the corner, as in `known`.
    uint64_t corner_mask;
    /// For each plane, the AC coefficients that it leaves out, as in `known`.
    uint64_t outside[CJR_CORNER];
    /// The sums of the weights of coefficients, for each byte of such a mask, the highest first.
    uint32_t (*sums)[256];
    /// For each position, the bits that are still missing; -1 before its first scan.
    int8_t missing[64];
} cjr_coefficients;

struct cjr_scans {
    cjr_coefficients part[CJR_COMPONENTS];
    cjr_progression progression;
    cjr_codes dc[CJR_COMPONENTS], ac;
    /// Of `ac`, in a scan that refines AC coefficients.
    cjr_refinement refinements[1 << CJR_CODE_BITS];
    cjr_refinements several[1 << CJR_CODE_BITS];
    uint32_t end_of_band_run;
};

/// Reads all scans. CJR_UNFIT if anything is unexpected, in which case nothing has been lost.
cjr_status cjr_read_scans(cjr_reader *reader, const cjr_progression *progression);
void cjr_free_scans(struct cjr_scans *scans);
