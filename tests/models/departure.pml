/*
 * Calls that may end a context, of several threads at the same time, and a look-up of a buffer meanwhile:
 * gmod_context_dying(), _departed(), _alive_again() and _gone() in lib/context/context.c, as lib/buffers/buffer.c uses them, and
 * gmod_index_find() in monitor/registry/index.c.
 *
 * One context with one buffer. Each of three threads is attached to it and detaches, in ENDS so that the last one ends
 * it; otherwise somebody else is attached as well, it stays, and a fourth thread looks the buffer up. In ANEW each of two
 * threads destroys or resets it, so that the first one ends it, and when its entry is free another context gets that,
 * with a buffer of its own. Values that one thread writes and another decides by are released and acquired in the order
 * they have here, so there are no store buffers.
 *
 *   good      while anybody is in a call that may end the context, and when it has ended, the buffer is not LIVE; when
 *             the context stays, a look-up finds the buffer at any time, and in the end it is LIVE; the other context's
 *             buffer is always LIVE
 *   broken    UNCOUNTED   each departure settles for itself
 *             LATE        the index is told of a departure when the others count on it already
 *             NOWAIT      a departure begins while the last of earlier ones settles
 *             NOAGAIN     a look-up takes a buffer for gone though a departure has ended since it began
 *             STRUCKFIRST the context is not among those that leave before the departure is over
 *             ANYBODYS    in ANEW, a departure takes the entry that it has found, whoever has it by now
 *             NOTIMES     in ANEW, an entry that was looked at before it has been settled counts as if it was after
 */
#ifdef ANEW
#define THREADS 2
#else
#define THREADS 3
#endif

mtype = { LIVE, RELEASING, FREE, ALIVE, DYING, NONE, MAKING };

mtype word = LIVE;		/* the record's state */
bool indexed = true;
mtype state = ALIVE;		/* the context's */
byte handle = 1;		/* the entry is the context's, 2: another one's, 0: nobody's */
short departures;
byte settled_times;		/* the upper half of the same word */
#define SETTLING -1
bool ended;
byte begun, over;		/* monitor/registry/index.c: departures, departures_over */
byte leaving;			/* how many times the context is among those that leave */

bool there = true;		/* the driver has the context */
byte attached = THREADS;
byte done;

inline begin_departure()
{
#ifndef LATE
	leaving++; begun++;			/* gmod_index_depart */
#endif
#ifdef NOWAIT
	atomic { departures = (departures == SETTLING -> 1 : departures + 1) }
	joined = true;
#else
	do
	:: joined || another -> break
	:: else ->
		atomic { others = departures; times = settled_times }	/* a load, acquire */
		if
		:: others == SETTLING		/* a nap */
		:: else ->
#ifndef ANYBODYS
			another = handle != 1;
			another = another || (state != ALIVE && state != DYING);
#endif
			if
			:: another
			:: else ->
				atomic {	/* CAS, acquire */
#ifdef NOTIMES
					joined = departures == others;
#else
					joined = departures == others && settled_times == times;
#endif
					departures = (joined -> departures + 1 : departures)
				}
			fi
		fi
	od;
#endif
#ifdef LATE
	leaving++; begun++
#else
	skip
#endif
}

inline departed()				/* gmod_index_departed */
{
#ifdef STRUCKFIRST
	leaving--; over++
#else
	over++; leaving--
#endif
}

inline settled(new_state)
{
	ended = false;
	departed();
	state = new_state;			/* atomic_store(&c->state, release) */
	atomic { departures = 0; settled_times++ }	/* one atomic_store, release */
}

inline settle()
{
	if
	:: ended ->
		if
		:: word == RELEASING -> word = FREE		/* drop */
		:: else
		fi;
		handle = 0;
		settled(NONE)
	:: else ->
		if
		:: word == RELEASING -> indexed = true; word = LIVE	/* keep */
		:: else
		fi;
		settled(ALIVE)
	fi
}

proctype detaching()
{
	bool last, mine, joined, another;
	short others;
	byte times;

	begin_departure();
	if
	:: another ->				/* gmod_index_departed; nothing is left to be kept from the monitor */
		departed();
		goto out
	:: else
	fi;
	state = DYING;
	if
	:: atomic { word == LIVE -> word = RELEASING; mine = true }	/* gmod_record_begin_leaving */
	:: atomic { word != LIVE -> mine = false }
	fi;
	if
	:: mine -> indexed = false		/* verify_leaving: gmod_index_remove */
	:: else
	fi;

	assert(word != LIVE);
	mine = false;
	atomic {
#ifdef ANEW
		attached = 0;
		mine = there;			/* the second one is told that it is not there any more */
		there = false;
#else
		attached--;
#endif
		if
		:: attached == 0 && there -> there = false; mine = true	/* cuCtxDetach has ended it, and says so */
		:: else
		fi
	};
	assert(word != LIVE);

	if
	:: mine -> ended = true			/* gmod_context_departed */
	:: else
	fi;
#ifdef UNCOUNTED
	last = true;
#else
	atomic {				/* CAS, acquire and release */
		last = departures == 1;
		departures = (last -> SETTLING : departures - 1)
	};
#endif
	if
	:: last -> settle()
	:: else -> departed()
	fi;
out:
	done++
}

#ifdef ANEW
/* make(), and an allocation; nothing ends this context. */
proctype making()
{
	do
	:: done == THREADS && state != NONE -> break
	:: atomic { state == NONE -> state = MAKING };
		handle = 2;
		word = LIVE;
		indexed = true;
		state = ALIVE;
		do
		:: done == THREADS -> break
		:: word != LIVE || state != ALIVE -> assert(false)
		od;
		break
	od
}
#endif

#if !defined(ENDS) && !defined(ANEW)
proctype looking_up()
{
	byte was_over;
	mtype w;
	bool listed;
	bool found;

	do
	:: done == THREADS -> break
	:: else ->
		was_over = over;		/* atomic_load(&departures_over, acquire) */
		found = indexed;
		found = found && word == LIVE;	/* find_now */
		if
		:: found
		:: else ->
			if
			:: begun == was_over -> assert(false)
			:: else
			fi;
			w = word;		/* may_come_back */
			listed = leaving > 0;
			if
			:: w == LIVE || (w == RELEASING && listed)	/* a nap, and again */
			:: else ->
				if
#ifdef NOAGAIN
				:: true ->
#else
				:: over == was_over ->
#endif
					found = indexed;
					found = found && word == LIVE;
					assert(found)
				:: else
				fi
			fi
		fi
	od
}
#endif

init
{
	atomic {
#ifdef ANEW
		run making();
#else
#ifndef ENDS
		attached++;
		run looking_up();
#endif
		run detaching();
#endif
		run detaching();
		run detaching()
	};
#ifdef ANEW
	_nr_pr == 1;
	assert(handle == 2 && state == ALIVE && word == LIVE && indexed);
#else
	do
	:: !there && word == LIVE -> assert(false)	/* the monitor would read it */
	:: done == THREADS -> break
	od;
	assert(word == (there -> LIVE : FREE));
#endif
	assert(there == (attached > 0));
	assert(begun == over && departures == 0)
}
