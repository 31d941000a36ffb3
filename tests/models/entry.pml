/*
 * The entry of a block, in a chunk with one block: include/gmod/device_entry.h, with mallocN, freeN and the guard.
 *
 * Two threads allocate, overrun or not, free, and write after the free or not, twice each. The second one wants blocks
 * of another class, so that the chunk turns. A guard looks twice meanwhile (KEEP: two, once each), and once when all is
 * done. Until then there may be no room for a finding.
 *
 *   good      nobody gets the block twice; no finding and no damage without a corruption; a finding has the bytes that
 *             are wrong; each corruption is found once, or counted as lost, unless the chunk has become another one
 *             before anybody looked; in the end the chunk is free
 *   good      SAME     both want blocks of the same class
 *             RUN      the second one makes the chunk part of a run, and writes to all of it
 *             KEEP     buffers are kept back, and given back by two guards
 *             SHARED   the second one frees what the first has allocated: one of them wins
 *   broken    NOBUSY   mallocN leaves the entry as it is while it makes the buffer
 *             NOWORD   the guard does not read the word again before it speaks, and turns it whatever it is
 *             NOCHUNK  the guard does not read the chunk's control word again before it speaks
 *             EARLY    freeN gives the block back before its entry is DEAD
 *             UNSEEN   mallocN takes a DEAD block without a look at what was written to it
 *             TURNED   the guard turns the entry first, and writes down then what is wrong
 *             BACK     the guard turns the entry first, and back where the ring has no room
 *             FORGED   (RUN) what the program has written to its run looks like an entry that is FREED, and the guard
 *                      does not read the control word again before it gives the block back
 *             OLD      (RUN) the chunk is used before its control word says that it is no chunk of blocks any more
 *             STAMP    (KEEP) the guard removes the stamp before the entry is its own
 *             CORRUPT  (KEEP) what is corrupt is never given back
 *             ANEW     generations begin anew with a class
 *             NOCAS    (SHARED) freeN reads the entry first and turns it then
 */
#define NONE 0
#define BUSY 1
#define LIVE 2
#define FREED 3
#define DEAD 4
#define REPORTED 8		/* added to the state */
#define BAD 255
#define NEW 0
#define FREE 1
#define SLAB 2
#define GARBAGE 99

#ifdef SAME
#define CLASS(me) 0
#else
#define CLASS(me) (me)
#endif
#ifdef KEEP
#define GUARDS 2
#define LOOKS 1
#else
#define GUARDS 1
#define LOOKS 2
#endif
#ifndef EACH
#define EACH 2
#endif

#define STATE(s) ((s) % 8)
#define GOOD(g, c) ((g) * 2 + (c) + 1)	/* the canaries of a buffer */
#define STAMPED 100			/* added to them where it is kept back */

byte state, gen;		/* the entry's word: always changed together */
byte who_gen, who_class;	/* and its check: it holds for such a buffer */
byte canary;			/* head, tail and fill */
byte kind = FREE, class, generation;	/* of the chunk's control word: always changed together */
bool pool = 1, there = 1;		/* in the set of free chunks; in the chunk's bitmap */
byte owners;			/* only for the checks: threads that have the block */
bool bad;			/* the buffer is corrupt, and nobody has said so */
byte doubles;
byte running = 2, guards = GUARDS;
bool over;
byte shared_gen;		/* SHARED: of the first thread's latest buffer */

/* gmod_say: ok = 0: there is no room */
inline say(what)
{
	atomic {
		if
		:: ok = 1; assert(what == BAD && bad); bad = 0
		:: !over -> ok = 0
		fi
	}
}

/* gmod_block_release: the chunk's only block, so that the chunk goes as well */
inline release()
{
	atomic { assert(owners == 1); owners = 0 };
	there = 1;
	atomic { kind = FREE; generation++ };
	pool = 1
}

inline corrupt()
{
	atomic {
		if
		:: !bad && canary != BAD -> canary = BAD; bad = 1
		:: else
		fi
	}
}

