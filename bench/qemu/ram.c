/* SPDX-License-Identifier: MIT */

/*
 * ram -- what one object of each kind takes, in bytes
 */

#include "bench/qemu/measure.h"
#include "scripts/objects.h"

static const struct {
    const char *name;
    size_t size;
} rows[] = {
#define ROW(name, type) {"ram/" #name, sizeof(type)},
    /* clang-format off */
    OBJECTS(ROW)
    /* clang-format on */
};

int main(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bench_run run = {.count = 0};

        bench_count(&run, "bytes", (double)rows[i].size);
        measure_report(rows[i].name, &run);
    }
    return 0;
}
