/*
 * The patrol against a free: lib/buffers/patrol.c, lib/buffers/patrol.cu.
 *
 * One slot of the list, and two buffers in turn that have it: a thread adds the first, removes it, waits for the
 * context, gives its memory back, and does the same with the second. A kernel of the program may write behind a buffer
 * while it lives. The list is in memory of the host: the CPU's stores to it sit in a store buffer (x86 TSO), from where
 * they become visible in order at any time. Of an entry the model has the address and the check, which verifies where
 * it is that address's.
 *
 *   good      no round touches memory that is gone; what a round has "seen intact" was so when the round began; a buffer
 *             is listed as long as nothing behind it has changed
 *   broken    NOFENCE     gmod_patrol_remove() clears the check without a fence
 *             LATE        it does so once the context has been waited for
 *             NOCHECK     the kernel follows an entry without its check
 *             LATE_STAMP  what was seen is read after the clearing
 *             NOCAS       a struck entry is cleared, whosever it is by now
 */
#define NOBODY 0

byte user, check;		/* the entry, as the device sees it */
bool mapped[3];			/* by buffer, 1 and 2 */
byte changed_at[3] = 255;	/* how many rounds had begun then; 255: it has not */
byte changed_in;		/* the buffer that a round in the past has found changed */

byte began, ended;		/* rounds */
byte seen;			/* seen[]: the latest round that has found all as it should be */
bool freeing_done;

chan stores = [4] of { bool, byte };	/* is it the check, and the value */

active proctype memory()
{
	bool is_check;
	byte value;

	do
	:: atomic { stores ? is_check, value -> if :: is_check -> check = value :: else -> user = value fi }
	:: freeing_done && empty(stores) -> break
	od
}

/* gmod_patrol_tick(): launch(), the kernel's visit(), judge(). */
active proctype rounds()
{
	byte u, c, answer;

	do
	:: began == 4 -> break
	:: else ->
		began++;			/* launch() */
		answer = NOBODY;
		u = user;			/* load_entry(): words one by one */
		c = check;
#ifdef NOCHECK
		if
		:: u != NOBODY ->
#else
		if
		:: c != NOBODY && c == u ->	/* hash[2] == e.check */
#endif
			assert(mapped[u]);	/* look() */
			if
			:: changed_at[u] != 255 -> answer = u
			:: else
			fi
		:: else
		fi;
		ended++;			/* done[] */
		if
		:: answer == NOBODY -> seen = began
		:: else ->			/* fetch(), strike() */
			assert(seen <= changed_at[answer]);
			changed_in = answer;
#ifdef NOCAS
			check = NOBODY
#else
			atomic { if :: check == answer -> check = NOBODY :: else fi }
#endif
		fi
	od
}

active proctype thread()
{
	byte b = 1, stamp, launched;

	do
	:: b == 3 -> break
	:: else ->
		mapped[b] = true;
		stores ! false, b;		/* gmod_patrol_add() */
		stores ! true, b;
		/* A kernel strays, or none does. It was launched by a store, which comes behind these. */
		if
		:: empty(stores) -> changed_at[b] = began
		:: skip
		fi;
#ifndef LATE_STAMP
		stamp = seen;			/* gmod_patrol_remove() */
#endif
		/* What it finds there is its own, or was struck off since it has changed. */
		(empty(stores));
		assert(check == b || changed_in == b);
#ifndef LATE
		stores ! true, NOBODY;
#ifndef NOFENCE
		(empty(stores));
#endif
#endif
		launched = began;		/* gmod_context_wait() */
		(ended >= launched);
#ifdef LATE
		stores ! true, NOBODY;
		(empty(stores));
#endif
#ifdef LATE_STAMP
		stamp = seen;
#endif
		/* look(), unless it has been sighted before, with what had been seen by then. */
		assert(changed_at[b] == 255 || changed_in == b || stamp <= changed_at[b]);
		mapped[b] = false;		/* cuMemFree */
		b++
	od;
	freeing_done = true
}
