/*
 * A look-up against a record that goes from one buffer to the next, as in registry.pml: gmod_record_snapshot(),
 * gmod_record_renew(), gmod_record_set_bounds() and gmod_record_publish() in monitor/registry/registry.c. The wait for
 * pins is left out, which would put order in where none is promised.
 *
 *   good      bounds belong to the word that they were read with
 *   broken    NOFENCE    set_bounds has no fence
 *             UNFENCED   the snapshot has none
 *             PUBLISHED  LIVE is stored with relaxed
 *             LOOKED     the word is loaded with relaxed
 */
#include "weak.h"

enum { ARMING = 1, LIVE, RELEASING };
#define WORD(generation, state) ((generation) << 2 | (state))

struct registry : rl::test_suite<registry, 2> {
	shared word{WORD(1, LIVE)}, user{1}, size{1}; /* the bounds have the number of their generation */

	void renew()
	{
		unsigned live = WORD(1, LIVE);

		CAS(word, live, WORD(1, RELEASING), mo_seq_cst);
		STORE(word, WORD(2, ARMING), mo_release);
		if (!IS(NOFENCE))
			FENCE(mo_release);
		STORE(user, 2, mo_relaxed);
		STORE(size, 2, mo_relaxed);
		STORE(word, WORD(2, LIVE), ORDER(release, PUBLISHED, relaxed));
	}

	void snapshot()
	{
		unsigned w = LOAD(word, ORDER(seq_cst, LOOKED, relaxed));
		unsigned its = LOAD(user, mo_relaxed), too = LOAD(size, mo_relaxed);

		if (!IS(UNFENCED))
			FENCE(mo_acquire);
		if (w % 4 == LIVE && LOAD(word, mo_acquire) == w)
			RL_ASSERT(its == w >> 2 && too == w >> 2);
	}

	void thread(unsigned i)
	{
		if (i)
			snapshot();
		else
			renew();
	}
};

int main(int, char **given)
{
	return check<registry>(given);
}
