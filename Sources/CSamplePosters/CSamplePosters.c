#include "CSamplePosters.h"

// The files belong to a Swift target, which cannot embed data. The compiler embeds each unchanged here.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char poster_1[] = {
#embed "Posters/1.jpg"
};
static const unsigned char poster_2[] = {
#embed "Posters/2.jpg"
};
static const unsigned char poster_3[] = {
#embed "Posters/3.jpg"
};
static const unsigned char poster_4[] = {
#embed "Posters/4.jpg"
};
static const unsigned char poster_5[] = {
#embed "Posters/5.jpg"
};
static const unsigned char poster_6[] = {
#embed "Posters/6.jpg"
};
static const unsigned char poster_7[] = {
#embed "Posters/7.jpg"
};
static const unsigned char poster_8[] = {
#embed "Posters/8.jpg"
};
static const unsigned char poster_9[] = {
#embed "Posters/9.jpg"
};
static const unsigned char poster_10[] = {
#embed "Posters/10.jpg"
};
static const unsigned char poster_11[] = {
#embed "Posters/11.jpg"
};
static const unsigned char poster_12[] = {
#embed "Posters/12.jpg"
};
static const unsigned char poster_13[] = {
#embed "Posters/13.jpg"
};
static const unsigned char poster_14[] = {
#embed "Posters/14.jpg"
};
static const unsigned char poster_15[] = {
#embed "Posters/15.jpg"
};
static const unsigned char poster_16[] = {
#embed "Posters/16.jpg"
};
static const unsigned char poster_17[] = {
#embed "Posters/17.jpg"
};
static const unsigned char poster_18[] = {
#embed "Posters/18.jpg"
};
static const unsigned char poster_19[] = {
#embed "Posters/19.jpg"
};
static const unsigned char poster_20[] = {
#embed "Posters/20.jpg"
};
static const unsigned char poster_21[] = {
#embed "Posters/21.jpg"
};
static const unsigned char poster_22[] = {
#embed "Posters/22.jpg"
};
static const unsigned char poster_23[] = {
#embed "Posters/23.jpg"
};
static const unsigned char poster_24[] = {
#embed "Posters/24.jpg"
};

#define POSTER(number) {poster_##number, sizeof poster_##number}

static const struct csample_poster posters[] = {
    POSTER(1), POSTER(2), POSTER(3), POSTER(4), POSTER(5), POSTER(6),
    POSTER(7), POSTER(8), POSTER(9), POSTER(10), POSTER(11), POSTER(12),
    POSTER(13), POSTER(14), POSTER(15), POSTER(16), POSTER(17), POSTER(18),
    POSTER(19), POSTER(20), POSTER(21), POSTER(22), POSTER(23), POSTER(24),
};

struct csample_poster csample_poster(size_t number) {
    struct csample_poster none = {0};
    return number >= 1 && number <= sizeof posters / sizeof *posters ? posters[number - 1] : none;
}
