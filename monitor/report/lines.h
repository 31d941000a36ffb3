/*
 * Source lines for the frames of a report, by llvm-symbolizer or addr2line, whichever is there. By the thread that
 * tells alone, which may wait for the tool (lib/base/child.h).
 */
#ifndef GMOD_MONITOR_REPORT_LINES_H
#define GMOD_MONITOR_REPORT_LINES_H

#include "monitor/report/view.h"

/* Ask for the lines of the frames that are shown. false: there will be none; the first time it is said why. */
bool gmod_lines_ask(struct gmod_report_view *v);

/* Have they come, as far as there are any? Until then *v stays, or nobody asks this any more. */
bool gmod_lines_end(void);

/* Is the tool there still, which nobody waits for any more? */
bool gmod_lines_linger(void);

#endif
