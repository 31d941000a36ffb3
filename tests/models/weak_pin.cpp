/*
 * The sweeper's pin against a release, as in pin.pml: gmod_pin(), gmod_record_live(), gmod_unpin() and begin_release()
 * in monitor/registry/registry.c.
 *
 *   good      the sweeper never looks at a page that is gone
 *   broken    ACQUIRE  the word is loaded with acquire
 *             PINNED   the pin is stored with release
 *             TAKEN    the word is moved with acq_rel
 *             WAITED   the wait loads with acquire
 *             UNPINNED the pin is taken away with relaxed
 */
#include "weak.h"

enum { LIVE = 2, RELEASING = 3, BATCH = 1 };

struct pin : rl::test_suite<pin, 2> {
	shared word{LIVE}, pinned{0};
	rl::var<bool> page{true}; /* is there; looked at while it changes is a data race */

	void sweep()
	{
		STORE(pinned, BATCH, ORDER(seq_cst, PINNED, release));
		if (LOAD(word, ORDER(seq_cst, ACQUIRE, acquire)) == LIVE)
			RL_ASSERT(page($));
		STORE(pinned, 0, ORDER(release, UNPINNED, relaxed));
	}

	void release()
	{
		unsigned live = LIVE;

		CAS(word, live, RELEASING, ORDER(seq_cst, TAKEN, acq_rel));
		while (LOAD(pinned, ORDER(seq_cst, WAITED, acquire)) == BATCH)
			PAUSE();
		page($) = false;
	}

	void thread(unsigned i)
	{
		for (unsigned turn = 0; !i && turn < 2; turn++)
			sweep();
		if (i)
			release();
	}
};

int main(int, char **given)
{
	return check<pin>(given);
}
