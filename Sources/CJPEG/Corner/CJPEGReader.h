// A reader of JPEG for shrinking. It keeps only the N × N lowest coefficients of each block of 8 × 8, N from 1 to 8, and skips the
// others several at a time. One pass serves several N, each with the samples that it gives alone.
// Its results are whole numbers with defined rounding, the same on every machine and every instruction set.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CJR_COMPONENTS 3
/// The largest corner: the whole block.
#define CJR_CORNER 8
#define CJR_SIDE(corner) (1u << (corner))
/// The largest quantiser. Larger ones do not fit the arithmetic and occur in no 8-bit file.
#define CJR_QUANTISER 2048
/// The most rows of a component in one step: four blocks of eight rows.
#define CJR_ROWS 32
/// The largest variance that is told. More is no picture: half black and half white have 16,256.
#define CJR_VARIANCE 16383

typedef enum {
    CJR_OK = 0,
    /// The bytes contradict the format.
    CJR_DAMAGED,
    /// The file ends early.
    CJR_TRUNCATED,
    /// Another reader has to decide: nothing has been delivered.
    CJR_UNFIT,
    CJR_OUT_OF_MEMORY,
    CJR_TIMED_OUT,
} cjr_status;

/// The instructions to use. All give the same bytes.
typedef enum { CJR_BEST, CJR_PORTABLE } cjr_instructions;

/// A Huffman table as in the file (ITU-T T.81 B.2.4.2): the number of codes of each length from 1 to 16, and their symbols.
typedef struct {
    uint8_t counts[17];
    uint8_t symbols[256];
} cjr_huffman;

typedef struct {
    /// Blocks in a minimum coded unit (MCU), in each direction.
    int across, down;
    /// The sides of the corners, of which each becomes a plane at the scale of side / 8: the sum of CJR_SIDE of each.
    unsigned corners;
    /// In the order of rows, not of the zigzag.
    const uint16_t *quantisers;
    /// NULL in a progressive file.
    const cjr_huffman *dc, *ac;
} cjr_component;

/// One scan with all components, and the entropy-coded bytes after its header up to the end of the file.
typedef struct {
    int width, height;
    /// 1, or 3: the first has the finest sampling, and the others one block in each MCU.
    int components;
    cjr_component component[CJR_COMPONENTS];
    /// MCUs between two restart markers; 0 if there are none.
    unsigned restart_interval;
    const uint8_t *bytes;
    size_t length;
} cjr_picture;

/// The rows of one step of a plane: the next `count` rows, `stride` bytes apart. Valid until the next call.
typedef struct {
    uint8_t *rows;
    size_t stride;
    int count;
    /// Of the first component: for each sample, the variance of what the corner leaves out around it, in squares of a step of a sample;
    /// `stride` numbers apart. NULL if nothing is left out.
    const uint16_t *variances;
} cjr_rows;

/// The header of a scan (ITU-T T.81 B.2.3): components by their place in the frame, the numbers of their tables, the positions of
/// coefficients in the zigzag, and successive approximation.
typedef struct {
    int components;
    int component[CJR_COMPONENTS], dc[CJR_COMPONENTS], ac[CJR_COMPONENTS];
    int first, last, high, low;
} cjr_scan;

/// What a progressive file says before its first scan ends.
typedef struct {
    /// The components' names in scan headers.
    uint8_t names[CJR_COMPONENTS];
    cjr_huffman dc[4], ac[4];
    bool has_dc[4], has_ac[4];
    /// The first scan, whose entropy-coded bytes follow.
    cjr_scan scan;
    /// The most scans to read.
    int scans;
    /// Whether there is time left; NULL without a deadline. Called for each row of MCUs.
    bool (*may_go_on)(void *context);
    void *context;
} cjr_progression;

typedef struct cjr_reader cjr_reader;

/// Prepares to read one scan of a sequential file. The tables are copied; `bytes` must outlive the reader.
/// CJR_UNFIT if a table or a size is outside of what this reader expects.
cjr_status cjr_new(const cjr_picture *picture, cjr_instructions instructions, cjr_reader **reader);
/// The same for a progressive file, whose scans are read at once: the picture's own tables are not used. CJR_UNFIT also if the
/// scans are damaged, incomplete or uncommon: then another reader has to decide.
cjr_status cjr_new_progressive(
    const cjr_picture *picture, const cjr_progression *progression, cjr_instructions instructions, cjr_reader **reader);
void cjr_free(cjr_reader *reader);
/// The samples of a component's plane across and down; 0 if this corner was not asked for.
void cjr_size(const cjr_reader *reader, int component, int corner, int *width, int *height);
/// Delivers the next rows of each component for each side of a corner; counts of 0 for the first component mean that all have been
/// delivered.
cjr_status cjr_read(cjr_reader *reader, cjr_rows rows[CJR_COMPONENTS][CJR_CORNER + 1]);
/// The reason for the last error.
const char *cjr_message(const cjr_reader *reader);
