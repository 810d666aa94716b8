#include "progressive.h"
#include <stdlib.h>
#include <string.h>

static int divided_up(int a, int b) { return (a + b - 1) / b; }

// Tables of an earlier component are shared.
static cjr_status make_tables(cjr_reader *reader, const cjr_picture *picture, int i) {
    cjr_part *part = &reader->part[i];
    for (int j = 0; j < i; j++) {
        if (picture->component[j].dc == picture->component[i].dc) part->dc = reader->part[j].dc;
        if (picture->component[j].ac == picture->component[i].ac) {
            part->ac = reader->part[j].ac;
            part->skips = reader->part[j].skips;
        }
    }
    if (!part->dc) {
        cjr_codes *codes = reader->tables[3 * i] = malloc(sizeof *codes);
        if (!codes) return CJR_OUT_OF_MEMORY;
        if (!cjr_make_codes(codes, picture->component[i].dc, true)) return CJR_UNFIT;
        part->dc = codes;
    }
    if (!part->ac) {
        cjr_codes *codes = reader->tables[3 * i + 1] = malloc(sizeof *codes);
        cjr_skip *skips = reader->tables[3 * i + 2] = malloc(sizeof *skips << CJR_SKIP_BITS);
        if (!codes || !skips) return CJR_OUT_OF_MEMORY;
        if (!cjr_make_codes(codes, picture->component[i].ac, false)) return CJR_UNFIT;
        cjr_make_skips(skips, codes);
        part->ac = codes;
        part->skips = skips;
    }
    return CJR_OK;
}

static cjr_status make_part(cjr_reader *reader, const cjr_picture *picture, int i) {
    const cjr_component *component = &picture->component[i], *luma = &picture->component[0];
    cjr_part *part = &reader->part[i];
    if (component->corner < 1 || component->corner > CJR_CORNER) return CJR_UNFIT;
    if (component->across < 1 || component->across > 4 || component->down < 1 || component->down > 4) return CJR_UNFIT;
    if (i > 0 && (component->across != 1 || component->down != 1)) return CJR_UNFIT;
    *part = (cjr_part){.across = component->across, .down = component->down, .corner = component->corner};
    part->last = cjr_last_of_corner[part->corner];
    part->basis = &reader->basis[part->corner];
    if (!reader->basis[part->corner].lanes[0][0]) cjr_make_basis(&reader->basis[part->corner], part->corner);
    for (int k = 0; k < 64; k++) {
        int quantiser = component->quantisers[cjr_zigzag[k]];
        if (quantiser > CJR_QUANTISER) return CJR_UNFIT;
        if (k <= part->last) part->quantisers[k] = quantiser << CJR_COEFFICIENT_BITS;
    }
    part->width = divided_up(picture->width * part->corner, 8 * (i ? luma->across : 1));
    part->height = divided_up(picture->height * part->corner, 8 * (i ? luma->down : 1));
    // Rows of 3 or 2 samples are stored as 4.
    part->stride = ((size_t)reader->mcus_across * (size_t)(part->across * part->corner) + 4 + 63) & ~(size_t)63;
    part->rows = calloc((size_t)(part->down * part->corner), part->stride);
    if (!part->rows) return CJR_OUT_OF_MEMORY;
    reader->blocks += part->across * part->down;
    return CJR_OK;
}

