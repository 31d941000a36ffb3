/* SIM_FAIL makes chosen calls fail, SIM_TRACE writes down every call. */
#include "sim.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_RULES 32

struct rule {
	char symbol[64];
	long nth; /* 0: every call */
	int code; /* 0: the usual one */
	long calls;
};

bool sim_watched;

static struct rule rules[MAX_RULES];
static int rule_count;
static int trace_fd = -1;

static void rule_parse(char *text)
{
	struct rule *rule = &rules[rule_count];
	char *rest, *symbol = strtok_r(text, ":", &rest), *nth = strtok_r(NULL, ":", &rest),
		    *code = strtok_r(NULL, ":", &rest);

	if (!nth || rule_count == MAX_RULES) {
		fprintf(stderr, "simulated driver: SIM_FAIL wants NAME:N[:CODE], at most %d of them\n", MAX_RULES);
		return;
	}
	snprintf(rule->symbol, sizeof(rule->symbol), "%s", symbol);
	rule->nth = strcmp(nth, "*") ? atol(nth) : 0;
	rule->code = code ? atoi(code) : 0;
	rule_count++;
}

static void rules_parse(const char *value)
{
	char *copy = strdup(value), *rest, *text;

	for (text = strtok_r(copy, ",", &rest); text; text = strtok_r(NULL, ",", &rest))
		rule_parse(text);
	free(copy);
}

static void __attribute__((constructor)) inject_init(void)
{
	const char *fail = getenv("SIM_FAIL"), *trace = getenv("SIM_TRACE");

	if (fail)
		rules_parse(fail);
	if (trace)
		trace_fd = open(trace, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	sim_watched = rule_count > 0 || trace_fd >= 0;
}

static CUresult usual_code(const char *symbol)
{
	bool allocates = strstr(symbol, "Alloc") || !strcmp(symbol, "cuMemCreate") || strstr(symbol, "ArrayCreate");

	return allocates ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_UNKNOWN;
}

CUresult inject_failure(const char *symbol)
{
	for (int i = 0; i < rule_count; i++) {
		struct rule *rule = &rules[i];

		if (strcmp(rule->symbol, symbol))
			continue;
		if (rule->nth && __atomic_add_fetch(&rule->calls, 1, __ATOMIC_RELAXED) != rule->nth)
			continue;
		return rule->code ? (CUresult)rule->code : usual_code(symbol);
	}
	return CUDA_SUCCESS;
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
