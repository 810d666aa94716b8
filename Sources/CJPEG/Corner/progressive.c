#include "progressive.h"
#include <stdlib.h>
#include <string.h>

// Whatever is not as a common program writes it ends in CJR_UNFIT: libjpeg-turbo then reads the file from its beginning, and
// decides what is damage.

// The scan is as ITU-T T.81 G.1.1.1 wants it, and continues what its components have.
static bool is_sound(struct cjr_scans *scans, const cjr_scan *scan) {
    bool is_dc = scan->first == 0;
    if (is_dc ? scan->last != 0 : scan->components != 1 || scan->last < scan->first || scan->last > 63) return false;
    if (scan->low > 13 || (scan->high != 0 && scan->low != scan->high - 1)) return false;
    for (int i = 0; i < scan->components; i++) {
        cjr_coefficients *part = &scans->part[scan->component[i]];
        if (!is_dc && part->missing[0] < 0) return false;
        for (int k = scan->first; k <= scan->last; k++) {
            if (part->missing[k] < 0 ? scan->high != 0 : scan->high == 0 || part->missing[k] != scan->high) return false;
            part->missing[k] = (int8_t)scan->low;
        }
    }
    return true;
}

static bool make_codes(struct cjr_scans *scans, const cjr_scan *scan) {
    const cjr_progression *progression = &scans->progression;
    if (scan->first > 0) {
        int number = scan->ac[0];
        if (number > 3 || !progression->has_ac[number]) return false;
        if (!cjr_make_codes(&scans->ac, &progression->ac[number], false)) return false;
        if (scan->high > 0) cjr_make_refinements(scans->refinements, scans->several, &scans->ac);
        return true;
    }
    for (int i = 0; i < scan->components && scan->high == 0; i++) {
        int number = scan->dc[i];
        if (number > 3 || !progression->has_dc[number]) return false;
        if (!cjr_make_codes(&scans->dc[scan->component[i]], &progression->dc[number], true)) return false;
    }
    return true;
}

static cjr_status read_scan(cjr_reader *reader, const cjr_scan *scan) {
    if (!is_sound(reader->scans, scan) || !make_codes(reader->scans, scan)) return CJR_UNFIT;
    reader->until_restart = reader->restart_interval;
    reader->next_restart = 0;
    reader->scans->end_of_band_run = 0;
    for (int i = 0; i < reader->components; i++) reader->part[i].predictor = 0;
    cjr_status status = reader->read_scan_rows(reader, scan);
    if (status != CJR_OK) return status;
    // All bytes were used, and a marker follows.
    return cjr_is_used_up(&reader->bits) && !reader->bits.has_ended ? CJR_OK : CJR_UNFIT;
}

// Huffman tables (ITU-T T.81 B.2.4.2).
static bool read_tables(cjr_progression *to, const uint8_t *bytes, size_t length) {
    while (length > 0) {
        if (length < 17) return false;
        int number = bytes[0] & 15;
        bool is_ac = bytes[0] >> 4 == 1;
        size_t count = 0;
        for (int i = 1; i <= 16; i++) count += bytes[i];
        if (bytes[0] >> 4 > 1 || number > 3 || count > 256 || count > length - 17) return false;
        cjr_huffman *table = is_ac ? &to->ac[number] : &to->dc[number];
        memset(table, 0, sizeof *table);
        memcpy(table->counts + 1, bytes + 1, 16);
        memcpy(table->symbols, bytes + 17, count);
        (is_ac ? to->has_ac : to->has_dc)[number] = true;
        bytes += 17 + count;
        length -= 17 + count;
    }
    return true;
}

// A scan header (ITU-T T.81 B.2.3): of one component, or of all in their order.
static bool read_header(const cjr_reader *reader, const uint8_t *bytes, size_t length, cjr_scan *scan) {
    if (length < 1) return false;
    *scan = (cjr_scan){.components = bytes[0]};
    if ((scan->components != 1 && scan->components != reader->components) || length != (size_t)scan->components * 2 + 4) return false;
    for (int i = 0; i < scan->components; i++) {
        int index = i;
        if (scan->components == 1) {
            index = 0;
            while (index < reader->components && reader->scans->progression.names[index] != bytes[1]) index++;
        }
        if (index == reader->components || reader->scans->progression.names[index] != bytes[1 + 2 * i]) return false;
        scan->component[i] = index;
        scan->dc[i] = bytes[2 + 2 * i] >> 4;
        scan->ac[i] = bytes[2 + 2 * i] & 15;
    }
    const uint8_t *rest = bytes + 1 + 2 * scan->components;
    scan->first = rest[0];
    scan->last = rest[1];
    scan->high = rest[2] >> 4;
    scan->low = rest[2] & 15;
    return true;
}

