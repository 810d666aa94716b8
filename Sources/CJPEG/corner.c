#include "reader.h"
#include <string.h>

// The library has read the header up to the first scan; the reader for shrinking takes over at the entropy-coded bytes. Whatever is
// uncommon stays with the library.

// One scan with all components in their order and known tables.
static bool fits_sequential(j_decompress_ptr codec) {
    if (codec->comps_in_scan != codec->num_components) return false;
    if (codec->Ss != 0 || codec->Se != DCTSIZE2 - 1 || codec->Ah != 0 || codec->Al != 0) return false;
    for (int i = 0; i < codec->num_components; i++) {
        jpeg_component_info *part = codec->cur_comp_info[i];
        int dc = part->dc_tbl_no, ac = part->ac_tbl_no;
        if (part != &codec->comp_info[i]) return false;
        if (dc < 0 || dc >= NUM_HUFF_TBLS || ac < 0 || ac >= NUM_HUFF_TBLS) return false;
        if (!codec->dc_huff_tbl_ptrs[dc] || !codec->ac_huff_tbl_ptrs[ac]) return false;
    }
    return true;
}

// Components that scans can name, and a first scan of one of them, or of all in their order.
static bool fits_progressive(j_decompress_ptr codec) {
    if (codec->comps_in_scan != 1 && codec->comps_in_scan != codec->num_components) return false;
    for (int i = 0; i < codec->num_components; i++)
        for (int j = 0; j < i; j++)
            if (codec->comp_info[i].component_id == codec->comp_info[j].component_id) return false;
    for (int i = 0; i < codec->comps_in_scan && codec->comps_in_scan > 1; i++)
        if (codec->cur_comp_info[i] != &codec->comp_info[i]) return false;
    return true;
}

bool cjpeg_fits_corner(j_decompress_ptr codec, int *x, int *y) {
    *x = *y = 1;
    bool is_gray = codec->jpeg_color_space == JCS_GRAYSCALE && codec->num_components == 1;
    bool is_color = codec->jpeg_color_space == JCS_YCbCr && codec->num_components == 3;
    if (codec->data_precision != 8 || codec->arith_code || (!is_gray && !is_color)) return false;
    if (is_color) {
        for (int i = 1; i < 3; i++)
            if (codec->comp_info[i].h_samp_factor != 1 || codec->comp_info[i].v_samp_factor != 1) return false;
        *x = codec->comp_info[0].h_samp_factor;
        *y = codec->comp_info[0].v_samp_factor;
    }
    for (int i = 0; i < codec->num_components; i++) {
        int number = codec->comp_info[i].quant_tbl_no;
        if (number < 0 || number >= NUM_QUANT_TBLS || !codec->quant_tbl_ptrs[number]) return false;
    }
    return codec->progressive_mode ? fits_progressive(codec) : fits_sequential(codec);
}

static bool copy_table(cjr_huffman *table, JHUFF_TBL *from) {
    if (!from) return false;
    memcpy(table->counts, from->bits, sizeof table->counts);
    memcpy(table->symbols, from->huffval, sizeof table->symbols);
    return true;
}

// The coefficients that a progressive file keeps: 8 bytes for each block, and two for each place in its corner.
static double memory_of(j_decompress_ptr codec, const cjr_picture *picture) {
    double sum = 0;
    for (int i = 0; i < codec->num_components; i++) {
        int corner = picture->component[i].corner;
        sum += (codec->comp_info[i].width_in_blocks + 4.0) * (codec->comp_info[i].height_in_blocks + 4.0) * (8 + 2 * corner * corner);
    }
    return sum;
}

static void describe_scan(j_decompress_ptr codec, cjr_progression *progression) {
    cjr_scan *scan = &progression->scan;
    *scan = (cjr_scan){
        .components = codec->comps_in_scan, .first = codec->Ss, .last = codec->Se, .high = codec->Ah, .low = codec->Al};
    for (int i = 0; i < codec->comps_in_scan; i++) {
        scan->component[i] = codec->cur_comp_info[i]->component_index;
        scan->dc[i] = codec->cur_comp_info[i]->dc_tbl_no;
        scan->ac[i] = codec->cur_comp_info[i]->ac_tbl_no;
    }
    for (int i = 0; i < codec->num_components; i++) progression->names[i] = (uint8_t)codec->comp_info[i].component_id;
}

