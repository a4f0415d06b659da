/* SPDX-License-Identifier: MIT */
#include "sim/machine.h"

#include "executor/panic.h"
#include "sim/core.h"
#include "sim/loop.h"
#include "sim/virtual.h"

static struct dz_machine running;
static bool is_running;

static bool is_virtual(void)
{
    return running.time == DZ_TIME_VIRTUAL;
}

static void check_running(void)
{
    if (!is_running)
        dz_panic("there is no machine: call dz_machine_start first", __FILE__,
            __LINE__);
}

void dz_machine_start(const struct dz_machine *machine)
{
    if (is_running)
        dz_panic("a machine is started twice", __FILE__, __LINE__);
    running = *machine;
    dz_loop_start(running.time);
    if (is_virtual()) {
        dz_virtual_start(machine);
        dz_core_machine = &dz_virtual_machine;
    }
    is_running = true;
}

void dz_machine_stop(void)
{
    check_running();
    dz_loop_stop();
    if (is_virtual())
        dz_virtual_stop();
    dz_core_machine = &dz_real_machine;
    running = (struct dz_machine){.time = DZ_TIME_REAL};
    is_running = false;
}

const struct dz_machine *dz_machine_running(void)
{
    return is_running ? &running : NULL;
}

uint64_t dz_machine_now(void)
{
    check_running();
    return is_virtual() ? dz_virtual_now() : dz_loop_now();
}

static void spin(uint64_t ns)
{
    uint64_t end = dz_loop_now() + ns;

    while (dz_loop_now() < end)
        continue;
}

void dz_machine_compute(uint64_t ns)
{
    check_running();
    if (is_virtual())
        dz_virtual_charge(ns);
    else
        spin(ns);
}

void dz_machine_look(void)
{
    if (is_virtual())
        dz_virtual_charge(running.costs.clock);
}

void dz_machine_access(void)
{
    if (is_virtual())
        dz_virtual_charge(running.costs.access);
}

/* In virtual time all is on one thread, which nobody leaves while interrupts
 * are off. */
dz_key dz_machine_lock(void)
{
    check_running();
    return is_virtual() ? dz_port_mask() : dz_loop_lock();
}

void dz_machine_unlock(dz_key key)
{
    if (is_virtual())
        dz_port_unmask(key);
    else
        dz_loop_unlock(key);
}

void dz_machine_call(void (*request)(void *argument), void *argument)
{
    dz_key key;

    check_running();
    if (!is_virtual()) {
        dz_loop_call(request, argument);
        return;
    }
    key = dz_port_mask();
    request(argument);
    dz_port_unmask(key);
}

void dz_due_set(struct dz_due *due, uint64_t at)
{
    check_running();
    if (is_virtual())
        dz_virtual_due_set(due, at);
    else
        dz_loop_due_set(due, at);
}

void dz_due_clear(struct dz_due *due)
{
    check_running();
    if (is_virtual())
        dz_virtual_due_clear(due);
    else
        dz_loop_due_clear(due);
}
