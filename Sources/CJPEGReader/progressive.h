// Reads the scans of a progressive file into coefficients.
#pragma once

#include "reader.h"

/// The coefficients of a component, in blocks of whole MCUs.
typedef struct {
    int blocks_across, blocks_down;
    /// Blocks in scans of this component alone.
    int own_across, own_down;
    /// For each block, the AC coefficients that are not zero, by their positions in the zigzag.
    uint64_t *known;
    /// For each block, the coefficients of the largest corner in the order of rows.
    int16_t *values;
    /// For each position in the zigzag, the place in the corner; -1 outside.
    int8_t place[64];
    uint64_t corner_mask;
    /// For each position, the bits that are still missing; -1 before its first scan.
    int8_t missing[64];
} cjr_coefficients;

struct cjr_scans {
    cjr_coefficients part[CJR_COMPONENTS];
    cjr_progression progression;
    cjr_codes dc[CJR_COMPONENTS], ac;
    uint32_t end_of_band_run;
};

/// Reads all scans. CJR_UNFIT if anything is unexpected, in which case nothing has been lost.
cjr_status cjr_read_scans(cjr_reader *reader, const cjr_progression *progression);
void cjr_free_scans(struct cjr_scans *scans);
