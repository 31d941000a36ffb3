/*
 * A buffer in stream order, from its allocation to the next tenant of its bytes: lib/buffers/ordered.c,
 * lib/buffers/ordered_judge.c, and the hooks that arm it and give it up.
 *
 * Two streams of the device run what they are given, each in its order, whenever they like. The buffer is of stream S.
 * Its program has kernels write to it there, records an event, or waits for S; then it frees the buffer in S, in T
 * behind the event or behind the wait, or by cuMemFree, and the next tenant writes to the same bytes. Another thread
 * launches kernels in S meanwhile that have nothing to do with it, and the monitor looks at the buffer while it lives: by a
 * copy in a stream of its own, P, which it waits for without a pin.
 * A free in T that comes behind nothing is the program's own bug.
 *
 *   good      no fill lands behind the free; what a look finds changed is an overflow, and it finds each one that came
 *             behind the fill; the monitor reads no freed memory; cuMemFree is held back only behind what the program
 *             has launched in S since the allocation
 *   broken    EARLY      armed at once
 *             NOPIN      the monitor asks for a copy without the pin
 *             NOBEHIND   a free does not come behind a copy that is on its way
 *             UNPROVEN   it looks before the fill is proven complete
 *             KEEP       not given up when an event is recorded
 *             LATE       given up behind a wait, not before it
 *             UNCOUNTED  a hook does not see the buffers that are being armed, and goes on
 *             NOAWAIT    a hook gives up what is pending, and does not wait for what is being armed
 *             NODISARM   a free does not wait for it
 *             ANYWHERE   looked at in whichever stream it is freed
 */
mtype = { FILL, USE, STRAY, RECORD, AWAIT, LOOK, BEHIND, FREE, TENANT };	/* what streams are given */
mtype = { PENDING, BEING_ARMED, ARMED, BARE };
mtype = { NOBODYS, CANARY, CHANGED, THEIRS };

/* The device. */
chan S = [9] of { mtype };
chan T = [5] of { mtype };
chan P = [4] of { mtype };
byte given_p, done_p, event_p;	/* event_p: what the event of gmod_look_precede() is behind */
byte given, done;		/* of S */
mtype bytes = NOBODYS;		/* of the redzone */
bool strayed, freed, event;
bool healthy = true;		/* the program */

/* The library. */
mtype state;
byte waiting;			/* gmod_hot.ordered */
byte arming;
byte stamp = 255, proven;	/* places in S: when the fill was there, and up to where a wait has proven it */
bool live, pinned;
byte looks;			/* b->looks */

bool launched, ended;

#define VERDICT(found) assert(found == CANARY && !strayed || found == CHANGED && strayed)

inline execute(op)
{
	d_step {
		if
		:: op == FILL -> assert(!freed || !healthy); bytes = CANARY
		:: op == STRAY -> strayed = (bytes == CANARY || bytes == CHANGED && strayed); bytes = CHANGED
		:: op == RECORD -> event = true
		:: op == LOOK -> VERDICT(bytes)
		:: op == FREE -> freed = true
		:: op == TENANT -> bytes = THEIRS
		:: else
		fi
	}
}

active proctype stream_s()
{
	mtype op;

end:	do
	:: atomic { S ? [BEHIND] && done_p >= event_p -> S ? BEHIND; done++ }
	:: atomic { nempty(S) && !(S ? [BEHIND]) -> S ? op; execute(op); done++ }
	od
}

active proctype stream_p()
{
	mtype op;

end:	do
	:: atomic { P ? op -> assert(op != LOOK || !freed); execute(op); done_p++ }
	od
}

active proctype stream_t()
{
	mtype op;

end:	do
	:: T ? [AWAIT] && event -> T ? AWAIT
	:: T ? [BEHIND] && done_p >= event_p -> T ? BEHIND
	:: atomic { nempty(T) && !(T ? [AWAIT]) && !(T ? [BEHIND]) -> T ? op; execute(op) }
	od
}

inline give_s(op)
{
	atomic { S ! op; given++ }
}

