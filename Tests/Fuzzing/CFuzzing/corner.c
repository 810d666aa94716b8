// Compares the reader for shrinking with libjpeg-turbo, whose coefficients are transformed here in floating point.
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "CFuzzing.h"
#include "CJPEG.h"
#include <jpeglib.h>

#define PIXELS 100000

typedef struct {
    cjpeg_status status;
    char message[CJPEG_MESSAGE];
    cjpeg_layout layout;
    /// Whether the reader for shrinking has read it, and not the library.
    bool is_corner;
    uint8_t *planes[3];
    int widths[3], heights[3], rows[3];
    /// Of all variances, in their order.
    uint64_t digest;
} outcome;

static void fail(const char *what, const outcome *library, const outcome *corner) {
    fprintf(stderr, "%s: library %d “%s”, corner %d “%s”\n", what, library->status, library->message, corner->status, corner->message);
    abort();
}

static void allocate(outcome *result) {
    for (int i = 0; i < result->layout.planes; i++) {
        int x = i ? result->layout.subsampling_x : 1, y = i ? result->layout.subsampling_y : 1;
        result->widths[i] = (result->layout.width + x - 1) / x * result->layout.channels;
        result->heights[i] = (result->layout.height + y - 1) / y;
        result->planes[i] = calloc((size_t)result->widths[i], (size_t)result->heights[i]);
        if (!result->planes[i]) abort();
    }
}

static void add(outcome *result, const cjpeg_rows *rows) {
    for (int i = 0; i < result->layout.planes; i++)
        for (int row = 0; row < rows->count[i]; row++) {
            int y = rows->first[i] + row;
            if (y != result->rows[i]++ || y >= result->heights[i]) abort();
            memcpy(result->planes[i] + (size_t)y * (size_t)result->widths[i], rows->rows[i][row], (size_t)result->widths[i]);
        }
    for (int row = 0; row < rows->count[0] && rows->variances[row]; row++)
        for (int x = 0; x < result->layout.width; x++) {
            uint16_t variance = rows->variances[row][x];
            if (variance > 16383) abort();
            result->digest = (result->digest + variance + 1) * 0x9E3779B97F4A7C15;
        }
}

// What is delivered for each pair of corners in one pass, up to the first error; the library's only picture if they do not fit.
static void run(
    const uint8_t *bytes, size_t count, cjpeg_request request, const cjpeg_corners *corners, int pictures, outcome *results) {
    static cjpeg_rows rows[CJPEG_PICTURES];
    cjpeg_layout layouts[CJPEG_PICTURES] = {0};
    cjpeg_header header;
    bool started = false;
    cjpeg_reader *reader = cjpeg_reader_new(bytes, count);
    if (!reader) abort();
    memset(results, 0, sizeof *results * (size_t)(pictures > 0 ? pictures : 1));
    cjpeg_status status = cjpeg_read_header(reader, &header);
    if (status == CJPEG_OK && pictures > 0) status = cjpeg_start_corners(reader, request, corners, pictures, layouts, &started);
    if (!started) pictures = 1;
    if (status == CJPEG_OK && !started) status = cjpeg_start(reader, request, layouts);
    if (status == CJPEG_OK) {
        for (int i = 0; i < pictures; i++) {
            results[i].layout = layouts[i];
            results[i].is_corner = started;
            allocate(&results[i]);
        }
        while ((status = cjpeg_read(reader, rows)) == CJPEG_OK && rows[0].count[0] > 0)
            for (int i = 0; i < pictures; i++) add(&results[i], &rows[i]);
    }
    for (int i = 0; i < pictures; i++) {
        outcome *result = &results[i];
        result->status = status;
        memcpy(result->message, cjpeg_reader_message(reader), CJPEG_MESSAGE);
        for (int plane = 0; plane < result->layout.planes && status == CJPEG_OK; plane++)
            if (result->rows[plane] != result->heights[plane]) abort();
    }
    cjpeg_reader_free(reader);
}

static void discard(outcome *result) {
    for (int i = 0; i < 3; i++) free(result->planes[i]);
}

typedef struct {
    struct jpeg_error_mgr base;
    jmp_buf escape;
} errors;

static void escape(j_common_ptr codec) { longjmp(((errors *)codec->err)->escape, 1); }
static void ignore(j_common_ptr codec, int level) { (void)codec, (void)level; }

// The largest distance of a sample from the transformed corner. Blocks beyond the range of the arithmetic are passed over: they
// cannot come from samples.
static double distance(const outcome *corner, int plane, int side, jpeg_component_info *part, JBLOCKROW row, int block_row) {
    double largest = 0;
    for (JDIMENSION block = 0; block < part->width_in_blocks; block++) {
        double share[8][8] = {{0}}, bound = 0;
        for (int v = 0; v < side; v++)
            for (int u = 0; u < side; u++) {
                double value = (double)row[block][8 * v + u] * part->quant_table->quantval[8 * v + u];
                if (fabs(value) > 2047) bound = 1e9;
                bound += fabs(value) / 4;
                for (int y = 0; y < side; y++)
                    for (int x = 0; x < side; x++)
                        share[y][x] += value / 4 * (u ? cos((2 * x + 1) * u * M_PI / (2 * side)) : M_SQRT1_2)
                                       * (v ? cos((2 * y + 1) * v * M_PI / (2 * side)) : M_SQRT1_2);
            }
        if (bound > 511) continue;
        for (int y = 0; y < side; y++)
            for (int x = 0; x < side; x++) {
                int at_x = (int)block * side + x, at_y = block_row * side + y;
                if (at_x >= corner->widths[plane] || at_y >= corner->heights[plane]) continue;
                double exact = fmin(fmax(share[y][x] + 128, 0), 255);
                double found = corner->planes[plane][(size_t)at_y * (size_t)corner->widths[plane] + (size_t)at_x];
                largest = fmax(largest, fabs(found - exact));
            }
    }
    return largest;
}

