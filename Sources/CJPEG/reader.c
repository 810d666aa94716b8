#include "reader.h"
#include <stdlib.h>
#include <string.h>

// The library calls this for each row of blocks while it reads a multi-scan file. Each scan costs a pass over the whole picture.
static void watch_scans(j_common_ptr codec) {
    cjpeg_reader *reader = (cjpeg_reader *)((char *)codec - offsetof(cjpeg_reader, codec));
    int scan = reader->codec.input_scan_number;
    if (scan > reader->scan_limit) cjpeg_fail(codec, CJPEG_TOO_MANY_SCANS, "too many scans");
    if (reader->errors.stray_scan > 0 && scan > reader->errors.stray_scan)
        cjpeg_fail(codec, CJPEG_DAMAGED, "stray bytes between two scans");
    if (reader->watch.may_go_on && !reader->watch.may_go_on(reader->watch.context))
        cjpeg_fail(codec, CJPEG_TIMED_OUT, "no time left");
}

cjpeg_reader *cjpeg_reader_new(const uint8_t *bytes, size_t length) {
    cjpeg_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->codec.err = cjpeg_errors_install(&reader->errors);
    if (setjmp(reader->errors.escape)) {
        jpeg_destroy_decompress(&reader->codec);
        free(reader);
        return NULL;
    }
    jpeg_create_decompress(&reader->codec);
    cjpeg_source_install(reader, bytes, length);
    return reader;
}

void cjpeg_reader_free(cjpeg_reader *reader) {
    jpeg_destroy_decompress(&reader->codec);
    cjr_free(reader->corner);
    free(reader->icc);
    free(reader);
}

const char *cjpeg_reader_message(const cjpeg_reader *reader) { return reader->errors.message; }

static bool colors_of(j_decompress_ptr codec, cjpeg_colors *colors) {
    switch (codec->jpeg_color_space) {
    case JCS_GRAYSCALE: *colors = CJPEG_GRAY; return true;
    case JCS_RGB: *colors = CJPEG_RGB; return true;
    case JCS_YCbCr: *colors = CJPEG_YCBCR; return true;
    case JCS_CMYK: *colors = CJPEG_CMYK; return true;
    case JCS_YCCK: *colors = CJPEG_YCCK; return true;
    default: return false;
    }
}

cjpeg_status cjpeg_read_header(cjpeg_reader *reader, cjpeg_header *header) {
    j_decompress_ptr codec = &reader->codec;
    const uint8_t *bytes = reader->source.next_input_byte;
    size_t length = reader->source.bytes_in_buffer;
    cjpeg_segments found;
    cjpeg_status status = cjpeg_find_segments(bytes, length, &found, reader->errors.message);
    if (status != CJPEG_OK) return status;
    if (setjmp(reader->errors.escape)) return reader->errors.status;
    jpeg_read_header(codec, TRUE);
    reader->errors.passed = reader->source.next_input_byte;
    memset(header, 0, sizeof *header);
    header->width = (int)codec->image_width;
    header->height = (int)codec->image_height;
    header->progressive = jpeg_has_multiple_scans(codec);
    if (!colors_of(codec, &header->colors)) cjpeg_fail((j_common_ptr)codec, CJPEG_UNSUPPORTED, "JPEG with unknown components");
    header->exif = found.exif;
    header->exif_length = found.exif_length;
    // An inconsistent profile is ignored.
    if (cjpeg_join_profile(&found, &reader->icc, &header->icc_length)) header->icc = reader->icc;
    header->fits_corner = cjpeg_fits_corner(codec, &header->subsampling_x, &header->subsampling_y);
    header->scans = header->progressive ? cjpeg_count_scans(bytes, length, found.first_scan) : 1;
    header->steps = found.steps + reader->errors.messages;
    // For each segment that it saves, the library walks past all earlier ones.
    long saved = 0;
    for (jpeg_saved_marker_ptr marker = codec->marker_list; marker; marker = marker->next) header->steps += ++saved;
    return CJPEG_OK;
}

// Planes are delivered unchanged if both chroma planes cover the same whole number of luma pixels.
static bool plain_planes(j_decompress_ptr codec, cjpeg_layout *layout) {
    if (codec->jpeg_color_space != JCS_YCbCr || codec->num_components != 3) return false;
    int x[3], y[3];
    for (int i = 0; i < 3; i++) {
        jpeg_component_info *part = &codec->comp_info[i];
        int across = part->h_samp_factor * part->DCT_scaled_size, down = part->v_samp_factor * part->DCT_scaled_size;
        int full_across = codec->max_h_samp_factor * codec->min_DCT_scaled_size;
        int full_down = codec->max_v_samp_factor * codec->min_DCT_scaled_size;
        if (full_across % across || full_down % down) return false;
        x[i] = full_across / across;
        y[i] = full_down / down;
        if (part->v_samp_factor * part->DCT_scaled_size > CJPEG_ROWS) return false;
    }
    layout->subsampling_x = x[1];
    layout->subsampling_y = y[1];
    return x[0] == 1 && y[0] == 1 && x[1] == x[2] && y[1] == y[2];
}

