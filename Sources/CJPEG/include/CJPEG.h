// The part of libjpeg's full interface that needs setjmp, kept inside C: no jump ever crosses a Swift frame.
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

/// Asked now and then, every few rows of a pass at the latest, whether there is time left.
typedef struct {
    /// NULL lets everything go on. Must not jump.
    bool (*may_go_on)(void *context);
    void *context;
} cjpeg_watch;

/// What the numbers of a pixel mean in the file.
typedef enum { CJPEG_GRAY, CJPEG_RGB, CJPEG_YCBCR, CJPEG_CMYK, CJPEG_YCCK } cjpeg_colors;

#define CJPEG_MESSAGE 256
#define CJPEG_COMPONENTS 4
/// The largest number of rows that one component delivers in one step.
#define CJPEG_ROWS 64
/// Segments before the first scan: more are refused.
#define CJPEG_SEGMENTS (1 << 20)
/// Bytes of a profile: a larger one counts as none.
#define CJPEG_PROFILE (4 << 20)
/// Scans are counted up to this number.
#define CJPEG_COUNTED_SCANS 1000

// Reading

typedef struct {
    int width, height;
    cjpeg_colors colors;
    bool progressive;
    /// An Adobe marker was seen: inks are stored inverted.
    bool adobe;
    /// The TIFF structure of the EXIF segment, in the reader's memory; NULL without one.
    const uint8_t *exif;
    size_t exif_length;
    /// The ICC profile, put together; NULL without one, or where it is larger than CJPEG_PROFILE.
    const uint8_t *icc;
    size_t icc_length;
    /// Scans of a file that has several; else 1.
    int scans;
    /// What reading the header took: places looked at, segments that the library passed over, and those that it walked past.
    long steps;
} cjpeg_header;

/// The picture as it comes after `cjpeg_start`, by what the library says.
typedef struct {
    int width, height;
    /// Planes: 3 for Y, Cb and Cr in planes; else 1.
    int planes;
    /// Samples per pixel of a packed picture.
    int channels;
    /// Luma pixels per chroma pixel.
    int subsampling_x, subsampling_y;
} cjpeg_layout;

/// Rows of one step: `rows[plane][i]` is row `first[plane] + i` of that plane. Valid until the next call.
typedef struct {
    uint8_t *rows[3][CJPEG_ROWS];
    int first[3];
    int count[3];
} cjpeg_rows;

typedef struct cjpeg_reader cjpeg_reader;

/// NULL without memory. `bytes` must outlive the reader.
cjpeg_reader *cjpeg_reader_new(const uint8_t *bytes, size_t length);
void cjpeg_reader_free(cjpeg_reader *reader);
/// What went wrong last, in the library's words.
const char *cjpeg_reader_message(const cjpeg_reader *reader);

cjpeg_status cjpeg_read_header(cjpeg_reader *reader, cjpeg_header *header);

typedef struct {
    /// 1, 2, 4 or 8 eighths of each side.
    int eighths;
    /// Y, Cb and Cr may come in planes.
    bool planar;
    /// Take what there is of a file that ends early.
    bool truncated;
    int scans;
    /// Bytes that the library may allocate.
    long memory;
    cjpeg_watch watch;
} cjpeg_request;

/// After `cjpeg_read_header`.
cjpeg_status cjpeg_start(cjpeg_reader *reader, cjpeg_request request, cjpeg_layout *layout);
/// Delivers the next rows; a count of 0 in plane 0 means that all have come and were whole.
cjpeg_status cjpeg_read(cjpeg_reader *reader, cjpeg_rows *rows);

// Writing

typedef struct {
    int width, height;
    /// CJPEG_GRAY, CJPEG_RGB or CJPEG_CMYK packed, or CJPEG_YCCK, which takes inks as CJPEG_CMYK does; CJPEG_YCBCR in planes.
    cjpeg_colors colors;
    int subsampling_x, subsampling_y;
    const uint8_t *planes[3];
    size_t strides[3];
    int quality;
    bool progressive, optimized;
    /// What the product does not write and others do; for tests: arithmetic coding, RGB stored as it is, a scan for each component,
    /// restart markers every so many blocks (0: none).
    bool arithmetic, untransformed, separate;
    int restart_interval;
    const uint8_t *icc;
    size_t icc_length;
    const uint8_t *exif;
    size_t exif_length;
    cjpeg_watch watch;
} cjpeg_picture;

/// Writes a JPEG file into memory that the caller frees with `cjpeg_free`. `message` holds CJPEG_MESSAGE characters.
cjpeg_status cjpeg_write(const cjpeg_picture *picture, uint8_t **bytes, size_t *length, char *message);
void cjpeg_free(uint8_t *bytes);
