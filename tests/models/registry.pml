/*
 * The registry's life cycle and its stack of free records: monitor/registry/registry.c.
 *
 * Two threads claim and release buffers from chunks of records that they append as the stack runs empty. Without LOOKUP
 * each holds two at a time. With it they hold one at a time, and a third thread looks
 * the first record up (gmod_record_snapshot) and frees the buffer it finds there, as a program does that frees from
 * another thread.
 *
 *   good      no record has two owners; every record is free at the end, once; bounds belong to the word they were read
 *             with; nobody releases another buffer than the one it looked up; positions that are valid have their chunk
 *   broken    NOTAG      the stack's head has no tag (ABA)
 *             NOGEN      retire leaves the generation as it was (with LOOKUP)
 *             UNORDERED  the count of chunks is stored as each chunk comes, not in their order
 *             NOCAS      begin_release looks at the word and stores, instead of a CAS (with LOOKUP)
 *             NORECHECK  the snapshot does not look at the word again (with LOOKUP)
 */
#ifdef LOOKUP
#define CHUNK 1				/* records of a chunk */
#else
#define CHUNK 2
#endif
#define CHUNKS 4
#define RECORDS 8

#define FREE 0
#define ARMING 1
#define LIVE 2
#define RELEASING 3
#define WORD(generation, state) (((generation) % 16) * 4 + (state))
#define STATE(word) ((word) % 4)
#define GENERATION(word) ((word) / 4)

byte word[RECORDS];			/* struct gmod_record: generation << 2 | state */
byte bounds[RECORDS], bounds_too[RECORDS];	/* two of its fields: the number of the buffer they belong to */
byte next_free[RECORDS];		/* position + 1 */
byte owners[RECORDS];			/* threads that own the record, for the assertions */
byte stack, tag;			/* free_stack: position + 1 and tag, one atomic word */
bool chunk_set[CHUNKS];			/* chunks[i] is not NULL */
byte chunk_count;
byte buffers;				/* buffers there have been: each has a number */
byte through;

inline push_free(r)
{
	do
	:: atomic { head = stack; head_tag = tag };	/* atomic_load(&free_stack, relaxed) */
		next_free[r] = head;			/* atomic_store(&r->next_free, relaxed) */
		atomic {				/* CAS free_stack, release */
			if
			:: stack == head && tag == head_tag -> stack = r + 1; break
			:: else
			fi
		}
	od
}

/* got: position + 1, or 0 */
inline pop_free()
{
	do
	:: atomic { head = stack; head_tag = tag };	/* atomic_load(&free_stack, acquire) */
		if
		:: head == 0 -> got = 0; break
		:: else
		fi;
		next = next_free[head - 1];		/* atomic_load(&r->next_free, relaxed) */
		atomic {				/* CAS free_stack, acq_rel */
			if
			:: stack == head && tag == head_tag ->
				stack = next;
#ifndef NOTAG
				tag++;
#endif
				got = head;
				break
			:: else
			fi
		}
	od
}

inline add_chunk()
{
	i = chunk_count;				/* atomic_load(&chunk_count, acquire) */
	do
	:: atomic {					/* CAS chunks[i] NULL -> fresh, release */
			assert(i < CHUNKS);
			if
			:: !chunk_set[i] -> chunk_set[i] = true; break
			:: else -> i++
			fi
		}
	od;
	atomic {
#ifdef UNORDERED
		chunk_count = i + 1;
#else
		chunk_count == i -> chunk_count = i + 1;	/* CAS chunk_count i -> i + 1, release, until it works */
#endif
		/* gmod_record_at: chunk_of() of every position of a bank that is counted */
		assert(chunk_set[0] && (chunk_set[1] || chunk_count < 2) && (chunk_set[2] || chunk_count < 3))
	};
#if CHUNK == 2
	push_free(i * CHUNK + 1);
#endif
	push_free(i * CHUNK)
}

