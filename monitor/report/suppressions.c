#include "monitor/report/suppressions.h"

#include <errno.h>
#include <string.h>

#include "lib/base/file.h"
#include "lib/base/text.h"
#include "lib/base/log.h"

#define RULES_MAX 512
#define RULES_BYTES 65536

/* Hide findings of this class (GMOD_CLASS_COUNT: any) where a frame matches, or all suspects do: for each pattern. */
struct rule {
	unsigned class;
	const char *pattern, *second; /* NULL: the line has one only */
	bool used;
};

/* Written by gmod_suppressions_load(), and whether a rule is used by whoever tells a finding. */
static struct {
	unsigned count;
	struct rule rule[RULES_MAX];
	char text[RULES_BYTES];
} rules;

static bool is_word(const char *s, size_t n, const char *word)
{
	return strncmp(s, word, n) == 0 && word[n] == '\0';
}

static char *trim(char *line)
{
	char *end;

	line += strspn(line, " \t");
	for (end = line + strlen(line); end > line && strchr(" \t\r", end[-1]); end--)
		;
	*end = '\0';
	return line;
}

/* Cut off "PATTERN && PATTERN" behind the first one; NULL: there is one only. */
static char *take_second(char *pattern)
{
	char *cut = strstr(pattern, " && ");

	if (!cut)
		return NULL;
	*cut = '\0';
	return trim(cut + strlen(" && "));
}

/* "CLASS:PATTERN" or "CLASS:PATTERN && PATTERN", blanks around each; the line itself has none around it. */
static bool take_rule(char *line)
{
	size_t n = strcspn(line, ": \t");
	char *pattern = line + n + strspn(line + n, " \t"), *second;
	unsigned class = 0;

	if (*pattern++ != ':')
		return false;
	if (strncmp(line, "possible-", strlen("possible-")) == 0)
		return true; /* for gmod prove, which has classes of its own */
	second = take_second(pattern);
	pattern = trim(pattern);
	while (class < GMOD_CLASS_COUNT && !is_word(line, n, gmod_class_name(class)))
		class ++;
	if (!*pattern || (class == GMOD_CLASS_COUNT && !is_word(line, n, "*")))
		return false;
	if (rules.count < RULES_MAX)
		rules.rule[rules.count++] = (struct rule){class, pattern, second, false};
	return true;
}

static void take_rules(char *text, const char *path)
{
	unsigned number = 1;

	for (char *line = text, *next; line; line = next, number++) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		line = trim(line);
		if (*line && *line != '#' && !take_rule(line))
			gmod_log_note(0, "%s:%u: not a suppression (CLASS:PATTERN, CLASS as in a report or *): %.80s",
				      path, number, line);
	}
	if (rules.count == RULES_MAX)
		gmod_log_note(0, "%s: only the first %d suppressions are used", path, RULES_MAX);
}

void gmod_suppressions_load(const char *path)
{
	ssize_t n;

	rules.count = 0;
	if (!path[0])
		return;
	n = gmod_read_file(path, rules.text, sizeof(rules.text));
	if (n < 0) {
		gmod_log_note(0, "cannot read the suppressions file %s: %s; nothing is suppressed", path,
			      gmod_error_words(errno));
		return;
	}
	if (n == sizeof(rules.text)) {
		gmod_log_note(0, "%s: only the first %d bytes are read", path, RULES_BYTES - 1);
		n--;
	}
	rules.text[n] = '\0';
	take_rules(rules.text, path);
}

void gmod_suppressions_say_unused(void)
{
	static char unused[1024]; /* the caller may have little stack */
	struct gmod_text t;

	gmod_text_init(&t, unused, sizeof(unused));
	for (const struct rule *r = rules.rule; r < rules.rule + rules.count; r++) {
		if (r->used)
			continue;
		gmod_text_fmt(&t, "%s%s:", t.len ? ", " : "suppressions that covered nothing: ",
			      r->class == GMOD_CLASS_COUNT ? "*" : gmod_class_name(r->class));
		gmod_text_str(&t, r->pattern);
		if (r->second)
			gmod_text_fmt(&t, " && %s", r->second);
	}
	gmod_text_mark_cut(&t);
	if (t.len)
		gmod_log_note(1, "%s", unused);
}