/* gmod_ordered_arm(): sort_pending(), arm(), in front of a launch in S. */
inline launch_begin(mine)
{
	launched = true;
	mine = false;
	if
	:: waiting == 0
	:: else ->
		atomic {
			if
			:: state == PENDING -> state = BEING_ARMED; mine = true;
#ifdef UNCOUNTED
				waiting--
#endif
			:: else
			fi;
			arming++
		}
		if
		:: mine ->
			give_s(FILL);
			stamp = given;		/* b->armed */
			state = ARMED;
#ifndef UNCOUNTED
			waiting--
#endif
		:: else
		fi;
		arming--
	fi
}

/* gmod_ordered_passed(). */
inline give_up()
{
	if
	:: waiting == 0
	:: else ->
		atomic { if :: state == PENDING -> state = BARE; waiting-- :: else fi }
#ifndef NOAWAIT
		(arming == 0)
#endif
	fi
}

/* cuStreamSynchronize(). */
inline wait_for_s()
{
	began = given;
#ifndef LATE
	give_up();
#endif
	at = given;
	(done >= at);
	proven = began;
	give_up()
}

/* gmod_record_begin_release(), disarm(). */
inline free_begin()
{
	live = false;
	(!pinned);
	atomic { if :: state == PENDING -> state = BARE; waiting-- :: else fi }
#ifndef NODISARM
	(state != BEING_ARMED)
#endif
}

/* behind_looks(). */
#ifdef NOBEHIND
#define LOOKED_AT false
#else
#define LOOKED_AT (looks > 0)
#endif

inline give_p(op)
{
	atomic { P ! op; given_p++ }
}

inline free_in_s()
{
	if
	:: state == ARMED -> give_s(LOOK)
	:: else
	fi;
	if
	:: LOOKED_AT -> event_p = given_p; give_s(BEHIND)
	:: else
	fi;
	give_s(FREE);
	give_s(TENANT)
}

/* follows(). */
inline free_in_t(behind)
{
#ifdef ANYWHERE
	if
	:: state == ARMED -> T ! LOOK
#else
	if
	:: state == ARMED && (stamp <= proven || stamp <= behind) -> T ! LOOK
#endif
	:: else
	fi;
	if
	:: LOOKED_AT -> event_p = given_p; T ! BEHIND
	:: else
	fi;
	T ! FREE;
	T ! TENANT
}

/* cuMemFree(), order_of_free(). */
inline free_plainly()
{
	if
	:: state == ARMED && stamp > proven -> assert(launched); free_in_s()
	:: else ->
		if
		:: LOOKED_AT -> give_p(FREE); give_p(TENANT)
		:: else -> freed = true; T ! TENANT
		fi
	fi
}

active proctype program()
{
	byte uses, began, at, used, recorded;
	bool mine, waited, has_event;

	/* cuMemAllocAsync() */
#ifdef EARLY
	give_s(FILL);
	stamp = given;
	atomic { state = ARMED; live = true };
#else
	atomic { state = PENDING; waiting++; live = true };
#endif
	do
	:: uses < 2 && !has_event ->
		uses++;
		launch_begin(mine);
		if :: give_s(USE) :: give_s(STRAY) fi;
		used = given;
		waited = false
	:: !has_event ->
		began = given;
#ifndef KEEP
		give_up();
#endif
		recorded = given;	/* gmod_ticks() */
		give_s(RECORD);
		has_event = true
	:: !waited -> wait_for_s(); waited = true
	:: break
	od;
	if
	:: free_begin(); free_in_s()
	:: has_event -> T ! AWAIT; free_begin(); free_in_t(recorded)
	:: waited -> free_begin(); free_in_t(0)
	:: waited || !uses -> free_begin(); free_plainly()
	:: healthy = false; free_begin(); free_in_t(0)
	fi;
	ended = true
}

active proctype other_thread()
{
	bool mine;

	launch_begin(mine);
	launch_begin(mine)
}

/* look_at(), take_answer(). */
active proctype monitor()
{
	byte asked, at;

	do
	:: asked == 2 -> break
	:: else ->
		asked++;
#ifndef NOPIN
		pinned = true;
#endif
		if
#ifdef UNPROVEN
		:: live && state == ARMED ->
#else
		:: live && state == ARMED && stamp <= proven ->
#endif
			looks++;
			atomic { P ! LOOK; given_p++; at = given_p }
		:: else
		fi;
		pinned = false;
		if
		:: looks -> (done_p >= at); looks--
		:: else
		fi
	od
}
