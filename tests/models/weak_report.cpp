/*
 * Findings on their way, where there is no thread to tell them: add() and tell_here() in monitor/report/report.c. Two
 * threads find one each, the second one later; who comes while the other one tells leaves it to that one.
 *
 * STARTED: the second thread is the one that tells from now on, run(), while the first one finds another and wakes it
 * or, before that has said that it is there, tells it.
 *
 *   good      a finding is told as it was added, and none is left; whoever sleeps beside one is woken
 *   broken    NOFENCE  no fence before a thread asks whether there is something
 *             ADDED    the count of what was added is stored with relaxed
 *             UNSEEN   STARTED: no fence between what is added and the look whether there is a thread
 *             EARLY    STARTED: run() looks for what is there before it says that it is there itself
 */
#include "weak.h"

struct report : rl::test_suite<report, 2> {
	shared added{1}, told{0}, telling{0}; /* the first thread has added its own */
	shared there{0};                      /* run() is */
	bool woken = false, sleeps = false;
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

	void run()
	{
		unsigned seen;

		while (EXCHANGE(telling, 1, mo_acquire))
			PAUSE();
		if (!IS(EARLY))
			STORE(there, 1, mo_relaxed);
		FENCE(mo_seq_cst);
		seen = LOAD(added, mo_acquire);
		tell_all();
		if (IS(EARLY))
			STORE(there, 1, mo_relaxed);
		/* futex: under the kernel's lock */
		sleeps = ADD(added, 0, mo_seq_cst) == seen;
	}

	/* gmod_report_add() and gmod_report_flush() */
	void find()
	{
		add();
		if (!IS(UNSEEN))
			FENCE(mo_seq_cst);
		if (LOAD(there, mo_relaxed))
			woken = true;
		if (!LOAD(there, mo_relaxed))
			tell_here();
	}

	void thread(unsigned i)
	{
		if (IS(STARTED) && i)
			run();
		else if (IS(STARTED))
			find();
		else if (i)
			add();
		if (!IS(STARTED))
			tell_here();
	}

	void after()
	{
		RL_ASSERT(LOAD(told, mo_relaxed) == 2 || (IS(STARTED) && (woken || !sleeps)));
	}
};

int main(int, char **given)
{
	return check<report>(given);
}
