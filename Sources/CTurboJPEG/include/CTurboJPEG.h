#pragma once

// libjpeg-turbo's own interface, which returns errors and needs no setjmp.
#include <turbojpeg.h>