static void allocate_rows(cjpeg_reader *reader) {
    j_decompress_ptr codec = &reader->codec;
    for (int i = 0; i < 3; i++) {
        if (reader->planar) {
            jpeg_component_info *part = &codec->comp_info[i];
            reader->total[i] = (int)part->downsampled_height;
            reader->rows[i] = (*codec->mem->alloc_sarray)(
                (j_common_ptr)codec, JPOOL_IMAGE, part->width_in_blocks * (JDIMENSION)part->DCT_scaled_size,
                (JDIMENSION)(part->v_samp_factor * part->DCT_scaled_size));
        } else if (i == 0) {
            reader->total[0] = (int)codec->output_height;
            reader->rows[0] = (*codec->mem->alloc_sarray)(
                (j_common_ptr)codec, JPOOL_IMAGE, codec->output_width * (JDIMENSION)codec->output_components, CJPEG_ROWS);
        }
    }
}

cjpeg_status cjpeg_start(cjpeg_reader *reader, cjpeg_request request, cjpeg_layout *layout) {
    j_decompress_ptr codec = &reader->codec;
    if (setjmp(reader->errors.escape)) return reader->errors.status;
    reader->scan_limit = request.scans;
    reader->watch = request.watch;
    reader->errors.accepts_truncated = request.truncated;
    reader->progress.progress_monitor = watch_scans;
    codec->progress = &reader->progress;
    codec->mem->max_memory_to_use = request.memory;
    codec->scale_num = (unsigned)request.eighths;
    codec->scale_denom = 8;
    // Block smoothing invents detail for missing scans.
    codec->do_block_smoothing = FALSE;
    if (codec->jpeg_color_space == JCS_YCCK) codec->out_color_space = JCS_CMYK;
    memset(layout, 0, sizeof *layout);
    jpeg_calc_output_dimensions(codec);
    reader->planar = request.planar && plain_planes(codec, layout);
    codec->raw_data_out = reader->planar;
    jpeg_start_decompress(codec);
    // From here on the library's values count, not the requested ones.
    if (reader->planar && !plain_planes(codec, layout)) cjpeg_fail((j_common_ptr)codec, CJPEG_UNSUPPORTED, "planes of JPEG");
    allocate_rows(reader);
    layout->width = (int)codec->output_width;
    layout->height = (int)codec->output_height;
    layout->eighths = request.eighths;
    layout->planes = reader->planar ? 3 : 1;
    layout->channels = reader->planar ? 1 : codec->output_components;
    if (!reader->planar) layout->subsampling_x = layout->subsampling_y = 1;
    reader->started = true;
    return CJPEG_OK;
}

// A single scan with all its samples is complete even without the end marker. In a file of several scans, a missing end marker may
// hide a scan, unless every coefficient is known to its last bit.
static void check_whole(cjpeg_reader *reader) {
    j_decompress_ptr codec = &reader->codec;
    for (int i = 0; reader->errors.owes_dc && codec->coef_bits && i < codec->num_components; i++)
        if (codec->coef_bits[i][0] < 0 && !reader->errors.accepts_truncated)
            cjpeg_fail((j_common_ptr)codec, CJPEG_DAMAGED, "a component has no first coefficients");
    if (!reader->errors.ended || reader->errors.accepts_truncated || !jpeg_has_multiple_scans(codec)) return;
    if (codec->coef_bits) {
        bool whole = true;
        for (int i = 0; i < codec->num_components && whole; i++)
            for (int k = 0; k < DCTSIZE2 && whole; k++) whole = codec->coef_bits[i][k] == 0;
        if (whole) return;
    } else {
        // The library records a component's table when its only scan begins.
        bool whole = true;
        for (int i = 0; i < codec->num_components && whole; i++) whole = codec->comp_info[i].quant_table != NULL;
        if (whole) return;
    }
    cjpeg_fail((j_common_ptr)codec, CJPEG_TRUNCATED, "a scan is missing");
}

static void read_planes(cjpeg_reader *reader, cjpeg_rows *rows) {
    j_decompress_ptr codec = &reader->codec;
    JDIMENSION lines = (JDIMENSION)(codec->max_v_samp_factor * codec->min_DCT_scaled_size);
    if (codec->output_scanline >= codec->output_height) return;
    jpeg_read_raw_data(codec, reader->rows, lines);
    for (int i = 0; i < 3; i++) {
        jpeg_component_info *part = &codec->comp_info[i];
        int count = part->v_samp_factor * part->DCT_scaled_size, left = reader->total[i] - reader->delivered[i];
        rows->count[i] = count < left ? count : left;
        for (int row = 0; row < rows->count[i]; row++) rows->rows[i][row] = reader->rows[i][row];
    }
}

static void read_packed(cjpeg_reader *reader, cjpeg_rows *rows) {
    j_decompress_ptr codec = &reader->codec;
    while (rows->count[0] < CJPEG_ROWS && codec->output_scanline < codec->output_height) {
        int got = (int)jpeg_read_scanlines(
            codec, reader->rows[0] + rows->count[0], (JDIMENSION)(CJPEG_ROWS - rows->count[0]));
        for (int row = 0; row < got; row++) rows->rows[0][rows->count[0] + row] = reader->rows[0][rows->count[0] + row];
        rows->count[0] += got;
    }
}

cjpeg_status cjpeg_read(cjpeg_reader *reader, cjpeg_rows *rows) {
    if (reader->corner) return cjpeg_read_corners(reader, rows);
    if (setjmp(reader->errors.escape)) return reader->errors.status;
    for (int i = 0; i < 3; i++) {
        rows->first[i] = reader->delivered[i];
        rows->count[i] = 0;
    }
    memset(rows->variances, 0, sizeof rows->variances);
    if (reader->planar) read_planes(reader, rows);
    else read_packed(reader, rows);
    for (int i = 0; i < 3; i++) reader->delivered[i] += rows->count[i];
    if (rows->count[0] == 0) check_whole(reader);
    return CJPEG_OK;
}
