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
            part->pairs = reader->part[j].pairs;
            part->skips = reader->part[j].skips;
            part->energies = reader->part[j].energies;
        }
    }
    if (!part->dc) {
        cjr_codes *codes = reader->tables[6 * i] = malloc(sizeof *codes);
        if (!codes) return CJR_OUT_OF_MEMORY;
        if (!cjr_make_codes(codes, picture->component[i].dc, true)) return CJR_UNFIT;
        part->dc = codes;
    }
    if (!part->ac) {
        cjr_codes *codes = reader->tables[6 * i + 1] = malloc(sizeof *codes);
        cjr_skip *skips = reader->tables[6 * i + 2] = malloc(sizeof *skips << CJR_SKIP_BITS);
        cjr_pair *pairs = reader->tables[6 * i + 4] = malloc(sizeof *pairs << CJR_CODE_BITS);
        cjr_energy *energies = reader->tables[6 * i + 5] = malloc(sizeof *energies << CJR_SKIP_BITS);
        if (!codes || !skips || !pairs || !energies) return CJR_OUT_OF_MEMORY;
        if (!cjr_make_codes(codes, picture->component[i].ac, false)) return CJR_UNFIT;
        cjr_make_pairs(pairs, codes);
        cjr_make_skips(skips, energies, codes);
        part->ac = codes;
        part->pairs = pairs;
        part->skips = skips;
        part->energies = energies;
    }
    return CJR_OK;
}

static cjr_status make_plane(cjr_reader *reader, const cjr_picture *picture, int i, int corner) {
    const cjr_component *luma = &picture->component[0];
    cjr_part *part = &reader->part[i];
    cjr_plane *plane = &part->plane[part->planes++];
    plane->corner = corner;
    plane->lane = part->lanes;
    part->lanes += corner * corner;
    plane->width = divided_up(picture->width * corner, 8 * (i ? luma->across : 1));
    plane->height = divided_up(picture->height * corner, 8 * (i ? luma->down : 1));
    // Rows of blocks are stored as 8 samples.
    plane->stride = ((size_t)reader->mcus_across * (size_t)(part->across * corner) + 8 + 63) & ~(size_t)63;
    plane->rows = calloc((size_t)(part->down * corner), plane->stride);
    if (!plane->rows) return CJR_OUT_OF_MEMORY;
    if (!part->is_measured || corner == CJR_CORNER) return CJR_OK;
    plane->variances = calloc((size_t)(part->down * corner) * plane->stride, sizeof *plane->variances);
    return plane->variances ? CJR_OK : CJR_OUT_OF_MEMORY;
}

// The basis pictures and functions for the planes. Those of an earlier component are shared.
static cjr_status make_basis(cjr_reader *reader, const cjr_picture *picture, const cjr_row_functions *functions, int i) {
    cjr_part *part = &reader->part[i];
    part->functions = functions->blocks;
    while (part->functions->vectors * CJR_LANES < part->lanes) part->functions++;
    for (int j = 0; j < i; j++)
        if (picture->component[j].corners == picture->component[i].corners) part->basis = reader->part[j].basis;
    if (part->basis) return CJR_OK;
    size_t positions = part->last < 63 ? CJR_REACHED : (size_t)part->last + 1;
    size_t stride = (size_t)part->functions->vectors * CJR_LANES, size = positions * stride * sizeof(int16_t);
    if (posix_memalign(&reader->tables[6 * i + 3], 32, size)) return CJR_OUT_OF_MEMORY;
    int16_t *basis = memset(reader->tables[6 * i + 3], 0, size);
    for (int j = 0; j < part->planes; j++) cjr_make_basis(basis + part->plane[j].lane, stride, part->plane[j].corner);
    part->basis = basis;
    return CJR_OK;
}

