/*
 * A round of the patrol against a free, as in patrol.pml: gmod_patrol_remove() in lib/buffers/patrol.c, and the kernel
 * in lib/buffers/patrol.cu. The driver and the device are taken at their weakest: what has been launched is known by a
 * relaxed load, and the device begins once it can see that it was.
 *
 *   good      no round looks at memory that is gone
 *   broken    NOFENCE  the clearing is a seq_cst store without a fence
 */
#include "weak.h"

struct patrol : rl::test_suite<patrol, 2> {
	shared check_word{1};
	shared began{0}, ended{0}; /* rounds */
	rl::var<bool> memory{true};

	void rounds()
	{
		for (unsigned n = 1; n < 3; n++) {
			STORE(began, n, mo_relaxed);
			FENCE(mo_seq_cst); /* the doorbell */
			if (LOAD(check_word, mo_relaxed))
				RL_ASSERT(memory($));
			STORE(ended, n, mo_release);
		}
	}

	void free_buffer()
	{
		unsigned launched;

		STORE(check_word, 0, IS(NOFENCE) ? mo_seq_cst : mo_release);
		if (!IS(NOFENCE))
			FENCE(mo_seq_cst);
		launched = LOAD(began, mo_relaxed);
		while (LOAD(ended, mo_acquire) < launched)
			PAUSE();
		memory($) = false;
	}

	void thread(unsigned i)
	{
		if (i)
			free_buffer();
		else
			rounds();
	}
};

int main(int, char **given)
{
	return check<patrol>(given);
}
