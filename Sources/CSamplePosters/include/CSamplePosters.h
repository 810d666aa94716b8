#pragma once

#include <stddef.h>

/// A poster of the sample source as JPEG.
struct csample_poster {
    const unsigned char *bytes;
    size_t count;
};

/// The poster of the film with this number, from 1; without bytes if there is none.
struct csample_poster csample_poster(size_t number);
