/*
 * What an event proves, while it is recorded anew: gmod_event_forget(), gmod_event_recorded(), gmod_event_covers(),
 * gmod_prove_event() in monitor/launches/proof.c, around the driver calls in lib/hooks/call.h.
 *
 * One event, recorded on stream 1 to begin with. One thread records it on stream 2, then on stream 1 again at a later
 * place; two threads ask the driver whether the event is complete and prove what it stood for. Places in the streams
 * are numbered; the GPU completes them in the order of their stream, whenever it likes.
 *
 *   good      what is proven is complete
 *   broken    NOFORGET   the event stands for its old record while the driver records it anew
 *             NOAGAIN    what it stood for is used without another look after the driver's answer
 *             TORN       its words are read without a look at their check
 *             EARLY      the event is written before the other words: it stands for its old record again
 *
 * With ANOTHER a second thread records another event, which has the same place in the table, and the words of the two
 * get mixed up.
 *
 * Nobody else records the event at the same time: then it may stand for either record (monitor/launches/proof.h).
 */

/* Places: 1 and 3 on stream 1, 2 and 4 on stream 2. A place stands for (stream, ticks). */
bool complete[5];

byte in_driver = 1;			/* the place of the driver's own record of the event */

#define EVENT 1
#define OTHER 2

/* struct triple; its check is one word, made of the three. */
byte event = EVENT, stream = 1, ticks = 1;
byte check = EVENT * 64 + 1 * 8 + 1;

#define CHECK_OF(e, s, t) ((e) * 64 + (s) * 8 + (t))
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

/* gmod_event_covers: found is 0 when nothing is known. */
inline covers()
{
	found_event = event;			/* atomic_load(&word[0], acquire) */
	found = stream;				/* atomic_load(&word[i], relaxed) */
	found_ticks = ticks;
	seen = check;				/* atomic_load(&check, relaxed) */
	if
#ifndef TORN
	:: seen != CHECK_OF(found_event, found, found_ticks) -> found = 0
#endif
	:: found_event != EVENT -> found = 0
	:: else
	fi
}

/* gmod_event_recorded: write_triple. */
inline recorded(which, place)
{
#ifdef EARLY
	event = which;
#endif
	stream = STREAM(place);			/* atomic_store(&word[i], relaxed) */
	ticks = place;
	check = CHECK_OF(which, STREAM(place), place);	/* atomic_store(&check, relaxed) */
	event = which				/* atomic_store(&word[0], release) */
}

/* gmod_event_forget, of the event or of the other one. */
inline forget(which)
{
	if
	:: event == which -> event = 0		/* atomic_load and atomic_store(&word[EVENT], relaxed) */
	:: else
	fi
}

/* cuEventRecord. */
inline record(place)
{
#ifndef NOFORGET
	forget(EVENT);
#endif
	in_driver = place;			/* the driver's call */
	recorded(EVENT, place)
}

proctype recording()
{
	record(2);
	record(3)
}

/* The other event's records, at the same places: so the mixture is as likely as can be to look right. */
proctype recording_another()
{
	forget(OTHER);
	recorded(OTHER, 4);
	forget(OTHER);
	recorded(OTHER, 3)
}

/* cuEventQuery and cuEventSynchronize. */
proctype asking()
{
	byte seen, found_event, found, found_ticks, stood, stood_ticks;
	bool yes;

	covers();
	stood = found;
	stood_ticks = found_ticks;
	yes = complete[in_driver];		/* the driver's call */
	if
	:: yes && stood ->
#ifndef NOAGAIN
		covers();			/* still_stands */
		if
		:: found == stood && found_ticks == stood_ticks ->
#endif
			/* prove: every launch on that stream stamped before ticks */
			assert(stood_ticks && stood == STREAM(stood_ticks) && complete[stood_ticks])
#ifndef NOAGAIN
		:: else
		fi
#endif
	:: else
	fi
}

init
{
	atomic {
		run recording();
#ifdef ANOTHER
		run recording_another();
#else
		run asking();
#endif
		run asking()
	}
}