static cjr_status start(cjpeg_reader *reader, cjpeg_request request, cjr_picture *picture) {
    j_decompress_ptr codec = &reader->codec;
    cjr_instructions instructions = request.portable ? CJR_PORTABLE : CJR_BEST;
    cjr_progression progression = {.scans = request.scans, .may_go_on = request.watch.may_go_on, .context = request.watch.context};
    for (int i = 0; i < NUM_HUFF_TBLS; i++) {
        progression.has_dc[i] = copy_table(&progression.dc[i], codec->dc_huff_tbl_ptrs[i]);
        progression.has_ac[i] = copy_table(&progression.ac[i], codec->ac_huff_tbl_ptrs[i]);
    }
    if (codec->progressive_mode) {
        if (memory_of(codec, picture) > (double)request.memory) return CJR_UNFIT;
        describe_scan(codec, &progression);
        return cjr_new_progressive(picture, &progression, instructions, &reader->corner);
    }
    for (int i = 0; i < picture->components; i++) {
        picture->component[i].dc = &progression.dc[codec->comp_info[i].dc_tbl_no];
        picture->component[i].ac = &progression.ac[codec->comp_info[i].ac_tbl_no];
    }
    return cjr_new(picture, instructions, &reader->corner);
}

cjpeg_status cjpeg_start_corner(cjpeg_reader *reader, cjpeg_request request, cjpeg_layout *layout) {
    j_decompress_ptr codec = &reader->codec;
    int x, y;
    if (request.corner == 0 || !cjpeg_fits_corner(codec, &x, &y)) return CJPEG_OK;
    bool is_color = codec->num_components == 3;
    if (is_color && (!request.planar || request.chroma_corner < 1)) return CJPEG_OK;
    // Chroma samples lie on whole luma samples.
    if (is_color && (x * request.corner % request.chroma_corner || y * request.corner % request.chroma_corner)) return CJPEG_OK;
    const uint8_t *bytes = reader->source.next_input_byte;
    size_t length = reader->source.bytes_in_buffer;
    // The library decides how far a truncated file goes.
    if (request.truncated && (length < 2 || bytes[length - 2] != 0xFF || bytes[length - 1] != JPEG_EOI)) return CJPEG_OK;
    cjr_picture picture = {
        .width = (int)codec->image_width,
        .height = (int)codec->image_height,
        .components = codec->num_components,
        .restart_interval = codec->restart_interval,
        .bytes = bytes,
        .length = length,
    };
    for (int i = 0; i < picture.components; i++)
        picture.component[i] = (cjr_component){
            .across = i ? 1 : x,
            .down = i ? 1 : y,
            .corner = i ? request.chroma_corner : request.corner,
            .quantisers = codec->quant_tbl_ptrs[codec->comp_info[i].quant_tbl_no]->quantval,
        };
    cjr_status status = start(reader, request, &picture);
    if (status == CJR_OUT_OF_MEMORY || status == CJR_TIMED_OUT) {
        snprintf(reader->errors.message, CJPEG_MESSAGE, status == CJR_TIMED_OUT ? "no time left" : "no memory");
        return status == CJR_TIMED_OUT ? CJPEG_TIMED_OUT : CJPEG_OUT_OF_MEMORY;
    }
    if (status != CJR_OK) return CJPEG_OK;
    memset(layout, 0, sizeof *layout);
    cjr_size(reader->corner, 0, &layout->width, &layout->height);
    layout->planes = is_color ? 3 : 1;
    layout->channels = 1;
    layout->subsampling_x = is_color ? x * request.corner / request.chroma_corner : 1;
    layout->subsampling_y = is_color ? y * request.corner / request.chroma_corner : 1;
    layout->eighths = request.corner;
    return CJPEG_OK;
}

cjpeg_status cjpeg_read_corner(cjpeg_reader *reader, cjpeg_rows *rows) {
    cjr_rows parts[CJR_COMPONENTS];
    cjr_status status = cjr_read(reader->corner, parts);
    if (status != CJR_OK) {
        snprintf(reader->errors.message, CJPEG_MESSAGE, "%s", cjr_message(reader->corner));
        return status == CJR_TRUNCATED ? CJPEG_TRUNCATED : status == CJR_TIMED_OUT ? CJPEG_TIMED_OUT : CJPEG_DAMAGED;
    }
    for (int i = 0; i < CJR_COMPONENTS; i++) {
        rows->first[i] = reader->delivered[i];
        rows->count[i] = parts[i].count;
        for (int row = 0; row < parts[i].count; row++) rows->rows[i][row] = parts[i].rows + (size_t)row * parts[i].stride;
        reader->delivered[i] += parts[i].count;
    }
    return CJPEG_OK;
}
