/* One thread calls exit(), another _exit(), at the same moment, with damage that only the last look finds. */
#include "make_buffer.h"

static pthread_barrier_t both;

static void *leave(void *unused TK_UNUSED)
{
	pthread_barrier_wait(&both);
	_exit(8);
}

int main(void)
{
	tk_start();
	REQUIRE(!pthread_barrier_init(&both, NULL, 2));
	tk_flip(make_buffer(4000), 4000, 1);
	tk_sync();
	tk_begin_thread(leave, NULL);
	pthread_barrier_wait(&both);
	exit(8);
}
