/* The CUDA version of the driver, which sim.mk makes one of for each version it links. */
#include "sim.h"

const int sim_version = SIM_VERSION;
