#include <stddef.h>

/// A file of the page from Sources/OnesheetConsole/Assets.
struct cconsole_asset {
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

/// The file at `index`, from 0; a null name after the last one.
struct cconsole_asset cconsole_asset(size_t index);
