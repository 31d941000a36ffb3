/*
 * The sweeper's pin against a release: monitor/registry/registry.c, monitor/watch/sweep.c, lib/buffers/buffer.c.
 *
 * Two records, in batches of their own; record b's canaries lie on a page that is there while mapped[b]. Each thread
 * frees its buffer, gives the page back, and arms the record again with a new one.
 *
 * The store to `pinned` and the one to a record's word sit in store buffers (x86 TSO: first in first out, drained at
 * any time) until a fence; both sides of the handshake have one.
 *
 *   good      the sweeper never loads from a page that is gone
 *   broken    NOFENCE      gmod_pin() stores without seq_cst
 *             NOFENCE_FREE begin_release stores RELEASING without the barrier of its seq_cst CAS
 *             NORECHECK    the word is read before the pin only
 *             NOWAIT       begin_release does not wait out the pin
 */
#define NONE 0
#define BATCH(b) ((b) + 1)

mtype = { FREE, LIVE, RELEASING };

byte pinned = NONE;		/* as other threads see it */
mtype word[2] = LIVE;
bool mapped[2] = true;
byte done;

chan pin_buffer = [2] of { byte };	/* the sweeper's stores under way */
chan word_buffer[2] = [1] of { mtype };	/* the freeing threads' */

/* The hardware: stores become visible one by one, in order, whenever it likes. */
active proctype memory()
{
	byte p;

	do
	:: atomic { pin_buffer ? p -> pinned = p }
	:: atomic { nempty(word_buffer[0]) -> word_buffer[0] ? word[0] }
	:: atomic { nempty(word_buffer[1]) -> word_buffer[1] ? word[1] }
	:: done == 3 && empty(pin_buffer) && empty(word_buffer[0]) && empty(word_buffer[1]) -> break
	od
}

/* gmod_sweep() twice: sweep_batch() for each batch. */
active proctype sweeper()
{
	byte b, pass;
	mtype seen;

	do
	:: pass == 2 -> break
	:: else ->
		b = 0;
		do
		:: b == 2 -> break
		:: else ->
#ifdef NORECHECK
			seen = word[b];
#endif
			pin_buffer ! BATCH(b);		/* gmod_pin: atomic_store(&pinned, batch, seq_cst) ... */
#ifndef NOFENCE
			(empty(pin_buffer));		/* ... whose barrier waits for the store */
#endif
#ifndef NORECHECK
			seen = word[b];			/* gmod_record_live: atomic_load(&r->word, seq_cst) */
#endif
			if
			:: seen == LIVE -> assert(mapped[b])	/* check_record: loads the canaries */
			:: else
			fi;
			pin_buffer ! NONE;		/* gmod_unpin: atomic_store(&pinned, 0, release) */
			b++
		od;
		pass++
	od;
	done++
}

proctype freeing(byte b)
{
	byte turn;

	do
	:: turn == 2 -> break
	:: else ->
		/* gmod_record_begin_release: CAS LIVE -> RELEASING, seq_cst; nobody else moves this word */
#ifdef NOFENCE_FREE
		word_buffer[b] ! RELEASING;
#else
		atomic { assert(word[b] == LIVE); word[b] = RELEASING };
#endif
#ifndef NOWAIT
		(pinned != BATCH(b));			/* begin_release: atomic_load(&pinned, seq_cst) */
#endif
		mapped[b] = false;			/* release: the backend's free() unmaps the page */
#ifdef NOFENCE_FREE
		(empty(word_buffer[b]));
#endif
		word[b] = FREE;				/* gmod_record_abandon: atomic_store(&r->word, FREE, release) */
		mapped[b] = true;			/* the backend's alloc(), gmod_canary_place */
		word[b] = LIVE;				/* gmod_record_publish: atomic_store(&r->word, LIVE, release) */
		turn++
	od;
	done++
}

init
{
	atomic { run freeing(0); run freeing(1) }
}
