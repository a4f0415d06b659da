/* SPDX-License-Identifier: MIT */

/*
 * panic -- the board's panic: in words on the UART, and QEMU ends
 *
 * In place of the port's panic.c, for programs that have room for the C
 * library's printf (newlib.c). The exit code is that of the simulated machine:
 * 5 if two contexts used what is not guarded against that, else 1.
 */

#include "executor/panic.h"
#include "sim/port/panic_text.h"
#include "sim/qemu/board.h"

void dz_port_panic(const struct dz_panic *panic)
{
    static struct dz_panic_text text;

    if (panic == NULL)
        board_exit(DZ_EXIT_PANIC);
    dz_panic_describe(&text, panic);
    board_write(text.bytes, text.len);
    board_exit(dz_panic_exit_code(panic));
}
