#include "rows.h"
#include "chunk.h"
#include "inflate.h"

#include <stdlib.h>

// The fast path beside libpng. It is for intact files without interlacing, and libpng decides about all others.

struct fast_rows {
    inflate_stream stream;
    row_samples samples;
    size_t size;               // bytes of a row in the file without its filter
    int pixel;                 // bytes of a pixel for filters
    uint32_t left;             // rows that were not taken yet
    uint8_t *memory;           // of the three rows
    uint8_t *row, *above, *converted;
};

// What kernels may reach beyond a row.
enum { ROW_EXCESS = 16 };

static void read_samples(const cpng_reader *reader, row_samples *samples) {
    *samples = (row_samples){
        .width = png_get_image_width(reader->png, reader->info),
        .color_type = png_get_color_type(reader->png, reader->info),
        .depth = png_get_bit_depth(reader->png, reader->info),
        .channels = png_get_channels(reader->png, reader->info),
    };
    png_color_16p key = NULL;
    if (samples->color_type == CPNG_PALETTE || samples->channels % 2 == 0 || !reader->has_trns) return;
    if (png_get_tRNS(reader->png, reader->info, NULL, NULL, &key) == 0 || key == NULL) return;
    samples->has_key = true;
    if (samples->channels == 1)
        samples->key[0] = key->gray;
    else
        samples->key[0] = key->red, samples->key[1] = key->green, samples->key[2] = key->blue;
}

static cpng_status begin(const cpng_reader *reader, fast_rows *rows) {
    read_samples(reader, &rows->samples);
    size_t bits = (size_t)rows->samples.channels * rows->samples.depth;
    rows->size = (rows->samples.width * bits + 7) / 8;
    rows->pixel = bits < 8 ? 1 : (int)(bits / 8);
    rows->left = png_get_image_height(reader->png, reader->info);
    // libpng has already read the name of the first IDAT.
    if (reader->position < 8 || !is_named(reader->bytes + reader->position - 8, "IDAT")) return CPNG_DECLINED;
    size_t converted = samples_are_plain(&rows->samples) ? 0 : samples_size(&rows->samples);
    rows->memory = calloc(2 * (rows->size + ROW_EXCESS) + converted, 1);
    if (rows->memory == NULL) return CPNG_OUT_OF_MEMORY;
    rows->row = rows->memory;
    rows->above = rows->row + rows->size + ROW_EXCESS;
    rows->converted = rows->above + rows->size + ROW_EXCESS;
    return inflate_begin(&rows->stream, reader->bytes + reader->position - 8, reader->bytes + reader->size, rows->size + 1);
}

cpng_status cpng_reader_start_fast(cpng_reader *reader) {
    if (reader->interlaced) return CPNG_DECLINED;
    reader->rows = calloc(1, sizeof *reader->rows);
    if (reader->rows == NULL) return CPNG_OUT_OF_MEMORY;
    cpng_status status = begin(reader, reader->rows);
    if (status != CPNG_OK) fast_rows_free(reader);
    return status;
}

void fast_rows_free(cpng_reader *reader) {
    if (reader->rows == NULL) return;
    inflate_end(&reader->rows->stream);
    free(reader->rows->memory);
    free(reader->rows);
    reader->rows = NULL;
}

cpng_status cpng_reader_next_row(cpng_reader *reader, cpng_watch watch, const uint8_t **row) {
    fast_rows *rows = reader->rows;
    rows->stream.watch = watch;
    const uint8_t *filtered = inflate_take(&rows->stream, rows->size + 1);
    if (filtered == NULL || filtered[0] > 4) return rows->stream.is_late ? CPNG_TIMED_OUT : CPNG_DECLINED;
    cpng_unfilter(filtered[0], filtered + 1, rows->above, rows->row, rows->size, rows->pixel);
    uint8_t *made = rows->row;
    rows->row = rows->above;
    rows->above = made;
    rows->left--;
    // The checksum behind the last row is of all of them.
    if (rows->left == 0 && !inflate_ends(&rows->stream)) return rows->stream.is_late ? CPNG_TIMED_OUT : CPNG_DECLINED;
    *row = made;
    if (samples_are_plain(&rows->samples)) return CPNG_OK;
    samples_convert(&rows->samples, made, rows->converted);
    *row = rows->converted;
    return CPNG_OK;
}
