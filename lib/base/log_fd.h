/*
 * Descriptors that the log writes to: which file is behind one, and pieces (whole lines, a report or a note) that get
 * there whole or visibly torn. Nothing here waits for a reader. For the log's own files, under its lock.
 */
#ifndef GMOD_LIB_BASE_LOG_FD_H
#define GMOD_LIB_BASE_LOG_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Two descriptors of one file are alike; a recycled one is not, nor anything like one of zeros. */
bool gmod_same_file(const struct stat *a, const struct stat *b);

/* PACED: the descriptor may block and is not ours to make non-blocking. SENDS: it is a socket. */
enum gmod_writing { GMOD_WRITES, GMOD_PACED, GMOD_SENDS };

/*
 * Write a piece at once, or return false with the reason in errno. EAGAIN: the reader is slow, and nothing is out.
 * After another reason a part may be: where a pipe or a socket takes less at once, its reader has half a second to make
 * room. *torn, kept by the caller for each descriptor, says so: the part gets its newline late, and the next piece
 * starts where a reader expects it.
 */
bool gmod_write_piece(int fd, const char *s, size_t n, enum gmod_writing how, bool *torn);

/*
 * The same where nobody else has our descriptor: under an advisory lock, which keeps pieces of several processes apart
 * where one write() does not (NFS, full pipes). Who waits 100 ms for it goes on without. false, and EBADF: it is not
 * that file any more, for the program has closed the descriptor meanwhile.
 */
bool gmod_write_own_piece(int fd, const struct stat *whose, const char *s, size_t n, bool *torn);

#endif
