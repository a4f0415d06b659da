/* SPDX-License-Identifier: MIT */

/*
 * newlib -- what the C library asks of a system, on the board
 *
 * Standard output and standard error are the UART. The heap is what
 * board.ld leaves between .bss and the stack. abort() ends QEMU with 134, as a
 * shell says of a process.
 */

#include <errno.h>
#include <sys/stat.h>

#include "sim/qemu/board.h"

enum { ABORTED = 128 };

/* Names and types are newlib's; its headers do not declare them all. */
void *_sbrk(ptrdiff_t size);
int _write(int file, const void *bytes, size_t len);
int _read(int file, void *bytes, size_t len);
int _close(int file);
int _fstat(int file, struct stat *stat);
int _isatty(int file);
int _lseek(int file, int offset, int origin);
int _kill(int process, int signal);
int _getpid(void);
_Noreturn void _exit(int code);

void *_sbrk(ptrdiff_t size)
{
    static char *heap = board_heap_start;
    char *block = heap;

    if (size > board_heap_end - heap) {
        errno = ENOMEM;
        return (void *)-1;
    }
    heap += size;
    return block;
}

int _write(int file, const void *bytes, size_t len)
{
    (void)file;
    board_write(bytes, len);
    return (int)len;
}

int _read(int file, void *bytes, size_t len)
{
    (void)file;
    (void)bytes;
    (void)len;
    return 0;
}

int _close(int file)
{
    (void)file;
    return 0;
}

/* A character device, so that output is written line by line. */
int _fstat(int file, struct stat *stat)
{
    (void)file;
    stat->st_mode = S_IFCHR;
    return 0;
}

int _isatty(int file)
{
    (void)file;
    return 1;
}

int _lseek(int file, int offset, int origin)
{
    (void)file;
    (void)offset;
    (void)origin;
    return 0;
}

int _kill(int process, int signal)
{
    (void)process;
    board_exit(ABORTED + signal);
}

int _getpid(void)
{
    return 1;
}

void _exit(int code)
{
    board_exit(code);
}
