// The part of Little CMS that Onesheet uses: conversion from a picture's colours to sRGB, and of what is drawn on a picture to its colours.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ccolors_conversion ccolors_conversion;

/// From an ICC profile to sRGB. `channels` is 1 (gray to gray), 3 (RGB) or 4 (CMYK with 255 as full ink, to RGB). NULL if the
/// profile is damaged or describes other pixels.
ccolors_conversion *ccolors_from_icc(const uint8_t *profile, size_t length, int channels, bool has_alpha);

/// From a power curve, or that of sRGB if `gamma` is 0, and primaries (CIE xy: white, red, green, blue; NULL selects those of sRGB).
ccolors_conversion *ccolors_from_gamma(double gamma, const double *chromaticities, int channels, bool has_alpha);

/// From sRGB with alpha to an ICC profile of RGB. NULL if the profile is damaged, describes other pixels, or cannot be a target.
ccolors_conversion *ccolors_to_icc(const uint8_t *profile, size_t length);

/// Whether it changes no 8-bit value.
bool ccolors_is_identity(const ccolors_conversion *conversion);

/// Thread-safe. `from` and `to` may be equal if the number of channels is.
void ccolors_apply(const ccolors_conversion *conversion, const uint8_t *from, uint8_t *to, int pixels);

void ccolors_free(ccolors_conversion *conversion);
