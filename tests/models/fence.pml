/*
 * Blocks behind fences, against looks that are on their way: lib/buffers/gather.c, buffer.c, backend_fence.c, fence.c.
 *
 * The gather pins a record, issues a copy of its canaries if it is LIVE, and unpins; the device makes the copy later. The
 * program launches work that uses the buffer. Its free waits out the pin, then the context, and unmaps the block or
 * leaves it to the next buffer, whose canaries lie elsewhere in it.
 *
 *   good      nothing on the device accesses a block that is gone, and no copy of the old buffer's canaries is judged as
 *             the new one's
 *   broken    NOPIN       the free does not wait out the pin
 *             NOWAIT      the free waits for no work: what the library knows of is done (fills it does not know of)
 *             NOCOPY      it waits for the program's work alone, not for the copies
 *             NOGENERATION what has come is judged without asking whose it was
 */
mtype = { LIVE, RELEASING };

mtype word = LIVE;
byte generation;
bool pinned, mapped = true;
bool copying, working;		/* on the device */
byte copied;			/* the generation that the copy was asked for */
bool launched, freed;

/* The copy engine and the multiprocessors. */
active proctype device()
{
end:	do
	:: atomic { copying -> assert(mapped); copying = false }
	:: atomic { working -> assert(mapped); working = false }
	od
}

active proctype gather()
{
	byte asked;
	bool issued;

	pinned = true;
	if
	:: word == LIVE -> asked = generation; copying = true; issued = true
	:: else
	fi;
	pinned = false;
	if
	:: issued ->
		!copying;
		pinned = true;
#ifndef NOGENERATION
		if
		:: word == LIVE && generation == asked ->
#else
		if
		:: word == LIVE ->
#endif
			assert(generation == asked)	/* judged */
		:: else
		fi;
		pinned = false
	:: else
	fi
}

active proctype program()
{
	working = true;			/* a kernel, or a fill, which takes its time */
	word = RELEASING;
#ifndef NOPIN
	!pinned;
#endif
#ifdef NOWAIT
	skip;
#else
#ifdef NOCOPY
	!working;
#else
	!working && !copying;
#endif
#endif
	if
	:: mapped = false		/* unmapped, and never used again */
	:: generation++; word = LIVE	/* the next buffer's */
	fi
}