/* gmod_heap_free */
inline give_back()
{
#ifdef NOCAS
	s = state; ok = (STATE(s) == LIVE && gen == g);
	if
	:: ok -> state = s - LIVE + BUSY
	:: else
	fi;
#else
	atomic {			/* gmod_buffer_claim */
		s = state; ok = (STATE(s) == LIVE && gen == g);
		if
		:: ok -> state = s - LIVE + BUSY
		:: else
		fi
	};
#endif
	if
	:: !ok -> doubles++
	:: else ->
		if
		:: s == LIVE && canary != GOOD(g, class) ->
			say(canary);
			if
			:: ok -> s = s + REPORTED
			:: else
			fi
		:: else
		fi;
#ifdef KEEP
		ok = 0;
#endif
		if
		:: !ok ->		/* gmod_buffer_keep */
			atomic {
				if
				:: canary != BAD -> canary = canary + STAMPED
				:: else
				fi
			};
			state = s - LIVE + FREED
		:: else ->
#ifdef EARLY
			release();
			state = s - LIVE + DEAD
#else
			state = s - LIVE + DEAD;
			release()
#endif
		fi
	fi
}

proctype thread(byte me)
{
	byte k, s, g, n;
	bool ok, got;

	do
	:: n < EACH ->
		n++; got = 0;
		/* gmod_chunk_take: there is only one chunk, whose block is free when the chunk is */
		atomic { got = pool; pool = 0 };
		if
		:: !got -> goto next
		:: else
		fi;
		/* gmod_chunk_clear */
#ifdef RUN
		if
		:: me ->			/* gmod_run_make */
#ifdef OLD
			atomic { state = LIVE; gen = GARBAGE; bad = 0 };
			atomic { kind = NEW; generation++ };
#else
			atomic { kind = NEW; generation++ };
			atomic {					/* what the program may write */
				bad = 0;
				if
				:: state = LIVE; gen = GARBAGE
				:: state = FREED
				:: state = FREED + REPORTED
				fi
			};
#endif
			if
			:: canary = GARBAGE
			:: skip
			fi;
			pool = 1;
			goto next
		:: else
		fi;
#endif
		if
		:: kind == NEW || class != CLASS(me) ->
			kind = NEW;
#ifdef ANEW
			atomic { state = NONE; gen = 0; bad = 0 }
#else
			atomic { state = NONE; gen = generation; bad = 0 }	/* what was written to a DEAD buffer is gone */
#endif
		:: else
		fi;
		atomic { kind = SLAB; class = CLASS(me); generation++; owners++; assert(owners == 1) };
		atomic { assert(there); there = 0 };
		/* gmod_block_state, gmod_block_verify */
		atomic { s = state; g = gen; assert(STATE(s) == NONE || STATE(s) == DEAD) };
#ifndef UNSEEN
		if
		:: s == DEAD && canary != GOOD(g, class) ->
			atomic {
				ok = (state == s && gen == g);
				if
				:: ok -> state = s + REPORTED
				:: else
				fi
			};
			if
			:: ok ->
				say(canary);
				if
				:: !ok -> bad = 0			/* gmod_say_none */
				:: else
				fi
			:: else
			fi
		:: else
		fi;
#endif
		/* gmod_entry_make, gmod_buffer_make, gmod_entry_publish */
		g++;
#ifndef NOBUSY
		atomic { state = BUSY; gen = g };
#endif
		atomic { who_gen = g; who_class = class };
		atomic { canary = GOOD(g, class); assert(!bad) };
		atomic { state = LIVE; gen = g };
#ifdef SHARED
		shared_gen = g;
#endif
		/* the program */
		if
		:: corrupt()
		:: skip
		fi;
		give_back();
		/* ... after the free */
		atomic {
			if
			:: state == DEAD && gen == g && who_gen == g && kind == FREE && class == CLASS(me) -> corrupt()
			:: skip
			fi
		}
next:		atomic { s = 0; g = 0; got = 0; ok = 0 }
	:: else -> break
	od;
	running--
}

/* SHARED: in the place of the second thread. */
proctype other_free()
{
	byte s, g;
	bool ok;

	shared_gen != 0;
	g = shared_gen;
	give_back();
	running--
}

