/* SPDX-License-Identifier: MIT */

/*
 * preemption -- how late an urgent task is while another one computes
 *
 * bench/preemption.c on the board. A task computes for 30 ms without an await.
 * Meanwhile an interrupt's handler sends to an urgent task, each round at
 * another point, the first at the very beginning. In the same executor it runs
 * when the other has finished; in one that an interrupt polls, at once.
 *
 * late: from the handler's first instruction to the urgent task's first one
 * behind its await; min and max, in instructions and in microseconds.
 */

#include <stdlib.h>

#include "bench/qemu/measure.h"
#include "bench/qemu/shot.h"
#include "sync/signal.h"

enum {
    COMPUTE_US = 30000,
    COMPUTE = COMPUTE_US * 125 / 32, /* instructions of 256 ns */
    LOOP = 2,                        /* of them, in each turn of the loop */
    ROUNDS = 100,
};

DZ_SIGNAL_DEFINE(round_signal, uint32_t, DZ_CRITICAL_SECTION)

static struct round_signal raised; /* to the urgent task */
static struct round_signal heard;  /* by it, to the other */
static struct dz_executor thread, urgent;

static uint32_t latest, earliest;

void SOFTWARE0_Handler(void);
void SOFTWARE0_Handler(void)
{
    dz_executor_poll(&urgent);
}

static void handler(void)
{
    round_signal_send(&raised, 1);
}

static __attribute__((noinline)) void note_lateness(uint32_t stamp)
{
    uint32_t late = shot_age(stamp);

    if (late > latest)
        latest = late;
    if (late < earliest)
        earliest = late;
}

struct player {
    struct dz_task task;
    uint32_t number;
    uint32_t round;
    bool is_over;
};

static enum dz_poll urgent_poll(struct player *self)
{
    async (self) {
        for (; self->round < ROUNDS; self->round++) {
            await(round_signal_wait(&raised, &self->number));
            note_lateness(measure_stamp());
            round_signal_send(&heard, 1);
        }
    }
    return DZ_READY;
}

static __attribute__((noinline)) void compute(void)
{
    uint32_t turns = COMPUTE / LOOP;

    __asm__ volatile(".syntax unified\n0: subs %0, #1\n\tbne 0b"
                     : "+l"(turns)
                     :
                     : "cc");
}

static enum dz_poll computing_poll(struct player *self)
{
    async (self) {
        for (; self->round < ROUNDS; self->round++) {
            shot_arm(1 + self->round * (COMPUTE / ROUNDS));
            compute();
            await(round_signal_wait(&heard, &self->number));
        }
        self->is_over = true;
    }
    return DZ_READY;
}

DZ_TASK_POOL(urgents, struct player, urgent_poll, 1)
DZ_TASK_POOL(computings, struct player, computing_poll, 1)

static void report(struct bench_run *run)
{
    enum { INSTRUCTION_NS = 256 };

    bench_count(run, "min", earliest);
    bench_count(run, "max", latest);
    bench_count(run, "max_us", latest * INSTRUCTION_NS / 1000.0);
}

static void run_in(struct bench_run *run, struct dz_executor *executor)
{
    struct player *fast;
    struct player *slow;

    if (urgents_claim(&fast) == DZ_BUSY || computings_claim(&slow) == DZ_BUSY)
        abort();
    latest = 0;
    earliest = UINT32_MAX;
    shot_handler = handler;
    dz_executor_spawn(executor, &fast->task);
    dz_executor_spawn(&thread, &slow->task);
    dz_executor_run_until(&thread, &slow->is_over);
    report(run);
}

static void run_in_same(struct bench_run *run)
{
    run_in(run, &thread);
}

static void run_in_interrupt(struct bench_run *run)
{
    run_in(run, &urgent);
}

static const struct bench benches[] = {
    {"preemption/same_executor", run_in_same, 0},
    {"preemption/interrupt_executor", run_in_interrupt, 0},
};

int main(void)
{
    shot_begin();
    dz_executor_init(&thread, "thread");
    dz_executor_init(&urgent, "urgent");
    dz_executor_start(&urgent, BOARD_SOFTWARE0_IRQ, SHOT_LOWER_PRIORITY);
    measure(benches, sizeof(benches) / sizeof(benches[0]));
    return 0;
}
