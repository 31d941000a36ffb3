/* Handles and times for tests of monitor/launches/proof.h: each test has its own, all in the order of the tests. */
#pragma once

static uint64_t last_handle = 0x555500000000, now = (uint64_t)1 << 60; /* no clock gets there */

static inline uint64_t new_handle(void)
{
	return last_handle += 0x140;
}

static inline uint64_t later(void)
{
	return now += 10;
}
