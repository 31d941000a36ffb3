/* For programs whose reports go to report.log (log_path) in their working directory: they read it while they run. */
#pragma once

#include "testkit.h"

/* 1 as soon as the log holds text so many times, 0 if it does not within ms milliseconds. */
static TK_UNUSED int wait_for_reports(const char *text, int times, int ms)
{
	static char log[1 << 20];
	double end = tk_ms() + ms + 0.001;

	while (tk_ms() < end) {
		FILE *f = fopen("report.log", "r");
		int found = 0;

		if (f) {
			log[fread(log, 1, sizeof(log) - 1, f)] = 0;
			fclose(f);
			for (const char *at = log; (at = strstr(at, text)); at++)
				found++;
			if (found >= times)
				return 1;
		}
		tk_sleep_ms(2);
	}
	return 0;
}

/* ... once. */
static TK_UNUSED int wait_for_report(const char *text, int ms)
{
	return wait_for_reports(text, 1, ms);
}
