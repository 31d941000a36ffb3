/*
 * A tenure that goes from one handle to the next, as in graph.pml: put(), take(), end(), gmod_history_add() and
 * gmod_history_at() in monitor/launches/history.c. With END another thread ends, at the time 2, what the later handle
 * has stood for until then.
 *
 *   good      a reader has what belongs to the time that it found; nothing ends before it has begun
 *   broken    WRITTEN     put stores with relaxed
 *             READ        a reader loads handle and set with relaxed
 *             TIMED       it loads the time with relaxed
 *             END, NAMED  who ends loads the handle with relaxed
 */
#include "weak.h"

enum { LATEST = 9 };

struct graph : rl::test_suite<graph, 2> {
	shared from{0}, until{LATEST}, handle{0}, set{0}; /* a time, and what is of it, with the same number */

	void put(unsigned now)
	{
		unsigned past = now - 2;

		CAS(until, past, 0, mo_acquire);
		STORE(from, 0, mo_relaxed);
		STORE(handle, now, ORDER(release, WRITTEN, relaxed));
		STORE(set, now, ORDER(release, WRITTEN, relaxed));
		STORE(until, LATEST, ORDER(release, WRITTEN, relaxed));
		STORE(from, now, mo_release);
	}

	void end(unsigned now)
	{
		unsigned still = LATEST, began = LOAD(from, mo_relaxed);

		if (began && began < now)
			CAS(until, still, now, mo_relaxed);
	}

	void read()
	{
		unsigned began = LOAD(from, ORDER(acquire, TIMED, relaxed));
		unsigned its = LOAD(handle, ORDER(acquire, READ, relaxed));
		unsigned what = LOAD(set, ORDER(acquire, READ, relaxed));

		if (began && LOAD(from, mo_relaxed) == began)
			RL_ASSERT(its == began && what == began);
	}

	void thread(unsigned i)
	{
		if (!i) {
			put(1);
			end(1 + 1);
			put(3 + 1);
		} else if (!IS(END)) {
			read();
		} else if (LOAD(handle, ORDER(acquire, NAMED, relaxed)) == 4) {
			end(3);
		}
	}

	void after()
	{
		RL_ASSERT(LOAD(from, mo_relaxed) == 4 && LOAD(until, mo_relaxed) == LATEST);
	}
};

int main(int, char **given)
{
	return check<graph>(given);
}
