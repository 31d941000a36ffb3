#include "monitor/report/classes.h"

#include "monitor/report/next.h"
#include "monitor/report/title.h"

static const struct gmod_class_row classes[GMOD_CLASS_COUNT] = {
    [GMOD_HEAP_BUFFER_OVERFLOW] = {false, true, gmod_title_corruption, gmod_next_memcheck},
    [GMOD_HEAP_BUFFER_UNDERFLOW] = {false, true, gmod_title_corruption, gmod_next_memcheck},
    [GMOD_USE_AFTER_FREE] = {false, true, gmod_title_use_after_free, gmod_next_memcheck},
    [GMOD_DOUBLE_FREE] = {true, false, gmod_title_double_free, gmod_next_double_free},
    [GMOD_INVALID_FREE] = {true, false, gmod_title_invalid_free, gmod_next_invalid_free},
    [GMOD_API_OUT_OF_BOUNDS] = {true, false, gmod_title_out_of_bounds, gmod_next_out_of_bounds},
    [GMOD_LEAK] = {false, false, gmod_title_leak, gmod_next_leak},
    [GMOD_POST_MORTEM] = {true, true, gmod_title_post_mortem, gmod_next_memcheck},
};

const struct gmod_class_row *gmod_class_row(enum gmod_class class)
{
	return &classes[class];
}

const struct gmod_stack *gmod_site_stack(const struct gmod_finding *f)
{
	return classes[f->class].by_call && f->called_at.depth > 0 ? &f->called_at : &f->buffer.allocated_at;
}
