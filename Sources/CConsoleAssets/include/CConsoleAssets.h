#include <stddef.h>

/// One file of the page, as it lies in Sources/OnesheetConsole/Assets.
struct cconsole_asset {
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

/// The file at `index`, from 0; a null name behind the last one.
struct cconsole_asset cconsole_asset(size_t index);