/* Does the whole of s match? On a mismatch the last '*' takes one byte more, so no backtracking further than that. */
static bool glob(const char *pattern, const char *s)
{
	const char *star = NULL, *resume = s;

	while (*s) {
		if (*pattern == '*') {
			star = pattern++;
			resume = s;
		} else if (*pattern == *s) {
			pattern++;
			s++;
		} else if (star) {
			pattern = star + 1;
			s = ++resume;
		} else {
			return false;
		}
	}
	return pattern[strspn(pattern, "*")] == '\0';
}

static bool name_matches(const char *pattern, const char *name, const char *readable)
{
	return name && *name && (glob(pattern, name) || glob(pattern, readable));
}

static bool frames_match(const char *pattern, const struct gmod_frames *frames)
{
	for (uint32_t i = 0; i < frames->depth; i++) {
		const struct gmod_frame *f = &frames->frame[i];

		if (name_matches(pattern, f->symbol, f->function) || (f->module[0] && glob(pattern, f->module)))
			return true;
	}
	for (uint64_t i = 0; frames->python && i < frames->python->depth; i++)
		if (glob(pattern, frames->python->frame[i].function) || glob(pattern, frames->python->frame[i].file))
			return true;
	return false;
}

/* All of them, and none is missing from the list: any one may be the culprit. */
static bool suspects_match(const char *pattern, const struct gmod_report_view *v)
{
	const struct gmod_finding *f = v->finding;

	if (f->suspect_count == 0 || !gmod_has_all_suspects(f))
		return false;
	for (uint32_t i = 0; i < f->suspect_count; i++)
		if (!name_matches(pattern, f->suspect[i].name, v->suspect[i]))
			return false;
	return true;
}

static bool kernel_matches(const char *pattern, const struct gmod_fault_view *v)
{
	return name_matches(pattern, v->raw->kernel, v->kernel) || name_matches(pattern, v->raw->function, v->function);
}

static bool lines_match(const char *pattern, const struct gmod_fault_view *v)
{
	for (unsigned i = 0; v->raw && i < v->raw->lines; i++)
		if (name_matches(pattern, v->raw->at[i].function, v->line[i].function) ||
		    glob(pattern, v->line[i].file))
			return true;
	return false;
}

/* *in_site: the stack or the kernel that is the finding's site matches, or the site itself. */
static bool pattern_matches(const char *pattern, const struct gmod_report_view *v, bool *in_site)
{
	int site = gmod_site_is_call(v->finding) ? GMOD_CALLED : GMOD_ALLOCATED;
	bool matches;

	*in_site = glob(pattern, v->site) ||
		   (v->fault.raw ? kernel_matches(pattern, &v->fault) : frames_match(pattern, &v->stack[site]));
	matches = *in_site || suspects_match(pattern, v) || lines_match(pattern, &v->fault);
	for (int stack = 0; stack < GMOD_STACKS; stack++)
		matches |= frames_match(pattern, &v->stack[stack]);
	return matches;
}

static bool rule_matches(const struct rule *r, const struct gmod_report_view *v, bool *by_site)
{
	bool second_too = true;

	if ((r->class != GMOD_CLASS_COUNT && r->class != (unsigned)v->finding->class) ||
	    !pattern_matches(r->pattern, v, by_site) || (r->second && !pattern_matches(r->second, v, &second_too)))
		return false;
	*by_site &= second_too;
	return true;
}

bool gmod_is_suppressed(const struct gmod_report_view *v, bool *by_site)
{
	for (struct rule *r = rules.rule; r < rules.rule + rules.count; r++) {
		if (!rule_matches(r, v, by_site))
			continue;
		r->used = true;
		return true;
	}
	*by_site = false;
	return false;
}
