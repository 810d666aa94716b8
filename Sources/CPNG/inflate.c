#include "inflate.h"
#include "chunk.h"

#include <isa-l/crc.h>
#include <stdlib.h>
#include <string.h>

// PORTION is what ISA-L gets at once: it cannot be interrupted, and blocks without contents take the most time for a byte. EXCESS is what
// may be read behind a row.
enum { PORTION = 16384, WINDOW = 16384, EXCESS = 16 };

uint32_t cpng_crc(uint32_t crc, const uint8_t *bytes, size_t size) { return crc32_gzip_refl(crc, bytes, size); }

static bool has_time(inflate_stream *stream, size_t work) {
    if ((stream->work += work) < 4 * PORTION) return true;
    stream->work = 0;
    stream->is_late = stream->watch.may_go_on != NULL && !stream->watch.may_go_on(stream->watch.context);
    return !stream->is_late;
}

// Moves on to the next IDAT with bytes. False if there is none, if its checksum is wrong, or if time is up.
static bool has_input(inflate_stream *stream) {
    while (stream->left == 0) {
        const uint8_t *chunk = stream->chunk;
        size_t rest = stream->end - chunk;
        if (rest < 12 || !is_named(chunk, "IDAT")) return false;
        size_t size = big_endian(chunk);
        if (size > rest - 12 || cpng_crc(0, chunk + 4, size + 4) != big_endian(chunk + 8 + size)) return false;
        stream->in = chunk + 8;
        stream->left = size;
        stream->chunk = chunk + 12 + size;
        if (!has_time(stream, 64)) return false;
    }
    return true;
}

static bool has_byte(inflate_stream *stream, unsigned *byte) {
    if (!has_input(stream)) return false;
    stream->left--;
    *byte = *stream->in++;
    return true;
}

static bool feed(inflate_stream *stream) {
    if (!has_input(stream)) return false;
    size_t size = stream->left < PORTION ? stream->left : PORTION;
    stream->isal.next_in = (uint8_t *)stream->in;
    stream->isal.avail_in = (uint32_t)size;
    stream->in += size;
    stream->left -= size;
    return has_time(stream, size);
}

cpng_status inflate_begin(inflate_stream *stream, const uint8_t *chunk, const uint8_t *end, size_t largest) {
    memset(stream, 0, sizeof *stream);
    stream->chunk = chunk;
    stream->end = end;
    // The size of the window that the stream names is ignored, as browsers do: encoders have written too small ones.
    unsigned method, flags;
    if (!has_byte(stream, &method) || !has_byte(stream, &flags)) return CPNG_DECLINED;
    if ((method & 15) != 8 || method >> 4 > 7 || (method << 8 | flags) % 31 != 0 || (flags & 32) != 0) return CPNG_DECLINED;
    isal_inflate_init(&stream->isal);
    stream->isal.crc_flag = ISAL_ZLIB_NO_HDR_VER;
    stream->capacity = WINDOW + largest;
    stream->window = malloc(stream->capacity + EXCESS);
    return stream->window != NULL ? CPNG_OK : CPNG_OUT_OF_MEMORY;
}

void inflate_end(inflate_stream *stream) { free(stream->window); }

static bool is_at_end(const inflate_stream *stream) { return stream->isal.block_state == ISAL_BLOCK_FINISH; }

// Fills the window as far as the stream goes.
static void fill(inflate_stream *stream) {
    memmove(stream->window, stream->window + stream->taken, stream->filled - stream->taken);
    stream->filled -= stream->taken;
    stream->taken = 0;
    struct inflate_state *isal = &stream->isal;
    isal->next_out = stream->window + stream->filled;
    isal->avail_out = (uint32_t)(stream->capacity - stream->filled);
    while (!stream->is_broken) {
        // ISA-L has an own window, which may have some even if there is no more input.
        stream->is_broken = isal_inflate(isal) != ISAL_DECOMP_OK;
        if (isal->avail_out == 0 || is_at_end(stream)) break;
        if (isal->avail_in == 0 && !feed(stream)) break;
    }
    stream->filled = isal->next_out - stream->window;
}

const uint8_t *inflate_take(inflate_stream *stream, size_t size) {
    if (stream->filled - stream->taken < size) fill(stream);
    if (stream->is_late || stream->filled - stream->taken < size) return NULL;
    stream->taken += size;
    return stream->window + stream->taken - size;
}

bool inflate_ends(inflate_stream *stream) {
    // There may be blocks without contents, and there is the checksum.
    if (stream->filled == stream->taken) fill(stream);
    return stream->filled == stream->taken && is_at_end(stream) && !stream->is_broken;
}

cpng_status cpng_inflate(const uint8_t *bytes, size_t size, uint8_t *out, size_t *out_size) {
    if (size > UINT32_MAX || *out_size > UINT32_MAX) return CPNG_UNSUPPORTED;
    struct inflate_state *isal = malloc(sizeof *isal);
    if (isal == NULL) return CPNG_OUT_OF_MEMORY;
    isal_inflate_init(isal);
    isal->crc_flag = ISAL_ZLIB;
    isal->next_in = (uint8_t *)bytes;
    isal->avail_in = (uint32_t)size;
    isal->next_out = out;
    isal->avail_out = (uint32_t)*out_size;
    bool is_whole = isal_inflate_stateless(isal) == ISAL_DECOMP_OK;
    *out_size -= isal->avail_out;
    free(isal);
    return is_whole ? CPNG_OK : CPNG_DAMAGED;
}
