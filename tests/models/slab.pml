/*
 * A chunk of the device heap, between the set of free chunks and the set of its class: include/gmod/device_slab.h.
 *
 * Three threads want one or two of a chunk's two blocks (the code asks for one at a time), get what there is, and release
 * it. Who finds nothing makes the chunk one of the class, if it is free. Sets are single bits here; device_set.h has a
 * model of its own (set.pml), and what is in a block, too (entry.pml).
 *
 *   good      no block has two owners, a reservation always finds its bit, and in the end the chunk is free, or has
 *             all blocks that nobody has, and is listed if there are any
 *   good      KEEP=n     who wants n blocks keeps them
 *   broken    NOSETTLE   who gives back a difference does not see to the lists
 *             NORECHECK  a chunk with nothing is taken off the list without another look
 *             BITLATE    a release counts the block before its bit is there
 *             STORE      a chunk that is made one of the class has its number stored, whatever others do to it
 *             GREEDY     a chunk with all blocks is let go without looking whether it still has them
 */
#ifndef LAST
#define LAST 1
#endif
#define TOTAL 2
#define FREE 0
#define SLAB 1

byte kind = FREE;
short number;			/* free blocks; may be negative */
byte generation;
bool there[TOTAL] = 1;		/* free_blocks */
bool owned[TOTAL];
byte reserved;			/* reserved and not yet picked: only for the check of I1 */
bool pool = 1;			/* in the set of free chunks */
bool listed;			/* in that of its class */
byte running = 3;

#define BITS (there[0] + there[1])

/* gmod_chunk_settle(before, after); after_kind and after_generation go with after */
inline settle(before, after, k, g)
{
	if
	:: k == SLAB && after == TOTAL ->
		atomic {
			if
#ifdef GREEDY
			:: true ->
#else
			:: kind == k && number == after && generation == g ->	/* gmod_cas64_release(control) */
#endif
				kind = FREE; number = 0; generation = (g + 1) % 8; done = 1
			:: else -> done = 0
			fi
		};
		if
		:: done ->
			listed = 0;		/* gmod_set_take(class) */
			pool = 1		/* gmod_set_add(GMOD_SET_FREE) */
		:: !done && before <= 0 -> listed = 1
		:: else
		fi
	:: k == SLAB && after != TOTAL && before <= 0 && after > 0 -> listed = 1	/* gmod_set_add(class) */
	:: else
	fi
}

/* gmod_chunk_unlist */
inline unlist()
{
	listed = 0;
#ifndef NORECHECK
	atomic {
		if
		:: kind == SLAB && number > 0 -> done = 1
		:: else -> done = 0
		fi
	};
	if
	:: done -> listed = 1
	:: else
	fi
#endif
}

proctype thread(byte want)
{
	short before, after;
	byte got, k, g, i, mine[TOTAL];
	bool done;

again:	got = 0; before = 0; after = 0; k = 0; g = 0;
	done = (kind == SLAB && number > 0);			/* gmod_slab_try: the look before */
	if
	:: done ->
		atomic {						/* gmod_add64_acquire(control, -want) */
			before = number; k = kind; number = number - want;
			if
			:: k == SLAB && before >= want -> got = want
			:: k == SLAB && before > 0 && before < want -> got = before
			:: else -> got = 0
			fi;
			reserved = reserved + got;
			assert(BITS >= reserved)			/* I1 */
		};
		if
		:: got < want ->
			atomic {					/* gmod_add64_release(control, back) */
				number = number + want - got; k = kind; g = generation;
				after = number
			};
#ifndef NOSETTLE
			settle(after - want + got, after, k, g)
#endif
		:: else
		fi;
		if
		:: got && before == got -> unlist()
		:: else
		fi
	:: else ->
		if
		:: listed -> unlist()
		:: else
		fi
	fi;
	if
	:: got -> goto pick
	:: else
	fi;
	atomic { done = pool; pool = 0 };			/* gmod_chunk_take */
	if
	:: done ->
		assert(BITS == TOTAL && kind == FREE);		/* I4: what a free chunk is */
#ifdef STORE
		before = number;
		atomic { number = before + TOTAL; kind = SLAB; generation = (generation + 1) % 8; after = number };
#else
		atomic { number = number + TOTAL; kind = SLAB; generation = (generation + 1) % 8; after = number };
#endif
		if
		:: after > 0 -> listed = 1
		:: else
		fi;
		goto again
	:: else -> goto out					/* no memory */
	fi;
pick:	i = 0; before = 0; after = 0; done = 0; k = 0; g = 0;
	do						/* gmod_slab_pick */
	:: i < got ->
		atomic {				/* gmod_and32_acquire(&free_blocks[w]) */
			if
			:: there[0] -> there[0] = 0; mine[i] = 0
			:: there[1] -> there[1] = 0; mine[i] = 1
			fi;
			assert(!owned[mine[i]]);
			owned[mine[i]] = 1; reserved--; i++
		}
	:: else -> break
	od;
	assert(kind == SLAB);
	i = 0;
#ifdef KEEP
	if
	:: want == KEEP -> goto out
	:: else
	fi;
#endif
	do						/* gmod_block_release */
	:: i < got ->
		atomic { owned[mine[i]] = 0; done = 0 };
#ifdef BITLATE
		atomic { number++; after = number; k = kind; g = generation };
		there[mine[i]] = 1;
#else
		there[mine[i]] = 1;
		atomic { number++; after = number; k = kind; g = generation };
#endif
		settle(after - 1, after, k, g);
		i++
	:: else -> break
	od;
out:	running--
}

init
{
	atomic { run thread(1); run thread(2); run thread(LAST) };
	running == 0;
	assert((kind == FREE && number == 0 && pool) ||
	       (kind == SLAB && number == BITS && number + owned[0] + owned[1] == TOTAL && (number == 0 || listed)))
}
