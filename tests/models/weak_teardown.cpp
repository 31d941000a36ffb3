/*
 * A look-up against a context that may be about to go, as in teardown.pml: gmod_index_depart(), gmod_index_departed(),
 * gmod_index_find() in monitor/registry/index.c, gmod_record_snapshot() in monitor/registry/registry.c. The context
 * stays each time.
 *
 *   good      who does not find the buffer sees that a departure is why
 *   broken    AGAIN    the snapshot's second look at the word is relaxed
 *             MISSED   the slot is loaded with relaxed
 *             REMOVED  the slot is cleared with relaxed
 *             OVER     the departures that are over are loaded with relaxed
 *             DEPARTED a departure ends with relaxed
 */
#include "weak.h"

enum { LIVE = 2, RELEASING = 3 };

struct teardown : rl::test_suite<teardown, 2> {
	shared departures{0}, departures_over{0};
	shared word{LIVE}, slot{1};

	void depart_and_return()
	{
		unsigned live = LIVE, mine = 1;

		ADD(departures, 1, mo_seq_cst);
		CAS(word, live, RELEASING, mo_seq_cst);
		CAS(slot, mine, 0, ORDER(release, REMOVED, relaxed));
		STORE(slot, 1, mo_release);
		STORE(word, LIVE, mo_release);
		ADD(departures_over, 1, ORDER(release, DEPARTED, relaxed));
	}

	bool find_now()
	{
		bool live;

		if (!LOAD(slot, ORDER(acquire, MISSED, relaxed)))
			return false;
		live = LOAD(word, mo_seq_cst) == LIVE;
		FENCE(mo_acquire);
		return live && LOAD(word, ORDER(acquire, AGAIN, relaxed)) == LIVE;
	}

	void find()
	{
		unsigned over = LOAD(departures_over, ORDER(acquire, OVER, relaxed));

		if (!find_now())
			RL_ASSERT(LOAD(departures, mo_acquire) != over);
	}

	void thread(unsigned i)
	{
		if (i)
			find();
		for (unsigned turn = 0; !i && turn < 2; turn++)
			depart_and_return();
	}
};

int main(int, char **given)
{
	return check<teardown>(given);
}
