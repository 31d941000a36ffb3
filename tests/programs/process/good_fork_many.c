/* Children are forked while another thread allocates and frees: none of them may hang in what the thread held. */
#include "process.h"
#include <stdatomic.h>

static atomic_int stop;

static void *allocate(void *unused TK_UNUSED)
{
	CK(cuCtxSetCurrent(tk_context));
	while (!atomic_load(&stop))
		use_cuda(2000);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	int ended = 0;

	tk_start();
	tk_kernel("k_flip");
	thread = tk_begin_thread(allocate, NULL);
	for (int i = 0; i < 20; i++) {
		pid_t child = fork();

		REQUIRE(child >= 0);
		if (child == 0)
			_exit(0);
		ended += wait_for_child(child) == 0;
	}
	atomic_store(&stop, 1);
	tk_end_thread(thread);
	printf("%d children ended\n", ended);
}
