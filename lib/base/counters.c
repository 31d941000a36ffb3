#include "lib/base/counters.h"

struct gmod_counters gmod_counters;
