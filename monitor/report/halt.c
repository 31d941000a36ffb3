#include "monitor/report/halt.h"

#include "lib/base/real_exit.h"
#include "lib/base/facts.h"
#include "lib/life/start.h"
#include "monitor/report/report.h"

/* At once, from whichever thread found it: running exit handlers would let the damage spread, and could hang. */
void gmod_halt_if_asked(void)
{
	if (gmod_options()->halt_on_error && gmod_report_findings()) {
		gmod_say_the_last();
		gmod_real_exit((int)gmod_options()->exitcode);
	}
}
