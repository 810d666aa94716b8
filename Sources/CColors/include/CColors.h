// The part of Little CMS that Onesheet uses: from a picture's colours to sRGB.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ccolors_conversion ccolors_conversion;

/// From the colours of an ICC profile to sRGB. `channels` is 1 (gray to gray), 3 (RGB) or 4 (CMYK, 255 being full ink, to RGB).
/// NULL where the profile is broken or describes pixels of another kind.
ccolors_conversion *ccolors_from_icc(const uint8_t *profile, size_t length, int channels, bool has_alpha);

/// From a pure power and primaries (CIE xy: white, red, green, blue; NULL are sRGB's).
ccolors_conversion *ccolors_from_gamma(double gamma, const double *chromaticities, int channels, bool has_alpha);

/// Whether it changes nothing that eight bits show.
bool ccolors_is_identity(const ccolors_conversion *conversion);

/// May be called from several threads at once. `from` and `to` may be the same where the number of channels is.
void ccolors_apply(const ccolors_conversion *conversion, const uint8_t *from, uint8_t *to, int pixels);

void ccolors_free(ccolors_conversion *conversion);
