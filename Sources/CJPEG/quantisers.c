#include "blocks.h"

// Each product and each sum is rounded alone, so that all processors compute the same.
#pragma STDC FP_CONTRACT OFF

// A thousand steps of luma for a scale of 1. They rise evenly with the frequency, and far less than those of the standard's example. The
// matrix, CHROMA and LEAST were found by search: few bytes at equal SSIMULACRA2, and at equal SSIM of luma no more than before. With the
// fewest at equal SSIMULACRA2, chroma would have the steps of luma.
static const uint8_t base[DCTSIZE2] = {
    17, 26, 45, 59, 71, 83, 94, 105,
    26, 36, 48, 61, 73, 84, 95, 105,
    45, 48, 57, 66, 77, 87, 97, 108,
    59, 61, 66, 74, 83, 92, 102, 111,
    71, 73, 77, 83, 90, 98, 107, 116,
    83, 84, 87, 92, 98, 105, 113, 121,
    94, 95, 97, 102, 107, 113, 120, 127,
    105, 105, 108, 111, 116, 121, 127, 134,
};

// Steps of chroma for five steps of luma.
#define CHROMA 7

// The part of a step from which on a coefficient of luma counts. Rounding begins at a half, but a lone coefficient costs
// more bits than its error is worth.
#define LEAST 0.6f

// The scales of qualities: with them the mean score of pictures is that of libjpeg's quality of the same number.
static const struct {
    int quality, scale;
} scales[] = {
    {1, 9900}, {10, 2967}, {20, 1320}, {30, 834}, {40, 624}, {50, 496}, {60, 432}, {70, 333},
    {75, 290}, {80, 224}, {85, 172}, {90, 118}, {95, 62}, {98, 26}, {100, 4},
};

// The scales of the transform's results, beside a factor of 8: 1, then the cosine of k ÷ 16 of a half turn, by the root of 2.
static const double results[DCTSIZE] = {
    1, 1.387039845322148, 1.306562964876377, 1.175875602419359, 1, 0.785694958387102, 0.541196100146197, 0.275899379282943,
};

static int scale_of(int quality) {
    int i = 1, last = (int)(sizeof scales / sizeof *scales) - 1;
    while (i < last && scales[i].quality < quality) i++;
    int span = scales[i].quality - scales[i - 1].quality, above = quality - scales[i - 1].quality;
    return scales[i - 1].scale + (scales[i].scale - scales[i - 1].scale) * above / span;
}

static void make(cjpeg_quantiser *quantiser, int scale, float least) {
    for (int i = 0; i < DCTSIZE2; i++) {
        int step = (base[i] * scale + 500) / 1000;
        step = step < 1 ? 1 : step > 255 ? 255 : step;
        quantiser->steps[i] = (unsigned)step;
        quantiser->units[i] = (float)(1 / (results[i / DCTSIZE] * results[i % DCTSIZE] * 8 * step));
        quantiser->least[i] = i ? least : 0;
    }
}

void cjpeg_quantisers_make(int quality, cjpeg_quantiser *luma, cjpeg_quantiser *chroma) {
    int scale = scale_of(quality);
    make(luma, scale, LEAST);
    make(chroma, scale * CHROMA / 5, 0);
}
