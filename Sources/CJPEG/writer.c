#include "errors.h"
#include <stdlib.h>
#include <string.h>

// The rows in one call of the library: one row of the largest blocks, 4 × 8.
#define GROUP 32
#define FIRST_BYTES 65536

typedef struct {
    struct jpeg_destination_mgr base;
    uint8_t *bytes;
    size_t capacity, length;
} destination;

static void point(destination *to) {
    to->base.next_output_byte = to->bytes + to->length;
    to->base.free_in_buffer = to->capacity - to->length;
}

static void begin(j_compress_ptr codec) {
    destination *to = (destination *)codec->dest;
    to->capacity = FIRST_BYTES;
    to->bytes = malloc(to->capacity);
    if (!to->bytes) cjpeg_fail((j_common_ptr)codec, CJPEG_OUT_OF_MEMORY, "no memory");
    point(to);
}

static boolean grow(j_compress_ptr codec) {
    destination *to = (destination *)codec->dest;
    to->length = to->capacity;
    uint8_t *bytes = realloc(to->bytes, to->capacity * 2);
    if (!bytes) cjpeg_fail((j_common_ptr)codec, CJPEG_OUT_OF_MEMORY, "no memory");
    to->bytes = bytes;
    to->capacity *= 2;
    point(to);
    return TRUE;
}

static void finish(j_compress_ptr codec) {
    destination *to = (destination *)codec->dest;
    to->length = to->capacity - to->base.free_in_buffer;
}

typedef struct {
    struct jpeg_progress_mgr base;
    cjpeg_watch watch;
} progress;

// The library calls this for each group of rows, and during the following passes over coefficients.
static void watch_rows(j_common_ptr codec) {
    progress *of = (progress *)codec->progress;
    if (of->watch.may_go_on && !of->watch.may_go_on(of->watch.context)) cjpeg_fail(codec, CJPEG_TIMED_OUT, "no time left");
}

static void configure(j_compress_ptr codec, const cjpeg_picture *picture) {
    codec->image_width = (JDIMENSION)picture->width;
    codec->image_height = (JDIMENSION)picture->height;
    switch (picture->colors) {
    case CJPEG_GRAY: codec->input_components = 1, codec->in_color_space = JCS_GRAYSCALE; break;
    case CJPEG_RGB: codec->input_components = 3, codec->in_color_space = JCS_RGB; break;
    case CJPEG_YCBCR: codec->input_components = 3, codec->in_color_space = JCS_YCbCr; break;
    default: codec->input_components = 4, codec->in_color_space = JCS_CMYK; break;
    }
    jpeg_set_defaults(codec);
    if (picture->colors == CJPEG_YCCK) jpeg_set_colorspace(codec, JCS_YCCK);
    if (picture->untransformed) jpeg_set_colorspace(codec, codec->in_color_space);
    codec->arith_code = picture->arithmetic;
    codec->restart_interval = (unsigned)picture->restart_interval;
    jpeg_set_quality(codec, picture->quality, TRUE);
    codec->optimize_coding = picture->optimized;
    if ((picture->colors == CJPEG_YCBCR || picture->colors == CJPEG_RGB) && !picture->untransformed) {
        codec->comp_info[0].h_samp_factor = picture->subsampling_x;
        codec->comp_info[0].v_samp_factor = picture->subsampling_y;
    }
    if (picture->progressive) jpeg_simple_progression(codec);
    if (picture->separate) {
        static const jpeg_scan_info scans[CJPEG_COMPONENTS] = {
            {.comps_in_scan = 1, .component_index = {0}, .Se = 63}, {.comps_in_scan = 1, .component_index = {1}, .Se = 63},
            {.comps_in_scan = 1, .component_index = {2}, .Se = 63}, {.comps_in_scan = 1, .component_index = {3}, .Se = 63},
        };
        codec->scan_info = scans;
        codec->num_scans = codec->num_components;
    }
    codec->raw_data_in = picture->colors == CJPEG_YCBCR;
}

static void write_markers(j_compress_ptr codec, const cjpeg_picture *picture) {
    if (picture->exif && picture->exif_length + 6 <= 65533) {
        jpeg_write_m_header(codec, JPEG_APP0 + 1, (unsigned)picture->exif_length + 6);
        for (int i = 0; i < 6; i++) jpeg_write_m_byte(codec, "Exif\0"[i < 5 ? i : 4]);
        for (size_t i = 0; i < picture->exif_length; i++) jpeg_write_m_byte(codec, picture->exif[i]);
    }
    if (picture->icc && picture->icc_length) jpeg_write_icc_profile(codec, picture->icc, (unsigned)picture->icc_length);
}

