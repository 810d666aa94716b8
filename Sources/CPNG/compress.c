#include "CPNG.h"
#include "colors.h"
#include "filter.h"

#include <libdeflate.h>
#include <stdlib.h>

static int form_channels(const cpng_form *form) {
    switch (form->color_type) {
    case CPNG_RGB: return 3;
    case CPNG_GRAY_ALPHA: return 2;
    case CPNG_RGBA: return 4;
    default: return 1;
    }
}

// Packs one value below 1 << depth per pixel into bytes, the leftmost in the most significant bits.
static void pack(const uint8_t *values, size_t width, int depth, uint8_t *out) {
    unsigned filled = 0, bits = 0;
    for (size_t x = 0; x < width; x++) {
        bits = bits << depth | values[x];
        if ((filled += depth) == 8) {
            *out++ = (uint8_t)bits;
            filled = bits = 0;
        }
    }
    if (filled > 0) *out = (uint8_t)(bits << (8 - filled));
}

static void convert(
    const uint8_t *row, size_t width, int channels, const cpng_form *form, const color_table *table, uint8_t *values, uint8_t *out) {
    int outgoing = form_channels(form);
    if (form->color_type == CPNG_PALETTE || form->depth < 8) {
        for (size_t x = 0; x < width; x++) {
            const uint8_t *pixel = row + x * channels;
            values[x] = form->color_type == CPNG_PALETTE
                ? (uint8_t)table->indices[color_table_find(table, as_rgba(pixel, channels))]
                : pixel[0] >> (8 - form->depth);
        }
        pack(values, width, form->depth, out);
    } else if (outgoing == channels) {
        memcpy(out, row, width * channels);
    } else {
        // Rows lose only information that the survey found redundant, or gray becomes three channels.
        for (size_t x = 0; x < width; x++) {
            uint32_t color = as_rgba(row + x * channels, channels);
            uint8_t rgba[4];
            memcpy(rgba, &color, 4);
            uint8_t *pixel = out + x * outgoing;
            pixel[0] = rgba[0];
            if (outgoing >= 3) pixel[1] = rgba[1], pixel[2] = rgba[2];
            if (outgoing % 2 == 0) pixel[outgoing - 1] = rgba[3];
        }
    }
}

// Memory for the rows in progress. Every row has 4 zero bytes before it.
typedef struct {
    uint8_t *memory, *row, *above, *trial, *values;
} row_buffers;

static bool make_rows(row_buffers *rows, size_t size, size_t width) {
    size_t room = size + 16;
    rows->memory = calloc(3 * room + width, 1);
    if (rows->memory == NULL) return false;
    rows->row = rows->memory + 4;
    rows->above = rows->row + room;
    rows->trial = rows->above + room;
    rows->values = rows->memory + 3 * room;
    return true;
}

cpng_status cpng_compress(
    const uint8_t *rows, size_t stride, size_t width, size_t height, int channels, const cpng_survey *survey, const cpng_form *form,
    cpng_watch watch, uint8_t **out, size_t *out_size) {
    size_t bits = (size_t)form_channels(form) * form->depth;
    size_t size = (width * bits + 7) / 8;
    int pixel = bits < 8 ? 1 : (int)(bits / 8);
    row_buffers work;
    if (!make_rows(&work, size, width)) return CPNG_OUT_OF_MEMORY;
    uint8_t *filtered = malloc((size + 1) * height);
    if (filtered == NULL) {
        free(work.memory);
        return CPNG_OUT_OF_MEMORY;
    }
    color_table table;
    color_table_clear(&table);
    if (form->color_type == CPNG_PALETTE)
        for (uint32_t i = 0; i < survey->colors; i++)
            color_table_set(&table, color_table_find(&table, survey->palette[i]), survey->palette[i], i);

    size_t done = 0;
    for (size_t y = 0; y < height; y++) {
        // The clock is read once for a number of bytes. A row counts for some, however short it is.
        if ((done += size + 64) >= 1 << 16) {
            done = 0;
            if (watch.may_go_on != NULL && !watch.may_go_on(watch.context)) {
                free(work.memory);
                free(filtered);
                return CPNG_TIMED_OUT;
            }
        }
        uint8_t *to = filtered + y * (size + 1);
        convert(rows + y * stride, width, channels, form, &table, work.values, work.row);
        switch (form->filtering) {
        case CPNG_FILTER_NONE:
            to[0] = 0;
            memcpy(to + 1, work.row, size);
            break;
        case CPNG_FILTER_SUB: filter_by_left(work.row, size, pixel, to); break;
        case CPNG_FILTER_ADAPTIVE: filter_adaptively(work.row, work.above, size, pixel, to, work.trial); break;
        }
        uint8_t *row = work.row;
        work.row = work.above;
        work.above = row;
    }
    free(work.memory);
    if (watch.may_go_on != NULL && !watch.may_go_on(watch.context)) {
        free(filtered);
        return CPNG_TIMED_OUT;
    }
    cpng_status compressed = cpng_deflate(filtered, (size + 1) * height, form->level, out, out_size);
    free(filtered);
    return compressed;
}

cpng_status cpng_deflate(const uint8_t *bytes, size_t size, int level, uint8_t **out, size_t *out_size) {
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(level);
    if (compressor == NULL) return CPNG_OUT_OF_MEMORY;
    size_t bound = libdeflate_zlib_compress_bound(compressor, size);
    *out = malloc(bound);
    *out_size = *out != NULL ? libdeflate_zlib_compress(compressor, bytes, size, *out, bound) : 0;
    libdeflate_free_compressor(compressor);
    if (*out_size > 0) return CPNG_OK;
    free(*out);
    *out = NULL;
    return CPNG_OUT_OF_MEMORY;
}

void cpng_free(void *memory) { free(memory); }
