/*
 * Findings on their way, where there is no thread to tell them: add() and tell_here() in monitor/report/report.c. Two
 * threads find one each, the second one later; who comes while the other one tells leaves it to that one.
 *
 *   good      a finding is told as it was added, and none is left
 *   broken    NOFENCE  no fence before a thread asks whether there is something
 *             ADDED    the count of what was added is stored with relaxed
 */
#include "weak.h"

struct report : rl::test_suite<report, 2> {
	shared added{1}, told{0}, telling{0}; /* the first thread has added its own */
	rl::var<unsigned> finding[2]{{7}, {0}};

	void add()
	{
		unsigned n = LOAD(added, mo_acquire);

		finding[n]($) = 7;
		STORE(added, n + 1, ORDER(release, ADDED, relaxed));
	}

	bool is_something_there()
	{
		if (!IS(NOFENCE))
			FENCE(mo_seq_cst);
		return LOAD(told, mo_acquire) != LOAD(added, mo_acquire);
	}

	void tell_all()
	{
		while (is_something_there()) {
			unsigned n = LOAD(told, mo_acquire);

			RL_ASSERT(finding[n]($) == 7);
			STORE(told, n + 1, mo_release);
		}
	}

	void tell_here()
	{
		while (is_something_there() && !EXCHANGE(telling, 1, mo_acquire)) {
			tell_all();
			STORE(telling, 0, mo_release);
		}
	}

	void thread(unsigned i)
	{
		if (i)
			add();
		tell_here();
	}

	void after()
	{
		RL_ASSERT(LOAD(told, mo_relaxed) == 2);
	}
};

int main()
{
	return check<report>();
}
