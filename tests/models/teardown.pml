/*
 * Calls that may end a context, of several threads at the same time, and a look-up of a buffer meanwhile:
 * gmod_context_teardown_begin(), _commit() and _cancel() in lib/context/teardown.c, with what lib/buffers/teardown.c does
 * to buffers, and gmod_index_find() in monitor/registry/index.c.
 *
 * One context with one buffer. Each of three threads is attached to it and detaches, in ENDS so that the last one ends
 * it; otherwise somebody else is attached as well, it stays, and a fourth thread looks the buffer up. In ANEW each of two
 * threads destroys or resets it, so that the first one ends it, and when its entry is free another context gets that,
 * with a buffer of its own. Values that one thread writes and another decides by are released and acquired in the order
 * they have here, so there are no store buffers. Nobody's time is up: who has waited for 5 s goes on natively.
 *
 *   good      while anybody is in a call that may end the context, and when it has ended, the buffer is not LIVE; when
 *             the context stays, a look-up finds the buffer at any time, and in the end it is LIVE; the other context's
 *             buffer is always LIVE
 *   broken    TOGETHER    a teardown begins while another one is under way
 *             LATE        the index is told of a teardown when it has taken the buffer already
 *             GONE        a look-up takes a buffer that is RELEASING for gone
 *             ANYBODYS    in ANEW, a teardown takes the entry that it has found, whoever has it by now
 */
#ifdef ANEW
#define THREADS 2
#else
#define THREADS 3
#endif

mtype = { LIVE, RELEASING, FREE, ALIVE, DYING, NONE };

mtype word = LIVE;		/* the record's state */
bool indexed = true;
mtype state = ALIVE;		/* the context's */
byte handle = 1;		/* the entry is the context's, 2: another one's, 0: nobody's */
byte begun, over;		/* monitor/registry/index.c: departures, departures_over */

bool there = true;		/* the driver has the context */
byte attached = THREADS;
byte done;

inline depart()					/* gmod_index_depart */
{
	begun++
}

inline departed()				/* gmod_index_departed */
{
	over++
}

inline begin_teardown()
{
	do
	:: taken || unknown -> break
	:: else ->
		unknown = handle != 1;		/* gmod_context_known */
		unknown = unknown || (state != ALIVE && state != DYING);
		if
		:: unknown
#ifndef TOGETHER
		:: !unknown && state != ALIVE	/* a nap */
#endif
		:: else ->
			atomic {		/* begin_release: CAS, seq_cst */
#ifdef TOGETHER
				taken = true;
#else
				taken = state == ALIVE;
#endif
				state = (taken -> DYING : state)
			};
#ifndef ANYBODYS
			if
			:: taken && handle != 1 ->
				state = ALIVE;
				taken = false
			:: else
			fi
#endif
		fi
	od
}

inline end_teardown(new_state)
{
	departed();
	state = new_state			/* atomic_store(&c->state, release) */
}

inline commit()
{
	if
	:: word == RELEASING -> word = FREE	/* drop */
	:: else
	fi;
	handle = 0;
	end_teardown(NONE)
}

inline cancel()
{
	if
	:: word == RELEASING -> indexed = true; word = LIVE	/* keep */
	:: else
	fi;
	end_teardown(ALIVE)
}

proctype detaching()
{
	bool mine, taken, unknown;

	begin_teardown();
	if
	:: unknown -> goto out			/* the driver is called, and there is nothing to end */
	:: else
	fi;
#ifndef LATE
	depart();
#endif
	if
	:: atomic { word == LIVE -> word = RELEASING; mine = true }	/* gmod_record_begin_leaving */
	:: atomic { word != LIVE -> mine = false }
	fi;
	if
	:: mine -> indexed = false		/* verify_leaving: gmod_index_remove */
	:: else
	fi;
#ifdef LATE
	depart();
#endif

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
	:: mine -> commit()
	:: else -> cancel()
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
	:: state == NONE ->
		handle = 2;
		word = LIVE;
		indexed = true;
		state = ALIVE;
		do
		:: done == THREADS -> break
		:: word != LIVE -> assert(false)
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
			if
			:: w == LIVE			/* a nap, and again */
#ifndef GONE
			:: w == RELEASING
#endif
			:: else -> assert(false)
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
	assert(begun == over)
}
