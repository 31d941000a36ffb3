/*
 * Looks around a suspect's launch: lib/buffers/confirm.c, against frees and against work in another stream.
 *
 * The launching thread puts into its stream, in this order: the canary anew, where the buffer's side has been reported, or
 * else a copy of it; the kernel; a copy. It pins the record for the first and for the last, and asks for neither where the
 * record is not LIVE. Another stream has a kernel of its own, launched at any time. The free waits out the pin, and then, in
 * the driver, for all work. The monitor judges what has come: the kernel is caught, alone where nothing else was under way
 * when the look began and nothing has been launched since.
 *
 *   good      what is caught alone has been written by that kernel; no damage that is still to be told is erased; nothing
 *             on the device accesses memory that is gone
 *   broken    ERASES      the canary is written anew although the side has not been reported
 *             NOBEFORE    of a side that has not been reported no copy is made in front
 *             NOTBEGUN    nobody asks what is under way when the look begins
 *             NOTSINCE    nobody asks what has been launched since
 *             NOPIN       the free does not wait out the pin
 *             PASSES      the free does not wait for the looks
 */
mtype = { LIVE, RELEASING, INTACT, BY_KERNEL, BY_OTHER, ANEW, BEFORE, KERNEL, BEHIND };

mtype word = LIVE, redzone = INTACT, before = INTACT, behind = INTACT;
bool reported, pinned, mapped = true, come, kernel_writes, other_writes, erased;
bool other_launched, other_done;
byte under_way;			/* of ours in the stream, and the kernel */
chan stream = [4] of { mtype };

active proctype device()
{
	mtype what;

end:	do
	:: atomic { stream?what ->
		assert(mapped || what == KERNEL);
		if
		:: what == ANEW ->
			if
			:: !reported && redzone != INTACT -> erased = true
			:: else
			fi;
			redzone = INTACT
		:: what == BEFORE -> before = redzone
		:: what == KERNEL ->
			if
			:: kernel_writes && mapped -> redzone = BY_KERNEL
			:: else
			fi
		:: what == BEHIND -> behind = redzone; come = true
		fi;
		under_way-- }
	:: atomic { other_launched && !other_done ->
		if
		:: other_writes && mapped -> redzone = BY_OTHER
		:: else
		fi;
		other_done = true }
	od
}

active proctype other()
{
	if
	:: other_writes = true
	:: skip
	fi;
	other_launched = true
}

active proctype launching()
{
	bool asked, beside, since;

	if
	:: kernel_writes = true
	:: skip
	fi;
	if
	:: reported = true; redzone = BY_KERNEL
	:: skip
	fi;
	since = other_launched;		/* first: what is launched in between must be in one of the two */
#ifndef NOTBEGUN
	beside = other_launched && !other_done;
#endif
	pinned = true;
	if
	:: word == LIVE ->
		asked = true;
		if
#ifdef ERASES
		:: true -> under_way++; stream!ANEW
#else
		:: reported -> under_way++; stream!ANEW
		:: else ->
#ifndef NOBEFORE
			under_way++; stream!BEFORE
#else
			skip
#endif
#endif
		fi
	:: else
	fi;
	pinned = false;
	under_way++; stream!KERNEL;
	if
	:: asked ->
		pinned = true;
		if
		:: word == LIVE -> under_way++; stream!BEHIND
		:: else -> asked = false
		fi;
		pinned = false
	:: else
	fi;
	if
	:: asked ->
		come;
#ifndef NOTSINCE
		beside = beside || (other_launched != since);
#endif
		/* Caught alone. */
		assert(behind == INTACT || before != INTACT || beside || behind == BY_KERNEL)
	:: else
	fi;
	assert(!erased)
}

active proctype free()
{
	word = RELEASING;
#ifndef NOPIN
	!pinned;
#endif
#ifndef PASSES
	under_way == 0;
#endif
	mapped = false
}