inline claim(r)
{
	pop_free();
	do
	:: got != 0 -> break
	:: else ->
		add_chunk();
		pop_free()
	od;
	r = got - 1;
	atomic {
		owners[r]++;
		assert(owners[r] == 1 && STATE(word[r]) == FREE)
	};
	word[r] = WORD(GENERATION(word[r]), ARMING);	/* move: atomic_store(&r->word, release) */
	atomic { buffers++; mine = buffers };
	bounds[r] = mine;				/* gmod_record_set_bounds, relaxed */
	bounds_too[r] = mine
}

inline publish(r)
{
	atomic {
		owners[r]--;
		word[r] = WORD(GENERATION(word[r]), LIVE)	/* move: atomic_store(&r->word, release) */
	}
}

/* Releases the buffer that was LIVE with `then`; number: which one it was. */
inline begin_release(r, then, number)
{
#ifdef NOCAS
	released = (word[r] == then);
	if
	:: released -> word[r] = then - LIVE + RELEASING; owners[r]++
	:: else
	fi;
#else
	atomic {					/* CAS word LIVE -> RELEASING, seq_cst */
		released = (word[r] == then);
		if
		:: released -> word[r] = then - LIVE + RELEASING; owners[r]++
		:: else
		fi
	};
#endif
	assert(!released || (owners[r] == 1 && bounds[r] == number && bounds_too[r] == number))
}

inline retire(r)
{
	atomic {
		assert(owners[r] == 1);
		owners[r]--;
#ifdef NOGEN
		word[r] = WORD(GENERATION(word[r]), FREE)
#else
		word[r] = WORD(GENERATION(word[r]) + 1, FREE)	/* gmod_record_abandon: atomic_store(&r->word, release) */
#endif
	};
	push_free(r)
}

/* begin_release and retire, unless another thread was first. */
inline release(r, then, number)
{
	begin_release(r, then, number);
	if
	:: released -> retire(r)
	:: else
	fi
}

#ifdef LOOKUP
proctype program(byte turns)
{
	byte head, head_tag, next, got, i, mine, r, live;
	bool released;

	do
	:: turns == 0 -> break
	:: else ->
		claim(r);
		live = WORD(GENERATION(word[r]), LIVE);
		publish(r);
		release(r, live, mine);
		atomic { turns--; r = 0; live = 0; mine = 0 }
	od;
	through++
}
#else
proctype program()
{
	byte head, head_tag, next, got, i, mine;
	byte one, one_live, one_mine, two, two_live;
	bool released;

	claim(one);
	one_mine = mine;
	one_live = WORD(GENERATION(word[one]), LIVE);
	publish(one);
	claim(two);
	two_live = WORD(GENERATION(word[two]), LIVE);
	publish(two);
	release(two, two_live, mine);
	release(one, one_live, one_mine);
	through++
}
#endif

/* A look-up of the first record, and a free of what was found. */
proctype freeing()
{
	byte head, head_tag;
	byte then, one, two;
	bool released;

	if
	:: chunk_count > 0 ->
		then = word[0];				/* gmod_record_live: atomic_load(&r->word, seq_cst) */
		one = bounds[0];			/* gmod_record_snapshot, relaxed */
		two = bounds_too[0];
		if
#ifdef NORECHECK
		:: STATE(then) == LIVE ->
#else
		:: STATE(then) == LIVE && word[0] == then ->	/* atomic_load(&r->word, acquire) behind a fence */
#endif
			assert(one == two);
			release(0, then, one)
		:: else
		fi
	:: else
	fi;
	through++
}

init
{
	byte r, on_stack;

#ifdef LOOKUP
	atomic { run program(2); run program(1); run freeing() };
	(through == 3);
#else
	atomic { run program(); run program() };
	(through == 2);
#endif
	d_step {
		r = stack;
		do
		:: r == 0 -> break
		:: else ->
			assert(STATE(word[r - 1]) == FREE && on_stack < RECORDS);
			on_stack++;
			r = next_free[r - 1]
		od;
		assert(on_stack == chunk_count * CHUNK)
	}
}
