/*
 * A thread's ring of launch records against who copies one: gmod_launch_begin() in monitor/launches/launch.h,
 * copy_launch() and look_at_thread() in monitor/launches/suspects.c. The ring has two places, and of a record there are
 * two words.
 *
 *   good      a copy that counts as whole is of that launch
 *   broken    NOFENCE   begin has no release fence
 *             UNFENCED  the copy has no acquire fence
 *             BEGUN     the count is stored with relaxed
 *             COUNTED   it is loaded with relaxed
 */
#include "weak.h"

enum { RING = 2 };

struct ring : rl::test_suite<ring, 2> {
	shared launches{0};
	shared context[RING]{{9}, {9}}, function[RING]{{9}, {9}};

	void launch()
	{
		unsigned n = LOAD(launches, mo_relaxed);

		if (!IS(NOFENCE))
			FENCE(mo_release);
		STORE(context[n % RING], n, mo_relaxed);
		STORE(function[n % RING], n, mo_relaxed);
		STORE(launches, n + 1, ORDER(release, BEGUN, relaxed));
	}

	void copy(unsigned n)
	{
		unsigned c = LOAD(context[n % RING], mo_relaxed), f = LOAD(function[n % RING], mo_relaxed);

		if (!IS(UNFENCED))
			FENCE(mo_acquire);
		if (LOAD(launches, mo_relaxed) - n < RING)
			RL_ASSERT(c == n && f == n);
	}

	void thread(unsigned i)
	{
		for (unsigned turn = 0; !i && turn < 3; turn++)
			launch();
		for (unsigned n = i ? LOAD(launches, ORDER(acquire, COUNTED, relaxed)) : 0; n-- > 0;)
			copy(n);
	}
};

int main(int, char **given)
{
	return check<ring>(given);
}
