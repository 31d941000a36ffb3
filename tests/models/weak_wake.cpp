/*
 * Going to sleep against new activity, as in wake.pml: gmod_note_activity() in monitor/launches/activity.h,
 * gmod_activity_sleep(), gmod_activity_wake() and gmod_activity_total() in activity.c. The launching thread fences for
 * itself: what a membarrier does is not in C11. With STOP it is gmod_monitor_stop() that the monitor must not miss.
 *
 *   good      the monitor does not stay asleep with work that it has not looked at, or when it is to end
 *   broken    BUMPED         activity is stored with relaxed
 *             COUNTED        it is loaded with relaxed
 *             NOFENCE        no fence between the bump and the look at the flag
 *             NOFENCE_SLEEP  none between the flag and the look at the counters
 *             STOP, NOFENCE  none between the wish and the flag
 */
#include "weak.h"

enum { AWAKE, SLEEPING, ASLEEP /* in the kernel */ };

struct wake : rl::test_suite<wake, 2> {
	shared activity{0}, sleeping{AWAKE}, stopping{0};
	shared work{0}; /* a buffer that is LIVE, the time of a launch: what a sweep looks at */
	bool looked = false;

	void launch()
	{
		STORE(work, 1, mo_relaxed);
		STORE(activity, LOAD(activity, mo_relaxed) + 1, ORDER(release, BUMPED, relaxed));
		if (!IS(NOFENCE))
			FENCE(mo_seq_cst);
		if (LOAD(sleeping, mo_relaxed))
			wake_up();
	}

	void stop()
	{
		STORE(stopping, 1, mo_release);
		if (!IS(NOFENCE))
			FENCE(mo_seq_cst);
		wake_up();
	}

	/* FUTEX_WAKE is part of it: who was ASLEEP is not any more. */
	void wake_up()
	{
		EXCHANGE(sleeping, AWAKE, mo_acq_rel);
	}

	void monitor()
	{
		unsigned since = LOAD(activity, ORDER(acquire, COUNTED, relaxed)), flag = SLEEPING;

		looked = LOAD(work, mo_relaxed);
		STORE(sleeping, SLEEPING, mo_seq_cst);
		if (!IS(NOFENCE_SLEEP))
			FENCE(mo_seq_cst);
		if (LOAD(activity, ORDER(acquire, COUNTED, relaxed)) == since && !LOAD(stopping, mo_acquire))
			CAS(sleeping, flag, ASLEEP, mo_relaxed); /* FUTEX_WAIT compares and sleeps, in one */
	}

	void thread(unsigned i)
	{
		if (!i)
			monitor();
		else if (IS(STOP))
			stop();
		else
			launch();
	}

	void after()
	{
		if (LOAD(sleeping, mo_relaxed) == ASLEEP)
			RL_ASSERT(looked && !LOAD(stopping, mo_relaxed));
	}
};

int main(int, char **given)
{
	return check<wake>(given);
}