// Reads segments up to the next scan or the end of the picture, whose `scan` has no components.
static bool find_scan(cjr_reader *reader, cjr_scan *scan) {
    cjr_bits *bits = &reader->bits;
    scan->components = 0;
    while (true) {
        const uint8_t *at = bits->source;
        if (bits->end - at < 2 || at[0] != 0xFF) return false;
        while (bits->end - at > 2 && at[1] == 0xFF) at++;
        int marker = at[1];
        if (marker == 0xD9) return true;
        if (bits->end - at < 4) return false;
        size_t size = (size_t)(at[2] << 8 | at[3]);
        if (size < 2 || size > (size_t)(bits->end - at - 2)) return false;
        const uint8_t *bytes = at + 4;
        bits->source = at + 2 + size;
        if (marker == 0xDA) return read_header(reader, bytes, size - 2, scan);
        if (marker == 0xC4) {
            if (!read_tables(&reader->scans->progression, bytes, size - 2)) return false;
        } else if (marker == 0xDD) {
            if (size != 4) return false;
            reader->restart_interval = (unsigned)(bytes[0] << 8 | bytes[1]);
        } else if (marker != 0xFE && marker != 0xE1 && (marker < 0xE3 || marker > 0xED)) {
            // Comments and data of programs; those with a meaning for the library are not for here.
            return false;
        }
    }
}

static bool make_energies(const cjr_part *part, cjr_coefficients *to, size_t blocks) {
    to->energies = calloc(blocks * (size_t)part->planes, sizeof *to->energies);
    to->sums = calloc(8, sizeof *to->sums);
    if (!to->energies || !to->sums) return false;
    for (int byte = 0; byte < 8; byte++)
        for (int mask = 0; mask < 256; mask++)
            for (int i = 0; i < 8; i++) {
                int weight = part->weights[8 * byte + i].value;
                if (mask >> (7 - i) & 1 && weight > 0) to->sums[byte][mask] += (uint32_t)weight;
            }
    return true;
}

static bool make_part(cjr_reader *reader, int i) {
    cjr_part *part = &reader->part[i];
    cjr_coefficients *to = &reader->scans->part[i];
    to->blocks_across = reader->mcus_across * part->across;
    to->blocks_down = reader->mcus_down * part->down;
    // `corner` samples in each direction are a block.
    to->own_across = (part->plane[0].width + part->corner - 1) / part->corner;
    to->own_down = (part->plane[0].height + part->corner - 1) / part->corner;
    size_t blocks = (size_t)to->blocks_across * (size_t)to->blocks_down;
    to->places = part->corner * part->corner - 1;
    // Whole groups are quicker. Whole blocks without them take no more memory than was reckoned with.
    to->stride = part->corner == CJR_CORNER ? to->places : (to->places + CJR_GROUP - 1) / CJR_GROUP * CJR_GROUP;
    to->known = calloc(blocks, sizeof *to->known);
    to->dc = calloc(blocks, sizeof *to->dc);
    to->values = calloc(blocks * (size_t)to->stride + CJR_GROUP, sizeof *to->values);
    memset(to->missing, -1, sizeof to->missing);
    for (int k = 0, left = to->places; k < 64; k++) {
        int v = cjr_zigzag[k] >> 3, u = cjr_zigzag[k] & 7;
        bool is_inside = k > 0 && v < part->corner && u < part->corner;
        to->place[k] = (int8_t)(is_inside ? --left : -1);
        for (int j = part->planes - part->omissions[k]; j < part->planes; j++) to->outside[j] |= CJR_POSITION(k);
        if (!is_inside) continue;
        to->corner_mask |= CJR_POSITION(k);
        to->position[left] = (uint8_t)k;
        to->quantisers[left] = (int16_t)(part->quantisers[k] >> CJR_COEFFICIENT_BITS);
    }
    if (!to->known || !to->dc || !to->values) return false;
    return !part->is_measured || make_energies(part, to, blocks);
}

cjr_status cjr_read_scans(cjr_reader *reader, const cjr_progression *progression) {
    reader->scans = calloc(1, sizeof *reader->scans);
    if (!reader->scans) return CJR_OUT_OF_MEMORY;
    reader->scans->progression = *progression;
    for (int i = 0; i < reader->components; i++)
        if (!make_part(reader, i)) return CJR_OUT_OF_MEMORY;
    cjr_scan scan = progression->scan;
    for (int count = 0; scan.components > 0; count++) {
        if (count == progression->scans) return CJR_UNFIT;
        if (count > 0) cjr_begin_segment(&reader->bits);
        cjr_status status = read_scan(reader, &scan);
        if (status != CJR_OK) return status;
        if (!find_scan(reader, &scan)) return CJR_UNFIT;
    }
    return CJR_OK;
}

void cjr_free_scans(struct cjr_scans *scans) {
    if (!scans) return;
    for (int i = 0; i < CJR_COMPONENTS; i++) {
        free(scans->part[i].known);
        free(scans->part[i].dc);
        free(scans->part[i].values);
        free(scans->part[i].energies);
        free(scans->part[i].sums);
    }
    free(scans);
}
