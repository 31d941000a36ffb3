/* Which findings are printed, and which only counted: once an id, so many a site, so many altogether. */
#ifndef GMOD_MONITOR_REPORT_LIMITS_H
#define GMOD_MONITOR_REPORT_LIMITS_H

#include "monitor/registry/finding.h"

#define GMOD_REPORTS_PER_SITE 10

/* Set the counts to zero; the ids and sites seen stay known. */
void gmod_limits_init(unsigned max_reports);

/*
 * What became of a finding id:
 *
 *   NEW --provisional--> CLAIMED --judged--> SHOWN | COUNTED | SUPPRESSED --final--> DONE
 *    `----------------------`------------------------final--------------------------^
 *
 * The final report may come from another thread while the provisional one is still being made; it then overtakes it,
 * and the provisional one, which finds its claim gone, is not printed.
 */
enum gmod_fate { GMOD_NEW, GMOD_CLAIMED, GMOD_SHOWN, GMOD_COUNTED, GMOD_SUPPRESSED, GMOD_DONE };

struct gmod_site;

/*
 * What is to be done about a finding: NEW: make the report, and ask gmod_limits_admit(). SHOWN: make the report, its
 * provisional one was shown. COUNTED, SUPPRESSED: judged already. DONE: nothing, not even count it.
 * Ids past the table are not remembered: no provisional reports, each final one is taken for the only one.
 * *site: its place among the sites; NULL: no stack, or the table is full, so there is no limit.
 */
enum gmod_fate gmod_limits_enter(const struct gmod_finding *f, struct gmod_site **site);

/* What becomes of a NEW one: SUPPRESSED if it is, as all of its site are from then on if that is by its frames. */
enum gmod_fate gmod_limits_admit(struct gmod_site *site, bool suppressed, bool by_frames);

/* Record a first judgement. False: a provisional report was overtaken by its final one. */
bool gmod_limits_settle(const struct gmod_finding *f, enum gmod_fate fate, struct gmod_site *site);

/* Say in one line what was counted instead of printed since this was last said; nothing if nothing was. */
void gmod_report_end(void);

#endif
