#include "errors.h"
#include "blocks.h"
#include <stdlib.h>
#include <string.h>

// The rows in one call of the library, for colours that it writes alone.
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
}

static void write_markers(j_compress_ptr codec, const cjpeg_picture *picture) {
    if (picture->exif && picture->exif_length + 6 <= 65533) {
        jpeg_write_m_header(codec, JPEG_APP0 + 1, (unsigned)picture->exif_length + 6);
        for (int i = 0; i < 6; i++) jpeg_write_m_byte(codec, "Exif\0"[i < 5 ? i : 4]);
        for (size_t i = 0; i < picture->exif_length; i++) jpeg_write_m_byte(codec, picture->exif[i]);
    }
    if (picture->icc && picture->icc_length) jpeg_write_icc_profile(codec, picture->icc, (unsigned)picture->icc_length);
}

typedef struct {
    // The component's samples and those of one row of blocks, the blocks, and how many pixels it has per sample.
    int width, height, x, y;
    JSAMPARRAY rows;
    JDIMENSION across, down;
    jvirt_barray_ptr blocks;
} component;

// Blocks need whole rows: each is filled with its last sample, and the last row is repeated below the picture.
static void fill(const component *part, JSAMPROW row, const uint8_t *from) {
    memmove(row, from, (size_t)part->width);
    memset(row + part->width, row[part->width - 1], part->across * DCTSIZE - (size_t)part->width);
}

static void fill_from_planes(const cjpeg_picture *picture, const component *parts, int count, int group, int lines) {
    for (int i = 0; i < count; i++) {
        const component *part = &parts[i];
        int rows = lines / part->y;
        for (int row = 0; row < rows; row++) {
            int from = group * rows + row;
            if (from >= part->height) from = part->height - 1;
            fill(part, part->rows[row], picture->planes[i] + (size_t)from * picture->strides[i]);
        }
    }
}

static const uint8_t *line(const cjpeg_picture *picture, int y) {
    if (y >= picture->height) y = picture->height - 1;
    return picture->planes[0] + (size_t)y * picture->strides[0];
}

// JFIF's colours, rounded. Chroma is that of one pixel, or of the mean of four.
static void fill_from_pixels(const cjpeg_picture *picture, const component *parts, int group, int lines) {
    int x = parts[1].x, y = parts[1].y;
    for (int row = 0; row < lines; row++) {
        const uint8_t *p = line(picture, group * lines + row);
        JSAMPROW luma = parts[0].rows[row];
        for (int i = 0; i < picture->width; i++, p += 3)
            luma[i] = (JSAMPLE)((19595 * p[0] + 38470 * p[1] + 7471 * p[2] + (1 << 15)) >> 16);
        fill(&parts[0], luma, luma);
    }
    for (int row = 0; row < lines / y; row++) {
        const uint8_t *upper = line(picture, group * lines + row * y), *lower = line(picture, group * lines + row * y + y - 1);
        JSAMPROW blue = parts[1].rows[row], red = parts[2].rows[row];
        for (int i = 0; i < parts[1].width; i++) {
            int left = i * x, right = left + x - 1, sums[3];
            if (right >= picture->width) right = left;
            for (int k = 0; k < 3; k++)
                sums[k] = upper[3 * left + k] + upper[3 * right + k] + lower[3 * left + k] + lower[3 * right + k];
            int middle = (128 << 18) + (1 << 17) - 1;
            blue[i] = (JSAMPLE)((-11059 * sums[0] - 21709 * sums[1] + 32768 * sums[2] + middle) >> 18);
            red[i] = (JSAMPLE)((32768 * sums[0] - 27439 * sums[1] - 5329 * sums[2] + middle) >> 18);
        }
        fill(&parts[1], blue, blue);
        fill(&parts[2], red, red);
    }
}

// The library's part begins with the coefficients: its own quantiser knows no `least`.
static void write_blocks(j_compress_ptr codec, const cjpeg_picture *picture) {
    cjpeg_quantiser quantisers[2];
    cjpeg_quantisers_make(picture->quality, &quantisers[0], &quantisers[1]);
    int count = codec->num_components, x = count > 1 ? picture->subsampling_x : 1, y = count > 1 ? picture->subsampling_y : 1;
    int lines = y * DCTSIZE, groups = (picture->height + lines - 1) / lines;
    component parts[3];
    jvirt_barray_ptr blocks[3];
    j_common_ptr common = (j_common_ptr)codec;
    for (int i = 0; i < count; i++) {
        component *part = &parts[i];
        part->x = i ? x : 1, part->y = i ? y : 1;
        part->width = (picture->width + part->x - 1) / part->x, part->height = (picture->height + part->y - 1) / part->y;
        part->across = (JDIMENSION)(part->width + DCTSIZE - 1) / DCTSIZE;
        part->down = (JDIMENSION)(groups * (y / part->y));
        part->rows = (*codec->mem->alloc_sarray)(common, JPOOL_IMAGE, part->across * DCTSIZE, (JDIMENSION)(lines / part->y));
        part->blocks = blocks[i] = (*codec->mem->request_virt_barray)(
            common, JPOOL_IMAGE, FALSE, part->across, part->down, (JDIMENSION)(y / part->y));
    }
    for (int i = 0; i < (count > 1 ? 2 : 1); i++) jpeg_add_quant_table(codec, i, quantisers[i].steps, 100, TRUE);
    cjpeg_codes_install(codec);
    (*codec->mem->realize_virt_arrays)(common);
    for (int group = 0; group < groups; group++) {
        watch_rows(common);
        if (picture->colors == CJPEG_RGB) fill_from_pixels(picture, parts, group, lines);
        else fill_from_planes(picture, parts, count, group, lines);
        for (int i = 0; i < count; i++) {
            int rows = y / parts[i].y;
            JBLOCKARRAY into = (*codec->mem->access_virt_barray)(
                common, parts[i].blocks, (JDIMENSION)(group * rows), (JDIMENSION)rows, TRUE);
            for (int row = 0; row < rows; row++)
                cjpeg_quantise(
                    &quantisers[i > 0], parts[i].rows + row * DCTSIZE, (int)parts[i].across, into[row], picture->portable);
        }
    }
    jpeg_write_coefficients(codec, blocks);
    write_markers(codec, picture);
}

// Inks, and RGB as it is.
static void write_packed(j_compress_ptr codec, const cjpeg_picture *picture) {
    JSAMPROW rows[GROUP];
    JSAMPARRAY inverted = NULL;
    JDIMENSION bytes = codec->image_width * (JDIMENSION)codec->input_components;
    // Inks are stored inverted, as all readers expect in a file with an Adobe marker, which the library writes for CMYK.
    if (codec->in_color_space == JCS_CMYK) inverted = (*codec->mem->alloc_sarray)((j_common_ptr)codec, JPOOL_IMAGE, bytes, GROUP);
    jpeg_start_compress(codec, TRUE);
    write_markers(codec, picture);
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
    if (codec.jpeg_color_space == JCS_YCbCr || codec.jpeg_color_space == JCS_GRAYSCALE) write_blocks(&codec, picture);
    else write_packed(&codec, picture);
    jpeg_finish_compress(&codec);
    jpeg_destroy_compress(&codec);
    *bytes = to.bytes;
    *length = to.length;
    return CJPEG_OK;
}

void cjpeg_free(uint8_t *bytes) { free(bytes); }
