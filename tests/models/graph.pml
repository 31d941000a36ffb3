/*
 * A tenure, the record of what a handle stood for: take(), put() and gmod_history_at() in monitor/launches/history.c.
 *
 * One record: three handles in turn have it, each from a later time on, and each is told of before the next. A reader
 * takes no lock. The order of the code's release stores and acquire loads is the one they have here.
 *
 *   good      a reader has the handle and the set of the time that it found, or nothing; and what has ended is over
 *   broken    NOAGAIN  the reader does not look at the time again
 *             NOTIME   the record does not lose its time before another handle comes in
 */
#define STILL 9

byte from;			/* 0: it is being written */
byte until;
byte handle, set;		/* of the time with the same number */
byte ended;			/* the latest one that has */
bool through;

inline put(now)
{
	until = 0;		/* take() */
#ifndef NOTIME
	from = 0;
#endif
	handle = now;		/* release */
	set = now;		/* release */
	until = STILL;		/* release */
	from = now		/* release */
}

active proctype writer()
{
	byte now = 1;

	do
	:: now < 4 ->
		put(now);
		until = now;	/* end() */
		ended = now;
		now++
	:: else -> break
	od;
	through = true
}

active proctype reader()
{
	byte found, its, what, over, last;

	do
	:: through -> break
	:: else ->
		over = ended;
		found = from;	/* acquire */
		its = handle;	/* acquire */
		what = set;	/* acquire */
		last = until;	/* acquire */
		if
#ifdef NOAGAIN
		:: found != 0 ->
#else
		:: found != 0 && from == found ->
#endif
			assert(its == found && what == found);
			assert(over < found || last != STILL)
		:: else
		fi;
		over = 0; found = 0; its = 0; what = 0; last = 0
	od
}