static cjr_status make_part(cjr_reader *reader, const cjr_picture *picture, int i) {
    const cjr_component *component = &picture->component[i];
    cjr_part *part = &reader->part[i];
    if (component->corners == 0 || component->corners & 1 || component->corners >= CJR_SIDE(CJR_CORNER + 1)) return CJR_UNFIT;
    if (component->across < 1 || component->across > 4 || component->down < 1 || component->down > 4) return CJR_UNFIT;
    if (i > 0 && (component->across != 1 || component->down != 1)) return CJR_UNFIT;
    *part = (cjr_part){.across = component->across, .down = component->down, .corners = component->corners};
    part->is_measured = i == 0 && component->corners != CJR_SIDE(CJR_CORNER);
    for (int corner = CJR_CORNER; corner > 0; corner--) {
        if (!(component->corners & CJR_SIDE(corner))) continue;
        cjr_status status = make_plane(reader, picture, i, corner);
        if (status != CJR_OK) return status;
    }
    reader->blocks += part->across * part->down;
    part->corner = part->plane[0].corner;
    part->last = cjr_last_of_corner[part->corner];
    uint16_t quantisers[64];
    for (int k = 0; k < 64; k++) {
        int quantiser = component->quantisers[cjr_zigzag[k]];
        if (quantiser > CJR_QUANTISER) return CJR_UNFIT;
        if (k <= part->last) part->quantisers[k] = quantiser << CJR_COEFFICIENT_BITS;
        quantisers[k] = (uint16_t)quantiser;
        for (int j = 0; j < part->planes; j++) {
            int corner = part->plane[j].corner;
            part->omissions[k] += cjr_zigzag[k] >> 3 >= corner || (cjr_zigzag[k] & 7) >= corner;
        }
    }
    if (!part->is_measured) return CJR_OK;
    // By Parseval's theorem, a variance is the energy over the 64 samples of a block.
    int exponent = cjr_make_weights(part->weights, quantisers);
    part->shift = exponent > -8 ? exponent + 8 : 0;
    for (int k = 0; k < 64; k++) part->outside[k] = part->omissions[k] ? part->weights[k].value : 0;
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
    const cjr_row_functions *functions = &cjr_rows_portable;
    reader->read_scan_rows = cjr_scan_rows_portable;
#if defined(__x86_64__)
    // Without LZCNT its bytes are another instruction.
    bool has_all = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt");
    if (instructions == CJR_BEST && has_all) {
        functions = &cjr_rows_avx2;
        // These execute PDEP as hundreds of steps.
        bool is_slow = __builtin_cpu_is("znver1") || __builtin_cpu_is("znver2");
        if (!is_slow) reader->read_scan_rows = cjr_scan_rows_avx2;
    }
#endif
    (void)instructions;
    reader->read_row = progression ? functions->make_row : functions->read_row;
    for (int i = 0; i < reader->components && status == CJR_OK; i++) status = make_basis(reader, picture, functions, i);
    reader->bits.source = picture->bytes;
    reader->bits.end = picture->bytes + picture->length;
    cjr_begin_segment(&reader->bits);
    if (progression && status == CJR_OK) status = cjr_read_scans(reader, progression);
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
    for (int i = 0; i < CJR_COMPONENTS; i++)
        for (int j = 0; j < reader->part[i].planes; j++) {
            free(reader->part[i].plane[j].rows);
            free(reader->part[i].plane[j].variances);
        }
    for (int i = 0; i < 6 * CJR_COMPONENTS; i++) free(reader->tables[i]);
    cjr_free_scans(reader->scans);
    free(reader);
}

const char *cjr_message(const cjr_reader *reader) { return reader->message; }

void cjr_size(const cjr_reader *reader, int component, int corner, int *width, int *height) {
    const cjr_part *part = &reader->part[component];
    *width = *height = 0;
    for (int i = 0; i < part->planes; i++) {
        if (part->plane[i].corner != corner) continue;
        *width = part->plane[i].width;
        *height = part->plane[i].height;
    }
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
    // Behind a marker whose number is far from the expected one, the library goes on, and nothing is missing: the numbers are wrong. One
    // that is near means that a segment is lost or comes twice.
    int distance = (*marker - 0xD0 - reader->next_restart) & 7;
    bool is_restart = *marker >= 0xD0 && *marker <= 0xD7;
    if (!is_restart || (distance != 0 && (distance < 3 || distance > 5))) return cjr_fail(reader, "another restart marker was expected");
    bits->source = marker + 1;
    cjr_begin_segment(bits);
    reader->next_restart = (reader->next_restart + 1) & 7;
    reader->until_restart = reader->restart_interval;
    for (int i = 0; i < reader->components; i++) reader->part[i].predictor = 0;
    return CJR_OK;
}

cjr_status cjr_read(cjr_reader *reader, cjr_rows rows[CJR_COMPONENTS][CJR_CORNER + 1]) {
    memset(rows, 0, sizeof *rows * CJR_COMPONENTS);
    if (reader->row == reader->mcus_down) return CJR_OK;
    cjr_status status = reader->read_row(reader);
    if (status != CJR_OK) return status;
    reader->row++;
    for (int i = 0; i < reader->components; i++) {
        cjr_part *part = &reader->part[i];
        if (part->predictor > INT32_MAX || part->predictor < INT32_MIN) return cjr_fail(reader, "DC coefficient out of range");
        for (int j = 0; j < part->planes; j++) {
            cjr_plane *plane = &part->plane[j];
            int count = part->down * plane->corner, left = plane->height - plane->delivered;
            if (count > left) count = left;
            rows[i][plane->corner] = (cjr_rows){plane->rows, plane->stride, count, plane->variances};
            plane->delivered += count;
        }
    }
    return CJR_OK;
}
