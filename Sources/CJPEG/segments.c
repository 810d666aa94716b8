#include "reader.h"
#include <stdlib.h>
#include <string.h>

// The library appends saved segments to a list and walks to its end for each one. This finds them in one pass over the bytes.

static const char *process_name(int marker) {
    switch (marker) {
    case 0xC3: return "lossless JPEG (SOF3)";
    case 0xC5: return "differential sequential JPEG (SOF5)";
    case 0xC6: return "differential progressive JPEG (SOF6)";
    case 0xC7: return "differential lossless JPEG (SOF7)";
    case 0xCB: return "lossless arithmetic JPEG (SOF11)";
    case 0xCD: return "differential arithmetic JPEG (SOF13)";
    case 0xCE: return "differential progressive arithmetic JPEG (SOF14)";
    case 0xCF: return "differential lossless arithmetic JPEG (SOF15)";
    case 0xF7: return "JPEG-LS (SOF55)";
    default: return NULL;
    }
}

static bool is_frame(int marker) {
    return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

static bool is_alone(int marker) { return marker == 0x00 || marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8); }

// Records the first EXIF segment and the pieces of a profile (ICC.1 annex B.4), which have their number and their count. Of two profiles
// with as many pieces, it is the first, as in browsers.
static void note(cjpeg_segments *found, int marker, const uint8_t *data, size_t length) {
    if (marker == 0xE1 && !found->exif && length > 6 && !memcmp(data, "Exif\0", 5)) {
        found->exif = data + 6;
        found->exif_length = length - 6;
    }
    if (marker != 0xE2 || length < 14 || memcmp(data, "ICC_PROFILE\0", 12)) return;
    int number = data[12], count = data[13];
    if (found->pieces == 0) found->pieces = count;
    if (found->pieces != count || number < 1 || number > count) {
        found->unfit = true;
        return;
    }
    if (found->piece[number]) return;
    found->piece[number] = data + 14;
    found->piece_length[number] = length - 14;
}

cjpeg_status cjpeg_find_segments(const uint8_t *bytes, size_t length, cjpeg_segments *found, char *message) {
    memset(found, 0, sizeof *found);
    for (size_t at = 2; at + 4 <= length;) {
        found->steps++;
        if (bytes[at] != 0xFF) {
            const uint8_t *next = memchr(bytes + at, 0xFF, length - at);
            if (!next) break;
            at = (size_t)(next - bytes);
            continue;
        }
        int marker = bytes[at + 1];
        if (marker == 0xFF) {
            at++;
            continue;
        }
        if (is_alone(marker)) {
            at += 2;
            continue;
        }
        const char *name = process_name(marker);
        if (name) {
            snprintf(message, CJPEG_MESSAGE, "%s", name);
            return CJPEG_UNSUPPORTED;
        }
        if (is_frame(marker) && at + 5 <= length && bytes[at + 4] != 8) {
            snprintf(message, CJPEG_MESSAGE, "JPEG with %d bits per sample", bytes[at + 4]);
            return CJPEG_UNSUPPORTED;
        }
        if (marker == 0xDA || marker == 0xD9) {
            found->first_scan = at;
            return CJPEG_OK;
        }
        size_t size = (size_t)(bytes[at + 2] << 8 | bytes[at + 3]);
        if (size >= 2 && size <= length - at - 2) note(found, marker, bytes + at + 4, size - 2);
        at += 2 + size;
        if (++found->segments > CJPEG_SEGMENTS) {
            snprintf(message, CJPEG_MESSAGE, "more than %d segments before the picture", CJPEG_SEGMENTS);
            return CJPEG_UNSUPPORTED;
        }
    }
    return CJPEG_OK;
}

bool cjpeg_join_profile(const cjpeg_segments *found, uint8_t **profile, size_t *length) {
    if (found->pieces == 0 || found->unfit) return false;
    size_t sum = 0;
    for (int i = 1; i <= found->pieces; i++) {
        if (!found->piece[i]) return false;
        sum += found->piece_length[i];
    }
    if (sum == 0 || sum > CJPEG_PROFILE || !(*profile = malloc(sum))) return false;
    *length = 0;
    for (int i = 1; i <= found->pieces; i++) {
        memcpy(*profile + *length, found->piece[i], found->piece_length[i]);
        *length += found->piece_length[i];
    }
    return true;
}

int cjpeg_count_scans(const uint8_t *bytes, size_t length, size_t first) {
    int scans = 0;
    size_t at = first;
    while (at + 4 <= length && scans < CJPEG_COUNTED_SCANS) {
        const uint8_t *next = memchr(bytes + at, 0xFF, length - at);
        if (!next) break;
        at = (size_t)(next - bytes);
        if (at + 4 > length) break;
        int marker = bytes[at + 1];
        if (marker == 0xFF) {
            at++;
        } else if (is_alone(marker)) {
            at += 2;
        } else if (marker == 0xD9) {
            break;
        } else {
            if (marker == 0xDA) scans++;
            at += 2 + (size_t)(bytes[at + 2] << 8 | bytes[at + 3]);
        }
    }
    return scans;
}
