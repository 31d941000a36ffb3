/*
 * The bytes of a thread's latest launches against who looks for a pointer in them: gmod_arguments_take() and
 * gmod_arguments_find() in monitor/launches/arguments. There is room for three launches and two bytes; each launch
 * takes one byte.
 *
 *   good      a byte that counts as a launch's is that launch's
 *   broken    NOFENCE   a launch has no release fence
 *             UNFENCED  who looks has no acquire fence
 *             NOEND     it does not look at the end of what is written
 *             NOCOUNT   it does not look at the number of launches
 */
#include "weak.h"

enum { RING = 3, BYTES = 2 };

struct arguments : rl::test_suite<arguments, 2> {
	shared launches{0}, end{0};
	shared position[RING]{{9}, {9}, {9}}, byte[BYTES]{{9}, {9}};

	void launch()
	{
		unsigned n = LOAD(launches, mo_relaxed), at = LOAD(end, mo_relaxed);

		STORE(end, at + 1, mo_relaxed);
		if (!IS(NOFENCE))
			FENCE(mo_release);
		STORE(position[n % RING], at, mo_relaxed);
		STORE(byte[at % BYTES], n, mo_relaxed);
		STORE(launches, n + 1, mo_release);
	}

	void find(unsigned n)
	{
		unsigned at = LOAD(position[n % RING], mo_relaxed), found = LOAD(byte[at % BYTES], mo_relaxed);

		if (!IS(UNFENCED))
			FENCE(mo_acquire);
		if (!IS(NOEND) && LOAD(end, mo_relaxed) - at > BYTES)
			return;
		if (!IS(NOCOUNT) && LOAD(launches, mo_relaxed) - n >= RING)
			return;
		RL_ASSERT(found == n);
	}

	void thread(unsigned i)
	{
		for (unsigned turn = 0; !i && turn < 5; turn++)
			launch();
		for (unsigned n = i ? LOAD(launches, mo_acquire) : 0; n-- > 0;)
			find(n);
	}
};

int main(int, char **given)
{
	return check<arguments>(given);
}
