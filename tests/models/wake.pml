/*
 * Going to sleep against new activity: gmod_note_activity() in monitor/launches/activity.h, sleep_until_activity() and
 * gmod_activity_wake() in monitor/watch/monitor.c.
 *
 * Two threads do some work on the GPU and note it, once each; the monitor sweeps, and sleeps without a time limit when
 * nothing happened since its last sweep began. Plain stores go through a store buffer of their thread (x86 TSO). A
 * membarrier is an interrupt in every running thread, which empties their store buffers.
 *
 *   good      the monitor does not stay asleep with work that it has never looked at
 *   good      FENCES         without membarrier: the threads fence for themselves
 *   broken    NOBARRIER      the monitor's fence is its own only, and the threads have none
 *             NOFENCE_SLEEP  no barrier between the flag and the look at the counters
 *             LATE_COUNT     the counters are read when the sweep has ended, not when it begins
 *             NOCOMPARE      the monitor sleeps whatever the flag is by then, as with a condition variable but no lock
 */
bool work[2];			/* what the thread's driver call did to memory */
bool swept[2];			/* a sweep has looked at it */
bool activity[2];		/* each thread's counter, as other threads see it */
bool sleeping;			/* gmod_hot.sleeping, likewise */
bool asleep;			/* the monitor is in futex_wait */
bool through[2];

chan activity_buffer[2] = [1] of { bool };	/* stores under way */
chan sleeping_buffer = [2] of { bool };

/* The hardware: stores become visible one by one, in order, whenever it likes. */
active proctype memory()
{
end:	do
	:: atomic { nempty(activity_buffer[0]) -> activity_buffer[0] ? activity[0] }
	:: atomic { nempty(activity_buffer[1]) -> activity_buffer[1] ? activity[1] }
	:: atomic { nempty(sleeping_buffer) -> sleeping_buffer ? sleeping }
	od
}

/* gmod_note_activity, behind the driver's call. */
proctype launching(byte t)
{
	bool was;

	work[t] = true;
	activity_buffer[t] ! true;		/* atomic_store(&t->activity, + 1, release) */
#ifdef FENCES
	(empty(activity_buffer[t]));		/* atomic_thread_fence(seq_cst) */
#endif
	if
	:: sleeping ->				/* atomic_load(&gmod_hot.sleeping, relaxed) */
		(empty(activity_buffer[t]));	/* gmod_activity_wake: atomic_exchange(&gmod_hot.sleeping, 0) */
		atomic { was = sleeping; sleeping = false };
		if
		:: was -> asleep = false	/* FUTEX_WAKE */
		:: else
		fi
	:: else
	fi;
	through[t] = true
}

active proctype monitor()
{
	bool p[2];				/* struct pace: activity */

	do
	::
#ifndef LATE_COUNT
		p[0] = activity[0];		/* sweep_once: gmod_activity_total, atomic_load(&t->activity, acquire) */
		p[1] = activity[1];
#endif
		swept[0] = work[0];		/* gmod_sweep */
		swept[1] = work[1];
#ifdef LATE_COUNT
		p[0] = activity[0];
		p[1] = activity[1];
#endif
		sleeping_buffer ! true;		/* sleep_until_activity: atomic_store(&gmod_hot.sleeping, 1, seq_cst) */
#ifndef NOFENCE_SLEEP
		(empty(sleeping_buffer));	/* gmod_activity_barrier: atomic_thread_fence(seq_cst) */
#if !defined(FENCES) && !defined(NOBARRIER)
		(empty(activity_buffer[0]));	/* membarrier: one thread after the other, as the interrupts arrive */
		(empty(activity_buffer[1]));
#endif
#endif
		if
		:: activity[0] == p[0] ->	/* gmod_activity_total, again */
			if
			:: activity[1] == p[1] ->
				(empty(sleeping_buffer));	/* entering the kernel */
				atomic {	/* FUTEX_WAIT: compares the flag and sleeps, in one */
#ifdef NOCOMPARE
					asleep = true
#else
					asleep = sleeping
#endif
				};
end:				(!asleep)
			:: else
			fi
		:: else
		fi;
		sleeping_buffer ! false		/* atomic_store(&gmod_hot.sleeping, 0, relaxed) */
	od
}

/* Nobody is left to wake the monitor: there must be nothing for it to look at. */
active proctype judge()
{
end:	atomic {
		(through[0] && through[1] && asleep) -> assert(swept[0] && swept[1])
	}
}

init
{
	atomic { run launching(0); run launching(1) }
}
