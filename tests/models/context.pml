/*
 * The monitor's driver calls against the end of a context: gmod_context_use_begin(), _use_end() and make() in
 * lib/context/context.c, gmod_context_teardown_begin(), _commit() and _cancel() in lib/context/teardown.c.
 *
 * One entry of the table. A thread destroys the context: the driver refuses the first time, does it the second, and
 * the entry is then taken for another context. All of the handshake is seq_cst in the code, so there are no store
 * buffers here; the same handshake with them is in pin.pml.
 *
 *   good      the monitor makes driver calls only in a context that is there, the one whose handle it has read
 *             IMPATIENT  begin need not wait to the end: the entry is still that context's, or nobody's, for who is inside
 *   broken    NORECHECK  use_begin looks at the state before it counts itself in
 *             NOWAIT     begin does not wait for those inside
 *             EARLY      commit frees the entry before the handle is cleared
 *             IMPATIENT, REUSE  make takes an entry that somebody is inside of
 */
mtype = { NONE, ALIVE, DYING };

mtype state = ALIVE;
byte users;
byte handle = 1;		/* 0: none */
bool there[3];			/* the driver has the context of that handle */
bool through;

/* gather_in, a few times. */
proctype monitor()
{
	byte mine;
	bool inside;
	mtype seen;

	do
	:: through -> break
	:: else ->
#ifdef NORECHECK
		seen = state;
		users++;
#else
		users++;			/* gmod_context_use_begin: atomic_fetch_add(&c->users, 1, seq_cst) */
		seen = state;			/* atomic_load(&c->state, seq_cst) */
#endif
		if
		:: seen == ALIVE ->
#ifdef IMPATIENT
			mine = handle;
			assert(handle == mine || handle == 0 || mine == 0);	/* a call that does not return */
			if
			:: state == ALIVE -> assert(handle == mine || handle == 0 || mine == 0)	/* gmod_may_call, and another call */
			:: else
			fi
#else
			mine = handle;		/* atomic_load(&c->handle, relaxed) */
			assert(mine && there[mine]);	/* cuCtxPushCurrent, copies, cuCtxPopCurrent */
			assert(handle == mine && there[mine])
#endif
		:: else
		fi;
		users--;			/* gmod_context_use_end: atomic_fetch_sub(&c->users, 1, release) */
		mine = 0
	od
}

inline begin_teardown()
{
	state = DYING;				/* take: CAS ALIVE -> DYING, seq_cst */
#ifdef IMPATIENT
	if
	:: users == 0
	:: true					/* the deadline is over */
	fi
#elif !defined(NOWAIT)
	(users == 0)				/* atomic_load(&c->users, seq_cst) */
#endif
}

active proctype destroying()
{
	there[1] = true;
	atomic { run monitor(); run monitor() };
	begin_teardown();
	state = ALIVE;				/* the driver refused; gmod_context_teardown_cancel: store(release) */
	begin_teardown();
	there[1] = false;			/* cuCtxDestroy */
#ifdef EARLY
	state = NONE;
	there[2] = true;
	state = ALIVE;
	handle = 2;
#else
	handle = 0;				/* gmod_context_teardown_commit: atomic_store(&c->handle, NULL, relaxed) */
	state = NONE;				/* atomic_store(&c->state, NONE, release) */
	there[2] = true;			/* cuCtxCreate */
#ifndef REUSE
	(users == 0);				/* make: atomic_load(&c->users, seq_cst) */
#endif
	handle = 2;				/* atomic_store(&c->handle, handle, relaxed) */
	state = ALIVE;				/* atomic_store(&c->state, ALIVE, release) */
#endif
	begin_teardown();
	there[2] = false;
	handle = 0;
	state = NONE;
	through = true
}
