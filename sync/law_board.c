/* SPDX-License-Identifier: MIT */

/*
 * On the board, the interrupt is one of software, which is made pending with
 * interrupts off, at the end of a critical section. There is nobody to clean up
 * after a failure, so the first one ends the program: a broken law, a panic, a
 * fault, or a hang. That is noticed by the board's watchdog, whose NMI no
 * critical section keeps out.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/port/panic_text.h"
#include "sim/qemu/board.h"
#include "sync/law_episode.h"
#include "sync/law_machine.h"

enum {
    PATIENCE = 20 * BOARD_HZ, /* 78 million instructions for an episode */
    LOWEST_PRIORITY = 0xFF,
    NMI = 2,
};

/* ---- The core. */

static unsigned countdown; /* looks for an interrupt until it strikes */

dz_key law_mask(void)
{
    return dz_port_enter();
}

void law_unmask(dz_key key)
{
    dz_port_exit_untold(key);
}

bool law_is_masked(void)
{
    dz_key key = dz_port_enter();

    dz_port_exit_untold(key);
    return key != 0;
}

/* Nothing is pending here: what law_look() made pending has come since. */
void law_strike_at(unsigned look)
{
    countdown = look;
}

void law_look(void)
{
    if (countdown > 0 && law_may_strike() && --countdown == 0)
        board_pend(BOARD_SOFTWARE0_IRQ);
}

void SOFTWARE0_Handler(void);
void SOFTWARE0_Handler(void)
{
    law_strike();
}

/* ---- Failures. */

/* In any context: nothing else runs any more. */
static _Noreturn void fail(const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, "\n%s law", law_now->name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    law_is_loud = true;
    law_say_type();
    law_say(".\nAll that happens: -append \"DOZE_SEED=%lu DOZE_EPISODE=%ld\"\n"
            "The shortest way, on the host: DOZE_SEED=%lu DOZE_EPISODE=%ld "
            "sync_%s_law_lean%s\n",
        (unsigned long)law_seed, law_told->episode, (unsigned long)law_seed,
        law_told->episode, law_now->name, DZ_CHECKS ? "" : "_walk");
    board_exit(1);
}

void law_broken(const char *what, const char *file, int line)
{
    fail(" (%s:%d): %s\n", file, line, what);
}

void dz_port_panic(const struct dz_panic *panic)
{
    struct dz_panic_text text;

    dz_panic_describe(&text, panic);
    fail(": %s", text.bytes);
}

/* What the core has stored of what it interrupted. (Armv7-M Architecture
 * Reference Manual, B1.5.6.) */
struct frame {
    uint32_t r0, r1, r2, r3, r12, lr, pc, xpsr;
};

void law_stop(const struct frame *frame);

__attribute__((used)) void law_stop(const struct frame *frame)
{
    fail(": %s at 0x%lx, called from 0x%lx\n",
        dz_port_context() == NMI ? "it hangs" : "a fault",
        (unsigned long)frame->pc, (unsigned long)frame->lr);
}

void HardFault_Handler(void);
__attribute__((naked)) void HardFault_Handler(void)
{
    __asm__("mov r0, sp\n\tb law_stop");
}

void NMI_Handler(void);
__attribute__((naked)) void NMI_Handler(void)
{
    __asm__("mov r0, sp\n\tb law_stop");
}

/* ---- Episodes. */

void law_watch(void)
{
    board_watch(PATIENCE);
}

/* One alone is told as it happens. */
bool law_survives(void (*run)(void))
{
    static struct law_told told;

    told = (struct law_told){0};
    law_told = &told;
    law_is_loud = getenv("DOZE_EPISODE") != NULL;
    board_enable(BOARD_SOFTWARE0_IRQ, LOWEST_PRIORITY);
    run();
    board_watch(0);
    return true;
}
