/*
 * What an event proves while it is recorded anew, as in proof.pml: write_triple(), read_triple(), erase_triple(),
 * gmod_event_covers() and gmod_prove_event() in monitor/launches/proof.c. The driver's own record of the event comes
 * with the order that its calls have; the old record's work is not complete, the new one's is.
 *
 *   good      what is proven is complete
 *   broken    WRITTEN  the event is written with relaxed
 *             READ     it is read with relaxed
 */
#include "weak.h"

enum { OLD = 1, NEW, EVENT = 7 };

struct proof : rl::test_suite<proof, 2> {
	shared event{EVENT}, stream{OLD}, check_word{OLD};
	shared in_driver{OLD};

	void record()
	{
		STORE(event, 0, mo_relaxed); /* gmod_event_forget() */
		STORE(in_driver, NEW, mo_release);
		STORE(stream, NEW, mo_relaxed);
		STORE(check_word, NEW, mo_relaxed);
		STORE(event, EVENT, ORDER(release, WRITTEN, relaxed));
	}

	unsigned covers()
	{
		unsigned e = LOAD(event, ORDER(acquire, READ, relaxed)), s = LOAD(stream, mo_relaxed);

		return e && LOAD(check_word, mo_relaxed) == s ? s : 0;
	}

	void ask()
	{
		unsigned stood = covers();

		if (LOAD(in_driver, mo_acquire) == NEW && stood && covers() == stood)
			RL_ASSERT(stood == NEW);
	}

	void thread(unsigned i)
	{
		if (i)
			ask();
		else
			record();
	}
};

int main(int, char **given)
{
	return check<proof>(given);
}
