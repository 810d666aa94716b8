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
    uint8_t *planes[3];
    int widths[3], heights[3], rows[3];
} outcome;

static void fail(const char *what, const outcome *library, const outcome *corner) {
    fprintf(stderr, "%s: library %d “%s”, corner %d “%s”\n", what, library->status, library->message, corner->status, corner->message);
    abort();
}

// What is delivered, up to the first error.
static outcome run(const uint8_t *bytes, size_t count, cjpeg_request request) {
    outcome result = {0};
    cjpeg_header header;
    cjpeg_rows rows;
    cjpeg_reader *reader = cjpeg_reader_new(bytes, count);
    if (!reader) abort();
    result.status = cjpeg_read_header(reader, &header);
    if (result.status == CJPEG_OK) result.status = cjpeg_start(reader, request, &result.layout);
    if (result.status == CJPEG_OK) {
        for (int i = 0; i < result.layout.planes; i++) {
            int x = i ? result.layout.subsampling_x : 1, y = i ? result.layout.subsampling_y : 1;
            result.widths[i] = (result.layout.width + x - 1) / x * result.layout.channels;
            result.heights[i] = (result.layout.height + y - 1) / y;
            result.planes[i] = calloc((size_t)result.widths[i], (size_t)result.heights[i]);
            if (!result.planes[i]) abort();
        }
        while ((result.status = cjpeg_read(reader, &rows)) == CJPEG_OK && rows.count[0] > 0) {
            for (int i = 0; i < result.layout.planes; i++)
                for (int row = 0; row < rows.count[i]; row++) {
                    int y = rows.first[i] + row;
                    if (y != result.rows[i]++ || y >= result.heights[i]) abort();
                    memcpy(result.planes[i] + (size_t)y * (size_t)result.widths[i], rows.rows[i][row], (size_t)result.widths[i]);
                }
        }
        for (int i = 0; i < result.layout.planes && result.status == CJPEG_OK; i++)
            if (result.rows[i] != result.heights[i]) abort();
    }
    memcpy(result.message, cjpeg_reader_message(reader), CJPEG_MESSAGE);
    cjpeg_reader_free(reader);
    return result;
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
        double share[4][4] = {{0}}, bound = 0;
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

int cfuzzing_jpeg_corner(const uint8_t *bytes, size_t count) {
    if (count < 2) return 0;
    int luma = 1 + bytes[count - 1] % 4, chroma = 1 + (bytes[count - 1] >> 2) % 4;
    count--;
    cjpeg_reader *reader = cjpeg_reader_new(bytes, count);
    if (!reader) abort();
    cjpeg_header header = {0};
    cjpeg_status status = cjpeg_read_header(reader, &header);
    cjpeg_reader_free(reader);
    if (status != CJPEG_OK || !header.fits_corner || (long)header.width * header.height > PIXELS) return 0;
    cjpeg_request request = {.eighths = 8, .planar = true, .scans = 100, .memory = 64 << 20};
    outcome library = run(bytes, count, request);
    request.corner = luma;
    request.chroma_corner = chroma;
    outcome corner = run(bytes, count, request);
    request.portable = true;
    outcome portable = run(bytes, count, request);
    if (corner.status != portable.status || memcmp(corner.rows, portable.rows, sizeof corner.rows))
        fail("instructions differ", &corner, &portable);
    for (int i = 0; i < corner.layout.planes; i++)
        if (memcmp(corner.planes[i], portable.planes[i], (size_t)corner.widths[i] * (size_t)corner.heights[i]))
            fail("samples differ by instructions", &corner, &portable);
    // The library has read it, if the corners do not fit together.
    if (corner.layout.eighths != 8) {
        if (corner.status != library.status && !is_undecided(&library, &corner)) fail("outcomes differ", &library, &corner);
        if (corner.status == CJPEG_OK && library.status == CJPEG_OK) {
            double largest = largest_distance(bytes, count, &corner, luma, chroma);
            if (largest > 0.75) {
                fprintf(stderr, "%f levels, corners %d and %d\n", largest, luma, chroma);
                fail("samples differ", &library, &corner);
            }
        }
    }
    discard(&library);
    discard(&corner);
    discard(&portable);
    return 0;
}