static cjr_status make(
    const cjr_picture *picture, const cjr_progression *progression, cjr_instructions instructions, cjr_reader **result) {
    if (picture->components != 1 && picture->components != 3) return CJR_UNFIT;
    if (picture->width < 1 || picture->height < 1 || picture->width > 65535 || picture->height > 65535) return CJR_UNFIT;
    void *memory = NULL;
    if (posix_memalign(&memory, 64, sizeof(cjr_reader))) return CJR_OUT_OF_MEMORY;
    cjr_reader *reader = memory;
    memset(reader, 0, offsetof(cjr_reader, bits.chunk));
    reader->components = picture->components;
    reader->message = "";
    reader->mcus_across = divided_up(picture->width, 8 * picture->component[0].across);
    reader->mcus_down = divided_up(picture->height, 8 * picture->component[0].down);
    cjr_status status = CJR_OK;
    for (int i = 0; i < picture->components && status == CJR_OK; i++) {
        status = make_part(reader, picture, i);
        if (status == CJR_OK && !progression) status = make_tables(reader, picture, i);
    }
    if (status == CJR_OK && reader->blocks > CJR_BLOCKS) status = CJR_UNFIT;
    if (status != CJR_OK) {
        cjr_free(reader);
        return status;
    }
    reader->restart_interval = reader->until_restart = picture->restart_interval;
    reader->read_row = progression ? cjr_made_row_portable : cjr_row_portable;
    reader->read_scan_rows = cjr_scan_rows_portable;
#if defined(__x86_64__)
    if (instructions == CJR_BEST && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) {
        reader->read_row = progression ? cjr_made_row_avx2 : cjr_row_avx2;
        // These execute PDEP as hundreds of steps.
        bool is_slow = __builtin_cpu_is("znver1") || __builtin_cpu_is("znver2");
        if (!is_slow) reader->read_scan_rows = cjr_scan_rows_avx2;
    }
#endif
    (void)instructions;
    reader->bits.source = picture->bytes;
    reader->bits.end = picture->bytes + picture->length;
    cjr_begin_segment(&reader->bits);
    if (progression) status = cjr_read_scans(reader, progression);
    if (status != CJR_OK) {
        cjr_free(reader);
        return status;
    }
    *result = reader;
    return CJR_OK;
}

cjr_status cjr_new(const cjr_picture *picture, cjr_instructions instructions, cjr_reader **reader) {
    return make(picture, NULL, instructions, reader);
}

cjr_status cjr_new_progressive(
    const cjr_picture *picture, const cjr_progression *progression, cjr_instructions instructions, cjr_reader **reader) {
    return make(picture, progression, instructions, reader);
}

void cjr_free(cjr_reader *reader) {
    if (!reader) return;
    for (int i = 0; i < CJR_COMPONENTS; i++) free(reader->part[i].rows);
    for (int i = 0; i < 3 * CJR_COMPONENTS; i++) free(reader->tables[i]);
    cjr_free_scans(reader->scans);
    free(reader);
}

const char *cjr_message(const cjr_reader *reader) { return reader->message; }

void cjr_size(const cjr_reader *reader, int component, int *width, int *height) {
    *width = reader->part[component].width;
    *height = reader->part[component].height;
}

cjr_status cjr_fail(cjr_reader *reader, const char *message) {
    reader->message = message;
    // At the end of the file any error is a consequence of truncation.
    bool has_ended = reader->bits.has_ended && reader->bits.limit - reader->bits.in < 8;
    return has_ended ? CJR_TRUNCATED : CJR_DAMAGED;
}

cjr_status cjr_restart(cjr_reader *reader) {
    cjr_bits *bits = &reader->bits;
    if (cjr_is_overdrawn(bits)) return cjr_fail(reader, "premature end of data segment");
    if (!cjr_is_used_up(bits)) return cjr_fail(reader, "extraneous bytes before a restart marker");
    if (bits->has_ended) return cjr_fail(reader, "a restart marker is missing");
    const uint8_t *marker = bits->source + 1;
    while (*marker == 0xFF) marker++;
    if (*marker != 0xD0 + reader->next_restart) return cjr_fail(reader, "another restart marker was expected");
    bits->source = marker + 1;
    cjr_begin_segment(bits);
    reader->next_restart = (reader->next_restart + 1) & 7;
    reader->until_restart = reader->restart_interval;
    for (int i = 0; i < reader->components; i++) reader->part[i].predictor = 0;
    return CJR_OK;
}

cjr_status cjr_read(cjr_reader *reader, cjr_rows rows[CJR_COMPONENTS]) {
    memset(rows, 0, sizeof *rows * CJR_COMPONENTS);
    if (reader->row == reader->mcus_down) return CJR_OK;
    cjr_status status = reader->read_row(reader);
    if (status != CJR_OK) return status;
    reader->row++;
    for (int i = 0; i < reader->components; i++) {
        cjr_part *part = &reader->part[i];
        if (part->predictor > INT32_MAX || part->predictor < INT32_MIN) return cjr_fail(reader, "DC coefficient out of range");
        int count = part->down * part->corner, left = part->height - part->delivered;
        rows[i] = (cjr_rows){part->rows, part->stride, count < left ? count : left};
        part->delivered += rows[i].count;
    }
    return CJR_OK;
}
