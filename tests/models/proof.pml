/*
 * What an event proves, while it is recorded anew: gmod_event_forget(), gmod_event_recorded(), gmod_event_covers(),
 * gmod_prove_event() in monitor/proof.c, around the driver calls in lib/hooks_sync.c.
 *
 * One event, recorded on stream 1 to begin with. One thread records it on stream 2, then on stream 1 again at a later
 * place; two threads ask the driver whether the event is complete and prove what it stood for. Places in the streams
 * are numbered; the GPU completes them in the order of their stream, whenever it likes.
 *
 *   good      what is proven is complete
 *   broken    NOFORGET   the event stands for its old record while the driver records it anew
 *             NOVERSION  what it stood for is used without another look after the driver's answer
 *             TORN       its fields are read without a look at the version before and after
 *
 *
 * With TWO_RECORDERS two threads record the event, one of them once, and one asks.
 */

/* Places: 1 and 3 on stream 1, 2 and 4 on stream 2. A place stands for (stream, ticks). */
bool complete[5];

byte in_driver = 1;			/* the place of the driver's own record of the event */

/* struct event: version is odd while it is written. stream and ticks are apart, so that a torn read can be seen. */
byte version, stream = 1, ticks = 1;

#define STREAM(place) (((place) - 1) % 2 + 1)

active proctype gpu()
{
end:	do
	:: d_step { !complete[1] -> complete[1] = true }
	:: d_step { complete[1] && !complete[3] -> complete[3] = true }
	:: d_step { !complete[2] -> complete[2] = true }
	:: d_step { complete[2] && !complete[4] -> complete[4] = true }
	od
}

/* A local of its own in each process: CAS to odd or let the other writer win. */
inline write_event(new_stream, new_ticks)
{
	v = version;				/* atomic_load(&e->version, relaxed) */
	if
	:: v % 2 == 0 ->
		atomic {			/* CAS version -> version + 1, acquire */
			won = (version == v);
			if
			:: won -> version = v + 1
			:: else
			fi
		};
		if
		:: won ->
			stream = new_stream;	/* atomic_store(&e->stream, relaxed) */
			ticks = new_ticks;	/* atomic_store(&e->ticks, relaxed) */
			version = v + 2		/* atomic_store(&e->version, + 2, release) */
		:: else
		fi
	:: else
	fi
}

/* gmod_event_covers: found is 0 when nothing is known. */
inline covers()
{
	seen = version;				/* atomic_load(&e->version, acquire) */
	found = stream;				/* atomic_load(&e->stream, relaxed) */
	found_ticks = ticks;			/* atomic_load(&e->ticks, relaxed) */
#ifndef TORN
	if
	:: seen % 2 || version != seen -> found = 0	/* atomic_load(&e->version, relaxed) behind a fence */
	:: else
	fi
#endif
}

/* cuEventRecord. */
inline record(place)
{
#ifndef NOFORGET
	covers();				/* gmod_event_forget */
	if
	:: found -> write_event(0, 0)
	:: else
	fi;
#endif
	in_driver = place;			/* the driver's call */
	write_event(STREAM(place), place)	/* gmod_event_recorded */
}

proctype recording(byte first, second)
{
	byte v, seen, found, found_ticks;
	bool won;

	record(first);
	if
	:: second -> record(second)
	:: else
	fi
}

/* cuEventQuery and cuEventSynchronize. */
proctype asking()
{
	byte seen, found, found_ticks;
	bool yes;

	covers();
	yes = complete[in_driver];		/* the driver's call */
	if
	:: yes && found ->
#ifndef NOVERSION
		if
		:: version == seen ->		/* still_stands: atomic_load(&version, acquire) */
#endif
			/* prove: every launch on that stream stamped before ticks */
			assert(found_ticks && found == STREAM(found_ticks) && complete[found_ticks])
#ifndef NOVERSION
		:: else
		fi
#endif
	:: else
	fi
}

init
{
	atomic {
		run recording(2, 3);
#ifdef TWO_RECORDERS
		run recording(4, 0);
#else
		run asking();
#endif
		run asking()
	}
}