static double largest_distance(const uint8_t *bytes, size_t count, const outcome *corner, int luma, int chroma) {
    struct jpeg_decompress_struct codec;
    errors errors;
    // Written after setjmp, and read after the jump.
    volatile double largest = 0;
    codec.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = escape;
    errors.base.emit_message = ignore;
    if (setjmp(errors.escape)) {
        // Bytes after the scan, which only this function of the library reads.
        largest = 0;
    } else {
        jpeg_create_decompress(&codec);
        jpeg_mem_src(&codec, bytes, count);
        jpeg_read_header(&codec, TRUE);
        jvirt_barray_ptr *arrays = jpeg_read_coefficients(&codec);
        // In a sequential file, another scan after the last one would replace coefficients.
        bool is_whole = codec.progressive_mode || codec.input_scan_number == 1;
        for (int i = 0; i < codec.num_components && is_whole; i++) {
            jpeg_component_info *part = &codec.comp_info[i];
            for (JDIMENSION y = 0; y < part->height_in_blocks; y++) {
                JBLOCKARRAY rows = (*codec.mem->access_virt_barray)((j_common_ptr)&codec, arrays[i], y, 1, FALSE);
                largest = fmax(largest, distance(corner, i, i ? chroma : luma, part, rows[0], (int)y));
            }
        }
    }
    jpeg_destroy_decompress(&codec);
    return largest;
}

// libjpeg-turbo reads ahead up to eight bytes, and with 512 bytes for each block left it takes codes without a symbol for zero.
// Within these limits its judgement depends on its buffers.
static bool is_undecided(const outcome *library, const outcome *corner) {
    bool is_code = strstr(library->message, "Huffman") || strstr(corner->message, "Huffman");
    bool is_marker = strstr(library->message, "extraneous") || strstr(corner->message, "extraneous");
    return is_code || is_marker;
}

static void compare(const char *what, const outcome *a, const outcome *b) {
    bool is_same = a->status == b->status && !memcmp(a->rows, b->rows, sizeof a->rows)
                   && !memcmp(&a->layout, &b->layout, sizeof a->layout) && !strcmp(a->message, b->message) && a->digest == b->digest;
    for (int i = 0; i < a->layout.planes && is_same; i++)
        is_same = !memcmp(a->planes[i], b->planes[i], (size_t)a->widths[i] * (size_t)a->heights[i]);
    if (!is_same) fail(what, a, b);
}

// Compares every picture of a pass for several with the one that it is alone.
static void compare_several(
    const uint8_t *bytes, size_t count, cjpeg_request request, const cjpeg_header *header, const outcome *first,
    cjpeg_corners corners) {
    cjpeg_corners all[CJPEG_PICTURES] = {corners};
    outcome together[CJPEG_PICTURES], alone;
    int pictures = 1;
    for (int luma = 1; luma <= 8; luma++)
        for (int chroma = 1; chroma <= 8; chroma++) {
            bool fits = header->subsampling_x * luma % chroma == 0 && header->subsampling_y * luma % chroma == 0;
            // Some of them, other ones for other files.
            if (fits && (luma + chroma + (int)count) % 3 && pictures < CJPEG_PICTURES)
                all[pictures++] = (cjpeg_corners){.luma = luma, .chroma = chroma};
        }
    run(bytes, count, request, all, pictures, together);
    compare("the first differs beside others", first, &together[0]);
    for (int i = 1; i < pictures; i++) {
        run(bytes, count, request, &all[i], 1, &alone);
        compare("one differs beside others", &alone, &together[i]);
        discard(&alone);
    }
    for (int i = 0; i < pictures; i++) discard(&together[i]);
}

int cfuzzing_jpeg_corner(const uint8_t *bytes, size_t count) {
    if (count < 2) return 0;
    cjpeg_corners corners = {.luma = 1 + bytes[count - 1] % 8, .chroma = 1 + (bytes[count - 1] >> 3) % 8};
    count--;
    cjpeg_reader *reader = cjpeg_reader_new(bytes, count);
    if (!reader) abort();
    cjpeg_header header = {0};
    cjpeg_status status = cjpeg_read_header(reader, &header);
    cjpeg_reader_free(reader);
    if (status != CJPEG_OK || !header.fits_corner || (long)header.width * header.height > PIXELS) return 0;
    cjpeg_request request = {.eighths = 8, .planar = true, .scans = 100, .memory = 64 << 20};
    outcome library, corner, portable;
    run(bytes, count, request, NULL, 0, &library);
    run(bytes, count, request, &corners, 1, &corner);
    request.portable = true;
    run(bytes, count, request, &corners, 1, &portable);
    compare("instructions differ", &corner, &portable);
    // The library has read it, if the corners do not fit together.
    if (corner.is_corner) {
        for (int portable = 0; portable < 2 && corner.layout.planes > 0; portable++) {
            request.portable = portable;
            compare_several(bytes, count, request, &header, &corner, corners);
        }
        if (corner.status != library.status && !is_undecided(&library, &corner)) fail("outcomes differ", &library, &corner);
        if (corner.status == CJPEG_OK && library.status == CJPEG_OK) {
            double largest = largest_distance(bytes, count, &corner, corners.luma, corners.chroma);
            // Each coefficient is rounded for each sample.
            if (largest > 0.5 + fmax(corners.luma, corners.chroma) / 16) {
                fprintf(stderr, "%f levels, corners %d and %d\n", largest, corners.luma, corners.chroma);
                fail("samples differ", &library, &corner);
            }
        }
    }
    discard(&library);
    discard(&corner);
    discard(&portable);
    return 0;
}
