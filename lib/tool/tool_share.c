/* Reads closing lines; their making is gmod_summary_text() and gmod_summary_json() in monitor/. */
#include "lib/tool/tool_share.h"
#include "lib/tool/tool.h"

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

/* What one closing line says; permille counts only where memory was handed out. */
struct closing {
	double guarded, handed_out, permille;
};

/* "==4242==GMOD: guarded 3 of 3 buffers, 11.7 KiB of 11.7 KiB device memory (100.0 %); ..." or "no device buffers;" */
static bool read_text(const char *line, struct closing *c)
{
	if (strncmp(line, "==", 2) != 0)
		return false;
	if (strstr(line, "==GMOD: no device buffers;"))
		return true;
	if (!size_behind(line, (const char *const[]){"==GMOD: guarded ", " buffer", ", ", NULL}, &c->guarded) ||
	    !size_behind(line, (const char *const[]){" buffer", ", ", " of ", NULL}, &c->handed_out) ||
	    !number_of(line, " device memory (", &c->permille))
		return false;
	c->permille = c->permille * 10 + 0.5; /* the digit behind the point is exact but for the last bits */
	return true;
}

enum key {
#define GMOD_COUNTER(name, key, clause) GMOD_KEY_##name,
#include "lib/base/counters.def"
};

static bool counted(const char *line, enum key key, double *number)
{
	static const char *const quoted[] = {
#define GMOD_COUNTER(name, key, clause) "\"" key "\":",
#include "lib/base/counters.def"
	};

	return number_of(line, quoted[key], number);
}

/* The "event":"summary" object; its keys are numbers. */
static bool read_json(const char *line, struct closing *c)
{
	double fallback, unsupported;

	if (*line != '{' || !strstr(line, "\"event\":\"summary\"") ||
	    !counted(line, GMOD_KEY_guarded_bytes, &c->guarded) || !counted(line, GMOD_KEY_fallback_bytes, &fallback) ||
	    !counted(line, GMOD_KEY_unsupported_bytes, &unsupported))
		return false;
	c->handed_out = c->guarded + fallback + unsupported;
	return c->handed_out == 0 || number_of(line, "\"guarded_permille\":", &c->permille);
}

/* A log may hold anything. */
static bool makes_sense(const struct closing *c)
{
	return c->guarded >= 0 && c->guarded <= c->handed_out && c->handed_out < 1e30 && c->permille >= 0 &&
	       c->permille < 1001;
}

void share_add_line(struct share *share, const char *line)
{
	struct closing c = {0};

	if ((!read_text(line, &c) && !read_json(line, &c)) || !makes_sense(&c))
		return;
	share->processes++;
	if (c.handed_out == 0)
		return;
	share->guarded += c.guarded;
	share->handed_out += c.handed_out;
	share->permille = (unsigned)c.permille;
	share->partly |= share->permille < 1000;
	share->sharers++;
}

/* Rounded down, as in the closing lines, so that 100.0 % is said only of everything. */
static unsigned permille(const struct share *share)
{
	unsigned sum = (unsigned)(1000 * share->guarded / share->handed_out);

	if (share->sharers == 1)
		return share->permille;
	return share->partly && sum == 1000 ? 999 : sum;
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
		tool_say("%u.%u %% of the job's device memory was guarded (%s of %s, in %u process%s)",
			 permille(share) / 10, permille(share) % 10,
			 write_size(share->guarded, guarded, sizeof(guarded)),
			 write_size(share->handed_out, handed_out, sizeof(handed_out)), share->processes,
			 share->processes == 1 ? "" : "es");
}
