#pragma once

// libjpeg-turbo's own interface, which reports errors by its return value: nothing here needs setjmp.
#include <turbojpeg.h>
