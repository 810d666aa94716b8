#include "CColors.h"
#include <lcms2.h>
#include <stdlib.h>

struct ccolors_conversion {
    cmsHTRANSFORM transform;
    bool identity;
};

// The curve of sRGB (IEC 61966-2-1).
static cmsToneCurve *srgb_curve(void) {
    const cmsFloat64Number parameters[5] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    return cmsBuildParametricToneCurve(NULL, 4, parameters);
}

// ISO 15076-1 requires D50.
static cmsHPROFILE gray_profile(cmsToneCurve *curve) {
    return curve ? cmsCreateGrayProfile(cmsD50_xyY(), curve) : NULL;
}

static cmsHPROFILE target_profile(int channels) {
    if (channels != 1) return cmsCreate_sRGBProfile();
    cmsToneCurve *curve = srgb_curve();
    cmsHPROFILE profile = gray_profile(curve);
    if (curve) cmsFreeToneCurve(curve);
    return profile;
}

static uint32_t pixel_type(int channels, bool has_alpha) {
    uint32_t extra = EXTRA_SH(has_alpha ? 1 : 0) | BYTES_SH(1);
    switch (channels) {
    case 1: return COLORSPACE_SH(PT_GRAY) | CHANNELS_SH(1) | extra;
    case 3: return COLORSPACE_SH(PT_RGB) | CHANNELS_SH(3) | extra;
    default: return COLORSPACE_SH(PT_CMYK) | CHANNELS_SH(4) | extra;
    }
}

// Whether a coarse grid of colours stays the same, with a tolerance of one.
static bool is_identity(cmsHTRANSFORM transform, int channels) {
    if (channels == 4) return false;
    int steps = channels == 1 ? 52 : 6;
    int count = channels == 1 ? steps : steps * steps * steps;
    for (int i = 0; i < count; i++) {
        uint8_t from[4] = {0}, to[4] = {0};
        for (int c = 0, rest = i; c < channels; c++, rest /= steps) from[c] = (uint8_t)(rest % steps * (255 / (steps - 1)));
        cmsDoTransform(transform, from, to, 1);
        for (int c = 0; c < channels; c++)
            if (abs(from[c] - to[c]) > 1) return false;
    }
    return true;
}

// Closes both profiles.
static ccolors_conversion *conversion_between(cmsHPROFILE source, cmsHPROFILE target, int channels, bool has_alpha) {
    ccolors_conversion *conversion = NULL;
    cmsHTRANSFORM transform = NULL;
    if (source && target) {
        // Without the one-pixel cache a transform has no mutable state, so threads may share it.
        uint32_t flags = cmsFLAGS_NOCACHE | cmsFLAGS_BLACKPOINTCOMPENSATION | (has_alpha ? cmsFLAGS_COPY_ALPHA : 0);
        transform = cmsCreateTransform(
            source, pixel_type(channels, has_alpha), target, pixel_type(channels == 1 ? 1 : 3, has_alpha),
            INTENT_RELATIVE_COLORIMETRIC, flags);
    }
    if (transform && (conversion = malloc(sizeof *conversion))) {
        conversion->transform = transform;
        conversion->identity = is_identity(transform, channels);
    } else if (transform) {
        cmsDeleteTransform(transform);
    }
    if (source) cmsCloseProfile(source);
    if (target) cmsCloseProfile(target);
    return conversion;
}

static ccolors_conversion *conversion_from(cmsHPROFILE source, int channels, bool has_alpha) {
    return conversion_between(source, source ? target_profile(channels) : NULL, channels, has_alpha);
}

ccolors_conversion *ccolors_to_icc(const uint8_t *profile, size_t length) {
    if (length > UINT32_MAX) return NULL;
    cmsHPROFILE target = cmsOpenProfileFromMem(profile, (uint32_t)length);
    if (!target) return NULL;
    if (cmsGetColorSpace(target) != cmsSigRgbData) {
        cmsCloseProfile(target);
        return NULL;
    }
    return conversion_between(cmsCreate_sRGBProfile(), target, 3, true);
}

ccolors_conversion *ccolors_from_icc(const uint8_t *profile, size_t length, int channels, bool has_alpha) {
    if (length > UINT32_MAX) return NULL;
    cmsHPROFILE source = cmsOpenProfileFromMem(profile, (uint32_t)length);
    if (!source) return NULL;
    cmsColorSpaceSignature space = cmsGetColorSpace(source);
    cmsColorSpaceSignature wanted = channels == 1 ? cmsSigGrayData : channels == 3 ? cmsSigRgbData : cmsSigCmykData;
    if (space != wanted) {
        cmsCloseProfile(source);
        return NULL;
    }
    return conversion_from(source, channels, has_alpha);
}

ccolors_conversion *ccolors_from_gamma(double gamma, const double *xy, int channels, bool has_alpha) {
    cmsToneCurve *curve = gamma == 0 ? srgb_curve() : cmsBuildGamma(NULL, gamma);
    if (!curve) return NULL;
    cmsHPROFILE source;
    if (channels == 1) {
        source = gray_profile(curve);
    } else {
        cmsCIExyY white = {0.3127, 0.3290, 1};
        cmsCIExyYTRIPLE primaries = {{0.64, 0.33, 1}, {0.30, 0.60, 1}, {0.15, 0.06, 1}};
        if (xy) {
            white = (cmsCIExyY){xy[0], xy[1], 1};
            primaries = (cmsCIExyYTRIPLE){{xy[2], xy[3], 1}, {xy[4], xy[5], 1}, {xy[6], xy[7], 1}};
        }
        cmsToneCurve *curves[3] = {curve, curve, curve};
        source = cmsCreateRGBProfile(&white, &primaries, curves);
    }
    cmsFreeToneCurve(curve);
    return conversion_from(source, channels, has_alpha);
}

bool ccolors_is_identity(const ccolors_conversion *conversion) { return conversion->identity; }

void ccolors_apply(const ccolors_conversion *conversion, const uint8_t *from, uint8_t *to, int pixels) {
    cmsDoTransform(conversion->transform, from, to, (uint32_t)pixels);
}

void ccolors_free(ccolors_conversion *conversion) {
    cmsDeleteTransform(conversion->transform);
    free(conversion);
}
