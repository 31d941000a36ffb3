/* SIM_FAIL makes chosen calls fail, SIM_SIGNAL and SIM_STALL disturb them, SIM_TRACE writes down every call. */
#include "sim.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_RULES 32

enum what { FAIL, SIGNAL, STALL };

struct rule {
	enum what what;
	char symbol[64];
	long first, last; /* of the calls, from 1 */
	int number;       /* FAIL: the code, 0: the usual one; STALL: milliseconds */
	long calls;
};

bool sim_watched;

static struct rule rules[MAX_RULES];
static int rule_count;
static int trace_fd = -1;

static void rule_parse(enum what what, char *text)
{
	struct rule *rule = &rules[rule_count];
	char *rest, *symbol = strtok_r(text, ":", &rest), *nth = strtok_r(NULL, ":", &rest),
		    *number = strtok_r(NULL, ":", &rest);

	if (!nth || rule_count == MAX_RULES) {
		fprintf(stderr, "simulated driver: NAME:N is wanted in SIM_FAIL and its kin, at most %d in all\n",
			MAX_RULES);
		return;
	}
	rule->what = what;
	snprintf(rule->symbol, sizeof(rule->symbol), "%s", symbol);
	rule->first = strcmp(nth, "*") ? atol(nth) : 1;
	rule->last = strcmp(nth, "*") ? rule->first : LONG_MAX;
	if (strchr(nth, '-'))
		rule->last = atol(strchr(nth, '-') + 1);
	rule->number = number ? atoi(number) : 0;
	rule_count++;
}

static void rules_parse(enum what what, const char *value)
{
	char *copy = strdup(value ? value : ""), *rest, *text;

	for (text = strtok_r(copy, ",", &rest); text; text = strtok_r(NULL, ",", &rest))
		rule_parse(what, text);
	free(copy);
}

static void __attribute__((constructor)) inject_init(void)
{
	const char *trace = getenv("SIM_TRACE");

	rules_parse(FAIL, getenv("SIM_FAIL"));
	rules_parse(SIGNAL, getenv("SIM_SIGNAL"));
	rules_parse(STALL, getenv("SIM_STALL"));
	if (trace)
		trace_fd = open(trace, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	sim_watched = rule_count > 0 || trace_fd >= 0;
}

static CUresult usual_code(const char *symbol)
{
	bool allocates = strstr(symbol, "Alloc") || !strcmp(symbol, "cuMemCreate") || strstr(symbol, "ArrayCreate");

	return allocates ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_UNKNOWN;
}

/* The rule of that kind that says something about this call, which is counted. */
static const struct rule *rule_for(enum what what, const char *symbol)
{
	for (int i = 0; i < rule_count; i++) {
		struct rule *rule = &rules[i];
		long call;

		if (rule->what != what || strcmp(rule->symbol, symbol))
			continue;
		call = __atomic_add_fetch(&rule->calls, 1, __ATOMIC_RELAXED);
		if (call >= rule->first && call <= rule->last)
			return rule;
	}
	return NULL;
}

CUresult inject_failure(const char *symbol)
{
	const struct rule *rule = rule_for(FAIL, symbol);

	if (!rule)
		return CUDA_SUCCESS;
	return rule->number ? (CUresult)rule->number : usual_code(symbol);
}

bool inject_may_stall(const char *symbol)
{
	for (int i = 0; i < rule_count; i++)
		if (rules[i].what == STALL && !strcmp(rules[i].symbol, symbol))
			return true;
	return false;
}

void inject_stall(const char *symbol)
{
	const struct rule *rule = rule_for(STALL, symbol);
	struct timespec t;

	if (!rule)
		return;
	t = (struct timespec){rule->number / 1000, rule->number % 1000 * 1000000L};
	while (nanosleep(&t, &t))
		;
}

void inject_signal(const char *symbol)
{
	if (rule_for(SIGNAL, symbol))
		raise(SIGALRM);
}

void trace_call(const struct call *call, CUresult result)
{
	char line[256];
	const char *module = "?", *slash;
	Dl_info info;
	int n;

	if (trace_fd < 0)
		return;
	if (dladdr(call->caller, &info) && info.dli_fname) {
		slash = strrchr(info.dli_fname, '/');
		module = slash ? slash + 1 : info.dli_fname;
	}
	n = snprintf(line, sizeof(line), "%s %d %s\n", call->symbol, (int)result, module);
	if (n > 0 && write(trace_fd, line, n < (int)sizeof(line) ? n : (int)sizeof(line) - 1) < 0)
		return; /* a trace that cannot be written is no reason to fail a call */
}
