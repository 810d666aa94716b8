// The part of libjpeg's full interface that needs setjmp. It stays within C: no jump crosses a Swift frame.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    CJPEG_OK = 0,
    CJPEG_DAMAGED,
    CJPEG_TRUNCATED,
    CJPEG_UNSUPPORTED,
    CJPEG_TOO_MANY_SCANS,
    CJPEG_OUT_OF_MEMORY,
    CJPEG_TIMED_OUT,
} cjpeg_status;

/// Called at least once for every few rows of a pass. Returns whether there is time left.
typedef struct {
    /// NULL means no deadline. Must not jump.
    bool (*may_go_on)(void *context);
    void *context;
} cjpeg_watch;

/// The colour model of the file's samples.
typedef enum { CJPEG_GRAY, CJPEG_RGB, CJPEG_YCBCR, CJPEG_CMYK, CJPEG_YCCK } cjpeg_colors;

#define CJPEG_MESSAGE 256
#define CJPEG_COMPONENTS 4
/// The most rows that one component delivers in one step.
#define CJPEG_ROWS 64
/// The most segments before the first scan.
#define CJPEG_SEGMENTS (1 << 20)
/// The largest profile in bytes. A larger one is ignored.
#define CJPEG_PROFILE (4 << 20)
/// The most scans that are counted.
#define CJPEG_COUNTED_SCANS 1000

// Reading

typedef struct {
    int width, height;
    cjpeg_colors colors;
    bool progressive;
    /// The TIFF structure of the EXIF segment, in the reader's memory; NULL if there is none.
    const uint8_t *exif;
    size_t exif_length;
    /// The assembled ICC profile; NULL if there is none, or if it is larger than CJPEG_PROFILE.
    const uint8_t *icc;
    size_t icc_length;
    /// The number of scans in a file with several; otherwise 1.
    int scans;
    /// Whether the reader for shrinking takes such files, and their luma pixels per chroma pixel; 1 for gray.
    bool fits_corner;
    int subsampling_x, subsampling_y;
    /// The cost of reading the header: examined positions, skipped segments, and segments that the library walked past.
    long steps;
} cjpeg_header;

/// The picture after `cjpeg_start`, as the library reports it.
typedef struct {
    int width, height;
    /// Planes: 3 for Y, Cb and Cr in planes; otherwise 1.
    int planes;
    /// Samples per pixel of a packed picture.
    int channels;
    /// Luma pixels per chroma pixel.
    int subsampling_x, subsampling_y;
    /// The scale of each side in eighths.
    int eighths;
} cjpeg_layout;

/// The rows of one step: `rows[plane][i]` is row `first[plane] + i` of that plane. Valid until the next call.
typedef struct {
    uint8_t *rows[3][CJPEG_ROWS];
    int first[3];
    int count[3];
    /// Of the reader for shrinking: for each row of plane 0, the variances of what the corner leaves out around its samples; NULL if
    /// nothing is left out.
    const uint16_t *variances[CJPEG_ROWS];
} cjpeg_rows;

typedef struct cjpeg_reader cjpeg_reader;

/// NULL if there is no memory. `bytes` must outlive the reader.
cjpeg_reader *cjpeg_reader_new(const uint8_t *bytes, size_t length);
void cjpeg_reader_free(cjpeg_reader *reader);
/// The library's message for the last error.
const char *cjpeg_reader_message(const cjpeg_reader *reader);

cjpeg_status cjpeg_read_header(cjpeg_reader *reader, cjpeg_header *header);

typedef struct {
    /// 1, 2, 4 or 8 eighths of each side.
    int eighths;
    /// Only for tests: no vector instructions in the reader for shrinking.
    bool portable;
    /// Whether Y, Cb and Cr planes are accepted.
    bool planar;
    /// Whether a truncated file is decoded as far as it goes.
    bool truncated;
    int scans;
    /// The most bytes that the library may allocate.
    long memory;
    cjpeg_watch watch;
} cjpeg_request;

/// A picture by the reader for shrinking: the sides of the corners of coefficients that it shows, of luma and of chroma, which are
/// eighths of the file's sides: 1 to 8.
typedef struct {
    int luma, chroma;
} cjpeg_corners;

/// The most pictures of one file: all pairs of corners.
#define CJPEG_PICTURES (8 * 8)

/// After `cjpeg_read_header`: prepares to read `count` pictures in one pass, with the samples that each has alone, and writes their
/// layouts. `started` is false if the reader for shrinking does not take the file: then the library has to, by `cjpeg_start`.
cjpeg_status cjpeg_start_corners(
    cjpeg_reader *reader, cjpeg_request request, const cjpeg_corners *corners, int count, cjpeg_layout *layouts, bool *started);
/// After `cjpeg_read_header`: prepares the library to read one picture.
cjpeg_status cjpeg_start(cjpeg_reader *reader, cjpeg_request request, cjpeg_layout *layout);
/// Delivers the next rows of each picture. Counts of 0 in plane 0 mean that all rows were delivered and intact.
cjpeg_status cjpeg_read(cjpeg_reader *reader, cjpeg_rows *rows);

// Writing

typedef struct {
    int width, height;
    /// CJPEG_GRAY, CJPEG_RGB or CJPEG_CMYK packed, or CJPEG_YCCK, which takes inks like CJPEG_CMYK; CJPEG_YCBCR in planes.
    cjpeg_colors colors;
    /// Of RGB: 1 and 1, or 2 and 2.
    int subsampling_x, subsampling_y;
    const uint8_t *planes[3];
    size_t strides[3];
    int quality;
    bool progressive, optimized;
    /// Only for tests: no vector instructions that some processors lack, arithmetic coding, RGB without conversion, a scan for each
    /// component, restart markers at this interval in blocks (0: none).
    bool portable, arithmetic, untransformed, separate;
    int restart_interval;
    const uint8_t *icc;
    size_t icc_length;
    const uint8_t *exif;
    size_t exif_length;
    cjpeg_watch watch;
} cjpeg_picture;

/// Writes a JPEG file into memory that the caller frees with `cjpeg_free`. `message` has room for CJPEG_MESSAGE characters.
cjpeg_status cjpeg_write(const cjpeg_picture *picture, uint8_t **bytes, size_t *length, char *message);
void cjpeg_free(uint8_t *bytes);
