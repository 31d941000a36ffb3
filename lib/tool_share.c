/* Reads closing lines; their making is gmod_summary_text() and gmod_summary_json() in monitor/. */
#include "lib/tool_share.h"
#include "lib/tool.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

#define UNIT_COUNT (sizeof(units) / sizeof(units[0]))

/* "46.8 KiB" at text, in bytes. */
static bool read_size(const char *text, double *bytes)
{
	char *end;
	double scale = 1;
	double number = strtod(text, &end);

	if (end == text || *end++ != ' ')
		return false;
	size_t length = strspn(end, "BKMGTPEi");
	for (size_t i = 0; i < UNIT_COUNT; i++, scale *= 1024) {
		if (strlen(units[i]) != length || strncmp(end, units[i], length) != 0)
			continue;
		*bytes = number * scale;
		return true;
	}
	return false;
}

/* The size behind the last of these words that is found behind the one before it. */
static bool size_behind(const char *text, const char *const words[], double *bytes)
{
	for (; *words; words++) {
		text = strstr(text, *words);
		if (!text)
			return false;
		text += strlen(*words);
	}
	return read_size(text, bytes);
}

static bool number_of(const char *line, const char *key, double *number)
{
	const char *at = strstr(line, key);
	char *end;

	if (!at)
		return false;
	at += strlen(key);
	*number = strtod(at, &end);
	return end > at;
}

/* "==4242==GMOD: guarded 3 of 3 buffers, 11.7 KiB of 11.7 KiB device memory (100.0 %); ... not covered (1.0 MiB)" */
static bool read_text(const char *line, double *guarded, double *handed_out)
{
	double uncovered = 0;

	if (strncmp(line, "==", 2) != 0 || !strstr(line, "==GMOD: guarded ") ||
	    !size_behind(line, (const char *const[]){"==GMOD: guarded ", " buffer", ", ", NULL}, guarded) ||
	    !size_behind(line, (const char *const[]){" buffer", ", ", " of ", NULL}, handed_out))
		return false;
	if (size_behind(line, (const char *const[]){"not covered (", NULL}, &uncovered))
		*handed_out += uncovered;
	return true;
}

/* The "event":"summary" object; its keys are numbers. */
static bool read_json(const char *line, double *guarded, double *handed_out)
{
	double unprotected, uncovered;

	if (*line != '{' || !strstr(line, "\"event\":\"summary\"") || !number_of(line, "\"bytes_guarded\":", guarded) ||
	    !number_of(line, "\"bytes_unprotected\":", &unprotected) ||
	    !number_of(line, "\"bytes_uncovered\":", &uncovered))
		return false;
	*handed_out = *guarded + unprotected + uncovered;
	return true;
}

void share_add_line(struct share *share, const char *line)
{
	double guarded, handed_out;

	if (!read_text(line, &guarded, &handed_out) && !read_json(line, &guarded, &handed_out))
		return;
	share->guarded += guarded;
	share->handed_out += handed_out;
	share->processes++;
}

static const char *write_size(double bytes, char *text, size_t size)
{
	size_t unit = 0;

	for (; bytes >= 1024 && unit + 1 < UNIT_COUNT; unit++)
		bytes /= 1024;
	snprintf(text, size, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
	return text;
}

void share_say(const struct share *share, unsigned verbosity)
{
	char guarded[32], handed_out[32];

	if (share->processes == 0 && verbosity == 0)
		tool_say("how much was guarded is not known: the closing summary is off (verbosity=0)");
	else if (share->processes == 0)
		tool_say(
		    "how much was guarded is not known: no process of the job ended with a summary; either none used "
		    "CUDA, or they were killed");
	else if (share->handed_out == 0)
		tool_say("the job asked for no device memory");
	else
		tool_say("%.1f %% of the job's device memory was guarded (%s of %s, in %u process%s)",
			 100 * share->guarded / share->handed_out, write_size(share->guarded, guarded, sizeof(guarded)),
			 write_size(share->handed_out, handed_out, sizeof(handed_out)), share->processes,
			 share->processes == 1 ? "" : "es");
}
