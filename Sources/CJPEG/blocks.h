// Blocks of coefficients for the writer: the quantisers of a quality, and the transform that they end.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <jpeglib.h>

/// One component's steps, in rows from the lowest frequency on.
typedef struct {
    /// What the file says.
    unsigned steps[DCTSIZE2];
    /// 1 / step, with the scale of the transform's results.
    float units[DCTSIZE2];
    /// The least part of a step that is not rounded to 0.
    float least[DCTSIZE2];
} cjpeg_quantiser;

/// The quantisers of luma and of chroma for a quality from 1 to 100.
void cjpeg_quantisers_make(int quality, cjpeg_quantiser *luma, cjpeg_quantiser *chroma);
/// Replaces the Huffman tables of the standard by those that fit the quantisers. The library writes them into the file.
void cjpeg_codes_install(j_compress_ptr codec);
/// Transforms and quantises a row of blocks: eight rows of samples, `count` × 8 in each.
/// - portable: only for tests, no wider vectors than those that every processor has.
void cjpeg_quantise(const cjpeg_quantiser *by, const JSAMPROW *rows, int count, JBLOCKROW blocks, bool portable);