// The library reads whole blocks: each row is copied with its last sample repeated, and the last row is repeated beyond the
// picture.
static void write_planes(j_compress_ptr codec, const cjpeg_picture *picture) {
    JSAMPARRAY rows[3];
    int lines = codec->max_v_samp_factor * DCTSIZE;
    for (int i = 0; i < 3; i++) {
        jpeg_component_info *part = &codec->comp_info[i];
        rows[i] = (*codec->mem->alloc_sarray)(
            (j_common_ptr)codec, JPOOL_IMAGE, part->width_in_blocks * DCTSIZE, (JDIMENSION)(part->v_samp_factor * DCTSIZE));
    }
    for (int group = 0; codec->next_scanline < codec->image_height; group++) {
        for (int i = 0; i < 3; i++) {
            jpeg_component_info *part = &codec->comp_info[i];
            int x = i ? picture->subsampling_x : 1, y = i ? picture->subsampling_y : 1;
            int width = (picture->width + x - 1) / x, height = (picture->height + y - 1) / y;
            int padded = (int)part->width_in_blocks * DCTSIZE, count = part->v_samp_factor * DCTSIZE;
            for (int row = 0; row < count; row++) {
                int from = group * count + row;
                if (from >= height) from = height - 1;
                memcpy(rows[i][row], picture->planes[i] + (size_t)from * picture->strides[i], (size_t)width);
                memset(rows[i][row] + width, rows[i][row][width - 1], (size_t)(padded - width));
            }
        }
        jpeg_write_raw_data(codec, rows, (JDIMENSION)lines);
    }
}

static void write_packed(j_compress_ptr codec, const cjpeg_picture *picture) {
    JSAMPROW rows[GROUP];
    JSAMPARRAY inverted = NULL;
    JDIMENSION bytes = codec->image_width * (JDIMENSION)codec->input_components;
    // Inks are stored inverted, as all readers expect in a file with an Adobe marker, which the library writes for CMYK.
    if (codec->in_color_space == JCS_CMYK) inverted = (*codec->mem->alloc_sarray)((j_common_ptr)codec, JPOOL_IMAGE, bytes, GROUP);
    while (codec->next_scanline < codec->image_height) {
        JDIMENSION count = codec->image_height - codec->next_scanline;
        if (count > GROUP) count = GROUP;
        for (JDIMENSION row = 0; row < count; row++) {
            const uint8_t *from = picture->planes[0] + (size_t)(codec->next_scanline + row) * picture->strides[0];
            if (inverted)
                for (JDIMENSION i = 0; i < bytes; i++) inverted[row][i] = (JSAMPLE)(255 - from[i]);
            rows[row] = inverted ? inverted[row] : (JSAMPROW)from;
        }
        jpeg_write_scanlines(codec, rows, count);
    }
}

cjpeg_status cjpeg_write(const cjpeg_picture *picture, uint8_t **bytes, size_t *length, char *message) {
    struct jpeg_compress_struct codec = {0};
    cjpeg_errors errors;
    destination to = {.base = {.init_destination = begin, .empty_output_buffer = grow, .term_destination = finish}};
    progress progress = {.base = {.progress_monitor = watch_rows}, .watch = picture->watch};
    codec.err = cjpeg_errors_install(&errors);
    if (setjmp(errors.escape)) {
        memcpy(message, errors.message, CJPEG_MESSAGE);
        jpeg_destroy_compress(&codec);
        free(to.bytes);
        return errors.status;
    }
    jpeg_create_compress(&codec);
    codec.dest = &to.base;
    codec.progress = &progress.base;
    configure(&codec, picture);
    jpeg_start_compress(&codec, TRUE);
    write_markers(&codec, picture);
    if (codec.raw_data_in) write_planes(&codec, picture);
    else write_packed(&codec, picture);
    jpeg_finish_compress(&codec);
    jpeg_destroy_compress(&codec);
    *bytes = to.bytes;
    *length = to.length;
    return CJPEG_OK;
}

void cjpeg_free(uint8_t *bytes) { free(bytes); }
