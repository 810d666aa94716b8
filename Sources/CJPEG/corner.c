#include "reader.h"
#include <string.h>

// The library has read the header up to the first scan; the reader for shrinking takes over at the entropy-coded bytes. Whatever is
// uncommon stays with the library.

// One scan with all components in their order and known tables. What its header says of coefficients has no effect.
static bool fits_sequential(j_decompress_ptr codec) {
    if (codec->comps_in_scan != codec->num_components) return false;
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

// The most that the coefficients of a progressive file take: 8 bytes for each block, two for each place in the largest corner, and four
// for the energies of each plane. It does not depend on the corners, so that each picture is read in the same way alone and beside others.
static double memory_of(j_decompress_ptr codec) {
    double blocks = 0;
    for (int i = 0; i < codec->num_components; i++)
        blocks += (codec->comp_info[i].width_in_blocks + 4.0) * (codec->comp_info[i].height_in_blocks + 4.0);
    return blocks * (8 + 2 * CJR_CORNER * CJR_CORNER + 4 * CJR_CORNER);
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
        if (memory_of(codec) > (double)request.memory) return CJR_UNFIT;
        describe_scan(codec, &progression);
        return cjr_new_progressive(picture, &progression, instructions, &reader->corner);
    }
    for (int i = 0; i < picture->components; i++) {
        picture->component[i].dc = &progression.dc[codec->comp_info[i].dc_tbl_no];
        picture->component[i].ac = &progression.ac[codec->comp_info[i].ac_tbl_no];
    }
    return cjr_new(picture, instructions, &reader->corner);
}

// Planes, and chroma samples that lie on whole luma samples.
static bool fits(const cjpeg_corners *corners, bool is_color, int x, int y) {
    if (corners->luma < 1 || corners->luma > CJR_CORNER) return false;
    if (!is_color) return true;
    if (corners->chroma < 1 || corners->chroma > CJR_CORNER) return false;
    return x * corners->luma % corners->chroma == 0 && y * corners->luma % corners->chroma == 0;
}

static cjpeg_layout layout_of(const cjr_reader *reader, const cjpeg_corners *corners, bool is_color, int x, int y) {
    cjpeg_layout layout = {.planes = is_color ? 3 : 1, .channels = 1, .eighths = corners->luma};
    cjr_size(reader, 0, corners->luma, &layout.width, &layout.height);
    layout.subsampling_x = is_color ? x * corners->luma / corners->chroma : 1;
    layout.subsampling_y = is_color ? y * corners->luma / corners->chroma : 1;
    return layout;
}

cjpeg_status cjpeg_start_corners(
    cjpeg_reader *reader, cjpeg_request request, const cjpeg_corners *corners, int count, cjpeg_layout *layouts, bool *started) {
    j_decompress_ptr codec = &reader->codec;
    int x, y;
    *started = false;
    if (count < 1 || count > CJPEG_PICTURES || !cjpeg_fits_corner(codec, &x, &y)) return CJPEG_OK;
    bool is_color = codec->num_components == 3;
    if (is_color && !request.planar) return CJPEG_OK;
    for (int i = 0; i < count; i++)
        if (!fits(&corners[i], is_color, x, y)) return CJPEG_OK;
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
    for (int i = 0; i < picture.components; i++) {
        picture.component[i] = (cjr_component){
            .across = i ? 1 : x,
            .down = i ? 1 : y,
            .quantisers = codec->quant_tbl_ptrs[codec->comp_info[i].quant_tbl_no]->quantval,
        };
        for (int j = 0; j < count; j++) picture.component[i].corners |= CJR_SIDE(i ? corners[j].chroma : corners[j].luma);
    }
    cjr_status status = start(reader, request, &picture);
    if (status == CJR_OUT_OF_MEMORY || status == CJR_TIMED_OUT) {
        snprintf(reader->errors.message, CJPEG_MESSAGE, status == CJR_TIMED_OUT ? "no time left" : "no memory");
        return status == CJR_TIMED_OUT ? CJPEG_TIMED_OUT : CJPEG_OUT_OF_MEMORY;
    }
    if (status != CJR_OK) return CJPEG_OK;
    *started = true;
    reader->pictures = count;
    for (int i = 0; i < count; i++) {
        reader->corners[i] = (cjpeg_corners){corners[i].luma, is_color ? corners[i].chroma : corners[i].luma};
        layouts[i] = layout_of(reader->corner, &corners[i], is_color, x, y);
    }
    return CJPEG_OK;
}

cjpeg_status cjpeg_read_corners(cjpeg_reader *reader, cjpeg_rows *rows) {
    cjr_rows parts[CJR_COMPONENTS][CJR_CORNER + 1];
    cjr_status status = cjr_read(reader->corner, parts);
    if (status != CJR_OK) {
        snprintf(reader->errors.message, CJPEG_MESSAGE, "%s", cjr_message(reader->corner));
        return status == CJR_TRUNCATED ? CJPEG_TRUNCATED : status == CJR_TIMED_OUT ? CJPEG_TIMED_OUT : CJPEG_DAMAGED;
    }
    for (int picture = 0; picture < reader->pictures; picture++)
        for (int i = 0; i < CJR_COMPONENTS; i++) {
            const cjpeg_corners *corners = &reader->corners[picture];
            const cjr_rows *part = &parts[i][i ? corners->chroma : corners->luma];
            rows[picture].first[i] = reader->corner_rows[picture][i];
            rows[picture].count[i] = part->count;
            for (int row = 0; row < part->count; row++) rows[picture].rows[i][row] = part->rows + (size_t)row * part->stride;
            reader->corner_rows[picture][i] += part->count;
            if (i > 0) continue;
            for (int row = 0; row < part->count; row++)
                rows[picture].variances[row] = part->variances ? part->variances + (size_t)row * part->stride : NULL;
        }
    return CJPEG_OK;
}
