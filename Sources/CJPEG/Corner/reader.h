// The state of a reader, shared by its files.
#pragma once

#include "tables.h"

/// Destuffed bytes at hand. A chunk stays in the first-level cache.
#ifndef CJR_CHUNK
#define CJR_CHUNK (16 << 10)
#endif
/// The most bytes of one MCU: ten blocks of 64 codes of 16 bits with values of 15, and what a refill reads ahead.
#define CJR_AHEAD (10 * 64 * 4 + 16)
/// The most blocks of an MCU (ITU-T T.81 B.2.3).
#define CJR_BLOCKS 10

/// Bits of one segment: the bytes between two markers, without stuffing, a chunk at a time.
typedef struct {
    /// The next bits, from the top; `count` of them are known. Bits below them may be set, to their final values.
    uint64_t bits;
    int count;
    /// The next byte for `bits`, the end of the valid bytes, and the place from which `cjr_top_up` has to be called before an MCU.
    const uint8_t *in, *limit, *safe;
    /// The next byte of the file, and its end.
    const uint8_t *source, *end;
    /// The segment ends at `limit`: at a marker, or at the end of the file. Zeros follow.
    bool is_last, has_ended;
    /// A code without a symbol where it is damage.
    bool is_bad;
    uint8_t chunk[CJR_CHUNK + CJR_AHEAD];
} cjr_bits;

/// The samples of one corner of a component.
typedef struct {
    int corner;
    /// The first of its lanes in the sums of a block.
    int lane;
    uint8_t *rows;
    size_t stride;
    /// In samples.
    int width, height, delivered;
    /// For each sample of `rows`, the variance of what is left out around it; NULL if nothing is, or if it is not measured.
    uint16_t *variances;
} cjr_plane;

typedef struct cjr_part cjr_part;
struct local_bits;

/// The numbers of vectors in the sums of a block for which there are functions.
#define CJR_BLOCK_FUNCTIONS 7

/// The functions for blocks whose sums take up to a certain number of vectors, known to the compiler, so that they stay in registers.
typedef struct {
    int vectors;
    /// Reads the blocks of a component in an MCU, into the rows of each plane.
    void (*read)(cjr_reader *reader, struct local_bits *bits, cjr_part *part, int mcu);
    /// The same, and their variances: of a single plane, and of several.
    void (*measure_one)(cjr_reader *reader, struct local_bits *bits, cjr_part *part, int mcu);
    void (*measure)(cjr_reader *reader, struct local_bits *bits, cjr_part *part, int mcu);
    /// Makes a row of MCUs of a component from the coefficients of a progressive file.
    void (*make_row)(const cjr_reader *reader, int component);
} cjr_block_functions;

struct cjr_part {
    /// Blocks of an MCU; the side of the largest corner, and the position of its last coefficient in the zigzag.
    int across, down, corner, last;
    /// The planes, those of larger corners first, and the sum of CJR_SIDE of their corners.
    int planes;
    unsigned corners;
    cjr_plane plane[CJR_CORNER];
    /// The samples of a block in all planes.
    int lanes;
    /// For each position of the zigzag up to the last, the basis pictures of all planes, in whole vectors. Zeros follow, for pairs.
    const int16_t *basis;
    const cjr_block_functions *functions;
    const cjr_codes *dc, *ac;
    const cjr_pair *pairs;
    const cjr_skip *skips;
    const cjr_energy *energies;
    /// For positions of the zigzag, times 1 << CJR_COEFFICIENT_BITS; 0 behind the last.
    int32_t quantisers[CJR_REACHED];
    /// Whether the energy of what the planes leave out is measured, the weights for it, and the bits from four times their sum to a
    /// variance.
    bool is_measured;
    int shift;
    cjr_weight weights[CJR_REACHED];
    /// For each position of the zigzag, how many planes leave the coefficient out: those of the smallest corners. 0 behind the block.
    uint8_t omissions[CJR_REACHED];
    /// The weights of those that a single plane leaves out; 0 for others.
    int32_t outside[CJR_REACHED];
    int64_t predictor;
};

struct cjr_reader {
    int components, blocks, mcus_across, mcus_down, row;
    cjr_part part[CJR_COMPONENTS];
    unsigned restart_interval, until_restart;
    int next_restart;
    cjr_status (*read_row)(cjr_reader *reader);
    cjr_status (*read_scan_rows)(cjr_reader *reader, const cjr_scan *scan);
    const char *message;
    void *tables[6 * CJR_COMPONENTS];
    /// The coefficients of a progressive file; NULL in a sequential one.
    struct cjr_scans *scans;
    cjr_bits bits;
};

/// Begins a segment at `bits->source`.
void cjr_begin_segment(cjr_bits *bits);
/// Provides the bytes of another MCU. False if more bits were used than the segment has.
bool cjr_top_up(cjr_bits *bits);
/// Whether more bits were used than the segment has.
bool cjr_is_overdrawn(const cjr_bits *bits);
/// Whether all whole bytes of the segment were used, but for padding of zeros or ones, and no more. The segment is over then.
bool cjr_is_used_up(cjr_bits *bits);
/// Passes the expected restart marker and begins the next segment.
cjr_status cjr_restart(cjr_reader *reader);
/// The entry with a value for any code. `bits` is shifted by the caller.
cjr_entry cjr_any_code(cjr_bits *state, const cjr_codes *codes, uint64_t bits, bool is_dc, int blocks);
/// The status of an error at the present place.
cjr_status cjr_fail(cjr_reader *reader, const char *message);

/// The functions of one instruction set.
typedef struct {
    cjr_status (*read_row)(cjr_reader *reader), (*make_row)(cjr_reader *reader);
    /// By their numbers of vectors, the fewest first; the last has room for all corners.
    cjr_block_functions blocks[CJR_BLOCK_FUNCTIONS];
} cjr_row_functions;

extern const cjr_row_functions cjr_rows_portable;
/// Reads the entropy-coded bytes of a scan of a progressive file.
cjr_status cjr_scan_rows_portable(cjr_reader *reader, const cjr_scan *scan);
#if defined(__x86_64__)
extern const cjr_row_functions cjr_rows_avx2;
cjr_status cjr_scan_rows_avx2(cjr_reader *reader, const cjr_scan *scan);
#endif
