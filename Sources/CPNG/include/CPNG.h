#pragma once

// PNG for PNGCodec: libpng as far as it needs setjmp, which stays inside C, and the kernels of the paths beside it.
// Nothing here calls back; nothing keeps a pointer beyond what its comment says.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    CPNG_OK,
    CPNG_DAMAGED,      // cpng_reader_reason says how
    CPNG_TRUNCATED,    // the bytes end before the picture does
    CPNG_UNSUPPORTED,  // cpng_reader_reason says what
    CPNG_OUT_OF_MEMORY,
    CPNG_DECLINED,     // not of the usual kind: read it with libpng
    CPNG_TIMED_OUT,
} cpng_status;

enum { CPNG_GRAY = 0, CPNG_RGB = 2, CPNG_PALETTE = 3, CPNG_GRAY_ALPHA = 4, CPNG_RGBA = 6 };

// What stands before the first IDAT.
typedef struct {
    uint32_t width, height;
    uint8_t depth, color_type;
    bool interlaced, has_trns, is_srgb, has_gamma, has_chromaticities;
    int32_t gamma;              // as in gAMA: 100000 / exponent for decoding
    int32_t chromaticities[8];  // as in cHRM: white, red, green, blue; x before y; times 100000
    const uint8_t *profile;     // the reader's; NULL where there is none
    size_t profile_size;
    uint32_t palette_size;
    long steps;                 // chunks looked at beside libpng
} cpng_header;

// One PNG file being read from top to bottom.
typedef struct cpng_reader cpng_reader;

// Makes a reader of `size` bytes, which must stay where they are until it is freed. `lenient` takes damage that leaves rows readable.
// NULL: no memory.
cpng_reader *cpng_reader_make(const uint8_t *bytes, size_t size, bool lenient);
void cpng_reader_free(cpng_reader *reader);
const char *cpng_reader_reason(const cpng_reader *reader);

// Reads up to the first IDAT.
cpng_status cpng_reader_header(cpng_reader *reader, cpng_header *header);

// Starts libpng on the rows: palette pictures give one index per byte, all others 8 bits per channel, alpha wherever there is tRNS.
// `*row_size` becomes the bytes of one row, `*passes` how often the rows come (7 if interlaced).
cpng_status cpng_reader_start(cpng_reader *reader, size_t *row_size, int *passes);

// Reads the next row. Damage behind the last row is none, unless the checksum of an IDAT and that of the stream are both wrong.
// Over several passes `row` must be the same memory for the same row each time.
cpng_status cpng_reader_row(cpng_reader *reader, uint8_t *row);

// Instead of cpng_reader_start: checks the rest of the file and inflates all of it with libdeflate into `out`, which holds exactly
// `size` bytes: for each row one byte of filter and the row. CPNG_DECLINED unless every byte is in the best order.
cpng_status cpng_reader_inflate(cpng_reader *reader, uint8_t *out, size_t size);

// Takes the filter away from one row. `above` is the row before, or NULL for the first; `pixel` the bytes of a pixel, 1 to 4.
// Of pixels of 3 bytes, 1 byte behind `row` and `above` is read too.
void cpng_unfilter(int filter, uint8_t *row, const uint8_t *above, size_t size, int pixel);

// Turns indices into pixels of `channels` (3 or 4) bytes by the reader's palette; one that is not in it becomes opaque black
// (W3C, third edition, §11.2.2). Up to 1 byte behind `pixels` is written.
void cpng_expand(const cpng_reader *reader, const uint8_t *indices, size_t width, uint8_t *pixels, int channels);

// CRC-32 as PNG has it, going on from `crc` (0 to begin).
uint32_t cpng_crc(uint32_t crc, const uint8_t *bytes, size_t size);

// What a picture could be written as without loss.
typedef struct {
    bool is_opaque, is_gray;
    uint32_t colors;        // different pixels; 257 if more than 256
    uint32_t palette[256];  // in memory order R G B A: opaque ones last, else as first met
    uint8_t gray_depth;     // bits that hold every gray there is, where it is gray and opaque
} cpng_survey;

// Looks at rows of `channels` (1 to 4) bytes per pixel.
void cpng_look(const uint8_t *rows, size_t stride, size_t width, size_t height, int channels, cpng_survey *survey);

// How rows are to be filtered.
typedef enum { CPNG_FILTER_NONE, CPNG_FILTER_SUB, CPNG_FILTER_ADAPTIVE } cpng_filtering;

// What a picture is written as.
typedef struct {
    int color_type, depth;
    cpng_filtering filtering;
    int level;  // libdeflate's, 0 to 12
} cpng_form;

// Asked now and then whether there is time left; NULL lets everything go on.
typedef struct {
    bool (*may_go_on)(void *context);
    void *context;
} cpng_watch;

// Converts, filters and compresses a picture as `form` says, of which `survey` must have found that it is lossless.
// `*out`, to be given back by cpng_free, holds a zlib stream of `*out_size` bytes.
// CPNG_OUT_OF_MEMORY, CPNG_TIMED_OUT. Compressing itself, once all rows are filtered, is not interrupted.
cpng_status cpng_compress(
    const uint8_t *rows, size_t stride, size_t width, size_t height, int channels, const cpng_survey *survey, const cpng_form *form,
    cpng_watch watch, uint8_t **out, size_t *out_size);

// Compresses bytes into a zlib stream, as cpng_compress does.
cpng_status cpng_deflate(const uint8_t *bytes, size_t size, int level, uint8_t **out, size_t *out_size);

void cpng_free(void *memory);