/* gmod_guard_look, at the chunk's only entry */
inline look()
{
	atomic {
		k = kind; c = class; cg = generation;
		if
		:: k == NEW -> goto looked
		:: else
		fi
	};
	atomic {
		s = state; g = gen;
		if
		:: STATE(s) < LIVE || STATE(s) > DEAD -> goto looked
		:: else
		fi
	};
	holds = (who_gen == g && who_class == c);
	atomic {
		seen = canary;
		if
		:: STATE(s) == FREED && seen >= STAMPED && seen != BAD -> seen = seen - STAMPED
		:: else
		fi
	};
	if
	:: !holds || (s < REPORTED && seen != GOOD(g, c)) ->
		/* gmod_guard_wrong */
#ifndef NOCHUNK
		atomic {
			if
			:: !(kind == k && class == c && generation == cg) -> goto looked
			:: else
			fi
		};
#endif
#ifndef NOWORD
		atomic {
			if
			:: !(state == s && gen == g) -> goto looked
			:: else
			fi
		};
#endif
		if
		:: !holds ->
			atomic {
				ok = (state == s && gen == g);
				assert(!ok);			/* damaged */
				goto looked
			}
		:: else
		fi;
		/* gmod_say_corrupt */
#if defined(TURNED) || defined(BACK)
		seen = canary;
		atomic {
			ok = (state == s && gen == g);
			if
			:: ok -> state = s + REPORTED
			:: else -> goto looked
			fi
		};
#ifdef TURNED
		seen = canary;
		atomic { assert(seen == BAD && bad); bad = 0 };
#else
		say(seen);
		if
		:: !ok ->
			atomic {
				if
				:: state == s + REPORTED && gen == g -> state = s
				:: else
				fi;
				goto looked
			}
		:: else
		fi;
#endif
#else
		seen = canary;
		atomic {
			if
			:: !over -> goto looked			/* no room */
#ifdef NOWORD
			:: true -> ok = 1
#else
			:: ok = (state == s && gen == g)
#endif
			fi;
			if
			:: ok -> state = s + REPORTED; assert(seen == BAD && bad); bad = 0
			:: else -> goto looked			/* the finding is void */
			fi
		};
#endif
#ifdef CORRUPT
		goto looked;
#endif
		s = s + REPORTED
	:: else
	fi;
#ifdef CORRUPT
	if
	:: s >= REPORTED -> goto looked
	:: else
	fi;
#endif
	if
	:: STATE(s) == FREED ->
#ifndef FORGED
		atomic {
			if
			:: !(kind == k && class == c && generation == cg) -> goto looked
			:: else
			fi
		};
#endif
		/* gmod_guard_freed */
#ifdef STAMP
		canary = (canary == BAD -> BAD : GOOD(g, c));
#endif
		atomic {
			ok = (state == s && gen == g);
			if
			:: ok -> assert(kind != NEW); state = s - FREED + BUSY
			:: else
			fi
		};
		if
		:: ok ->
#ifndef STAMP
			canary = (canary == BAD -> BAD : GOOD(g, c));
#endif
			state = s - FREED + DEAD;
			release()
		:: else
		fi
	:: else
	fi;
looked:	atomic { k = 0; c = 0; cg = 0; s = 0; g = 0; seen = 0; holds = 0; ok = 0 }
}

proctype guard()
{
	byte k, c, cg, s, g, seen, n;
	bool holds, ok;

	do
	:: n < LOOKS -> n++; look()
	:: else -> break
	od;
	guards--
}

/* When all is done there is room, too. */
proctype last_guard()
{
	byte k, c, cg, s, g, seen;
	bool holds, ok;

	running == 0 && guards == 0;
	over = 1;
	look();
	assert(!bad);
	assert(kind <= FREE && pool && there && owners == 0);
#ifdef SHARED
	assert(doubles == 1)
#else
	assert(doubles == 0)
#endif
}

init
{
	atomic {
		run thread(0);
#ifdef SHARED
		run other_free();
#else
		run thread(1);
#endif
		run guard();
#ifdef KEEP
		run guard();
#endif
		run last_guard()
	}
}
