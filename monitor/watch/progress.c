#include "monitor/watch/progress.h"

__thread bool gmod_is_monitor;
_Atomic unsigned gmod_progress;
