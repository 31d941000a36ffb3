/*
 * When rounds of the patrol began against who looks for the latest that saw some words: note_round() in
 * lib/buffers/patrol.c, and patrolled_until() in monitor/watch/verify.c. There are two places for three rounds.
 *
 *   good      a time that counts is of that round
 *   broken    NOFENCE   there is no release fence between a round's number and its time
 *             UNFENCED  there is no acquire fence between them where they are read
 *             NOTED     the latest round is stored with relaxed
 *             LOOKED    it is loaded with relaxed
 */
#include "weak.h"

enum { ROUNDS = 2 };

struct rounds : rl::test_suite<rounds, 2> {
	shared latest{0};
	shared number[ROUNDS]{{0}, {0}}, began[ROUNDS]{{0}, {0}};

	void note(unsigned n)
	{
		STORE(number[n % ROUNDS], n, mo_relaxed);
		if (!IS(NOFENCE))
			FENCE(mo_release);
		STORE(began[n % ROUNDS], n, mo_relaxed);
		STORE(latest, n, ORDER(release, NOTED, relaxed));
	}

	void look()
	{
		unsigned last = LOAD(latest, ORDER(acquire, LOOKED, relaxed));

		for (unsigned n = last; n > 0 && last - n < ROUNDS; n--) {
			unsigned time = LOAD(began[n % ROUNDS], mo_relaxed);

			if (!IS(UNFENCED))
				FENCE(mo_acquire);
			if (LOAD(number[n % ROUNDS], mo_relaxed) == n)
				RL_ASSERT(time == n);
		}
	}

	void thread(unsigned i)
	{
		for (unsigned n = 1; !i && n <= 3; n++)
			note(n);
		if (i)
			look();
	}
};

int main(int, char **given)
{
	return check<rounds>(given);
}
