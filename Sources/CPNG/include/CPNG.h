#pragma once

// PNG for PNGCodec: the part of libpng that needs setjmp, which stays within C, and the kernels of the fast paths. No function
// calls back except for the deadline, and none keeps a pointer longer than documented.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    CPNG_OK,
    CPNG_DAMAGED,      // cpng_reader_reason has the details
    CPNG_TRUNCATED,    // the file is truncated
    CPNG_UNSUPPORTED,  // cpng_reader_reason names the feature
    CPNG_OUT_OF_MEMORY,
    CPNG_DECLINED,     // not suitable for the fast path: use libpng
    CPNG_TIMED_OUT,
} cpng_status;

// Called regularly. Returns whether there is time left; NULL means no deadline.
typedef struct {
    bool (*may_go_on)(void *context);
    void *context;
} cpng_watch;

enum { CPNG_GRAY = 0, CPNG_RGB = 2, CPNG_PALETTE = 3, CPNG_GRAY_ALPHA = 4, CPNG_RGBA = 6 };

// The chunks before the first IDAT.
typedef struct {
    uint32_t width, height;
    uint8_t depth, color_type;
    bool interlaced, has_trns, has_gamma, has_chromaticities;
    bool is_srgb;               // an sRGB chunk, or a profile that is known to be sRGB and is left out
    int32_t gamma;              // as in gAMA: 100000 / exponent for decoding
    int32_t chromaticities[8];  // as in cHRM: white, red, green, blue; x before y; times 100000
    const uint8_t *profile;     // owned by the reader; NULL if there is none
    size_t profile_size;
    uint32_t palette_size;
    long steps;                 // chunks examined outside of libpng
} cpng_header;

// Reads one PNG file from start to end.
typedef struct cpng_reader cpng_reader;

// Makes a reader of `size` bytes, which must stay in place until it is freed. `lenient` tolerates damage that leaves rows readable.
// NULL if there is no memory.
cpng_reader *cpng_reader_make(const uint8_t *bytes, size_t size, bool lenient);
void cpng_reader_free(cpng_reader *reader);
const char *cpng_reader_reason(const cpng_reader *reader);

// Reads the chunks up to the first IDAT.
cpng_status cpng_reader_header(cpng_reader *reader, cpng_header *header);

// Prepares libpng for the rows. Palette pictures have one index per byte, all others 8 bits per channel, with alpha if there is a
// tRNS chunk. `*row_size` is set to the bytes of a row, `*passes` to the number of passes (7 if interlaced).
cpng_status cpng_reader_start(cpng_reader *reader, size_t *row_size, int *passes);

// Reads the next row. Damage after the last row is ignored, unless the checksums of an IDAT and of the stream are both wrong. With
// several passes, `row` must be the same memory for the same row in each pass.
cpng_status cpng_reader_row(cpng_reader *reader, uint8_t *row);

// An alternative to cpng_reader_start for pictures without interlacing: prepares to inflate the rows through a window instead of the whole
// picture in memory. CPNG_DECLINED if only libpng can read the file.
cpng_status cpng_reader_start_fast(cpng_reader *reader);

// The next row as from cpng_reader_row, valid until the next call; not to be called after the last one. CPNG_DECLINED if a chunk or the
// stream is damaged behind the row before: libpng, from the first row again, decides what that means. The last row comes only if the
// stream's checksum is right.
cpng_status cpng_reader_next_row(cpng_reader *reader, cpng_watch watch, const uint8_t **row);

// Reverses the filter of one row. `above` is the previous row, or zeros for the first; `pixel` is the bytes of a pixel: 1, 2, 3, 4, 6
// or 8. Up to 3 bytes after `from` and `above` are read too, and up to 2 after `to` written.
void cpng_unfilter(int filter, const uint8_t *from, const uint8_t *above, uint8_t *to, size_t size, int pixel);

// Converts indices to pixels of `channels` (3 or 4) bytes with the reader's palette. An index outside the palette becomes opaque
// black (W3C, third edition, §11.2.2). Up to 1 byte after `pixels` is written.
void cpng_expand(const cpng_reader *reader, const uint8_t *indices, size_t width, uint8_t *pixels, int channels);

// The CRC-32 of PNG, continued from `crc` (0 to begin).
uint32_t cpng_crc(uint32_t crc, const uint8_t *bytes, size_t size);

// Inflates a whole zlib stream into `out`. `*out_size` is the room, and afterwards what was written. CPNG_DAMAGED if the stream is damaged
// or needs more room.
cpng_status cpng_inflate(const uint8_t *bytes, size_t size, uint8_t *out, size_t *out_size);

// The lossless output formats of a picture.
typedef struct {
    bool is_opaque, is_gray;
    uint32_t colors;        // distinct pixels; 257 if there are more than 256
    uint32_t palette[256];  // in memory order R G B A: opaque ones last, otherwise in order of appearance
    uint8_t gray_depth;     // the bits for all grays, if the picture is gray and opaque
} cpng_survey;

// Examines rows of `channels` (1 to 4) bytes per pixel.
void cpng_look(const uint8_t *rows, size_t stride, size_t width, size_t height, int channels, cpng_survey *survey);

// The filters for rows.
typedef enum { CPNG_FILTER_NONE, CPNG_FILTER_SUB, CPNG_FILTER_ADAPTIVE } cpng_filtering;

// The output format of a picture.
typedef struct {
    int color_type, depth;
    cpng_filtering filtering;
    int level;  // of libdeflate, 0 to 12
} cpng_form;

// Converts, filters and compresses a picture in the format `form`, which `survey` must have found lossless. `*out`, to be freed
// with cpng_free, is a zlib stream of `*out_size` bytes. Returns CPNG_OUT_OF_MEMORY or CPNG_TIMED_OUT on failure. The compression
// after filtering is not interrupted.
cpng_status cpng_compress(
    const uint8_t *rows, size_t stride, size_t width, size_t height, int channels, const cpng_survey *survey, const cpng_form *form,
    cpng_watch watch, uint8_t **out, size_t *out_size);

// Compresses bytes into a zlib stream, like cpng_compress.
cpng_status cpng_deflate(const uint8_t *bytes, size_t size, int level, uint8_t **out, size_t *out_size);

void cpng_free(void *memory);
