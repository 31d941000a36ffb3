/* What the patrol makes of a round's answers, where the gather finds that one of the named redzones has changed. */
#define gmod_gather_named look_at_named
#include "lib/buffers/patrol.c" // NOLINT(bugprone-suspicious-include): the test stands in for the gather
#undef gmod_gather_named

#include "monitor/watch/sweep.h"
#include "monitor/watch/verify.h"
#include "tests/unit/buffer.h"

enum { SIZE = 12345, ALLOCATED = 16384, BEFORE = 10, LAST = 30 };

static struct gmod_patrol kept;
static struct gmod_context context = {.patrol = &kept};
static uint32_t changed; /* the position whose redzone the gather does not find as it should be */
static void (*meanwhile)(const struct gmod_record *r);

bool look_at_named(const struct gmod_context *c, const uint32_t *positions, unsigned n)
{
	(void)c;
	for (unsigned i = 0; i < n; i++) {
		const struct gmod_record *r = gmod_record_at(positions[i]);
		struct gmod_details *d = gmod_record_details(r);

		if (positions[i] != changed)
			gmod_stamp_set(&d->slack[GMOD_TAIL], (struct gmod_moment){gmod_now().ns, d->allocated_ticks});
		else if (meanwhile)
			meanwhile(r);
	}
	return true;
}

FIXTURE(start)
{
	return start_gmod("");
}

/* On the patrol's list. */
static struct buffer listed_buffer(void)
{
	struct buffer b = {.total = ALLOCATED};

	b.memory = mmap(NULL, b.total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(b.memory != MAP_FAILED);
	gmod_layout_redzone_at(SIZE, b.total, (uintptr_t)b.memory, (uintptr_t)b.memory, &b.place);
	arm_buffer(&b, SIZE, GMOD_MEM_DEVICE);
	gmod_record_details(b.record)->context = &context;
	gmod_patrol_add(b.record);
	return b;
}

static void free_buffer(struct buffer *b)
{
	struct gmod_moment swept = gmod_sweep_latest();

	assert_true(release_buffer(b));
	gmod_verify_released(b->record, GMOD_VERIFY_ALL, NULL, swept);
	drop_buffer(b);
}

static uint64_t listed_check(const struct buffer *b)
{
	return kept.entry[b->record->position].check;
}

/* Seconds past the hour say which round began; it names so many buffers. */
static void go_round_of(uint32_t number, const struct buffer *named, unsigned n)
{
	struct patrol *p = &kept.monitors;

	p->round = (struct gmod_patrol_args){
	    .list = kept.entry, .answers = &kept.answers, .count = gmod_registry_used(), .round = number};
	p->began = (struct gmod_moment){number * GMOD_SECONDS(1), gmod_ticks()};
	for (unsigned block = 0; block < gmod_patrol_blocks(p->round.count); block++)
		kept.answers.done[block] = (gmod_u64)number << 8;
	kept.answers.done[0] |= n;
	for (unsigned i = 0; i < n; i++)
		kept.answers.changed[0][i] = (gmod_u64)named[i].record->position << 40;
	assert_true(is_answered(p));
	judge_answers(p, &context);
}

/* The latest round that has seen the buffer intact, as a report has it. */
static void check_seen(struct buffer *b, unsigned number)
{
	unsigned minutes = 0, seconds = 0;
	struct report r;

	damage(b->place.user_end, 1);
	free_buffer(b);
	r = take_one(true);
	assert_int_equal(sscanf(strchr(r.intact, ':') + 1, "%u:%u", &minutes, &seconds), 2);
	CHECK(60 * minutes + seconds == number, "%s, not round %u", r.intact, number);
}

TEST(later_rounds_do_not_speak_of_what_has_changed)
{
	struct buffer b[3];

	for (int i = 0; i < 3; i++)
		b[i] = listed_buffer();
	changed = b[0].record->position;
	for (uint32_t i = 1; i <= BEFORE; i++)
		go_round_of(i, NULL, 0);
	/* What has changed keeps the round from being one that found all as it should be. */
	go_round_of(BEFORE + 1, b, 2);
	assert_int_equal(kept.rounds.latest, BEFORE);
	assert_true(!listed_check(&b[0]) && listed_check(&b[1]) && listed_check(&b[2]));
	for (uint32_t i = BEFORE + 2; i <= LAST; i++)
		go_round_of(i, NULL, 0);
	check_seen(&b[0], BEFORE);
	check_seen(&b[1], LAST);
	check_seen(&b[2], LAST);
}

static void list_another(const struct gmod_record *r)
{
	gmod_record_details(r)->serial++;
	gmod_patrol_add(r);
}

TEST(a_later_buffer_stays_on_the_list)
{
	struct buffer b = listed_buffer();
	uint64_t before = listed_check(&b);

	changed = b.record->position;
	meanwhile = list_another;
	go_round_of(LAST + 1, &b, 1);
	meanwhile = NULL;
	assert_true(listed_check(&b) && listed_check(&b) != before);
	gmod_record_details(b.record)->serial--;
	free_buffer(&b);
	take_none();
}

static CMFixtureFunction group_setup = start, group_teardown = end_gmod;
