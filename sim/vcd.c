/* SPDX-License-Identifier: MIT */
#include "sim/vcd.h"

#include <inttypes.h>
#include <stdio.h>

enum { FIRST_ID = '!', UNKNOWN = 2 };

static FILE *file;
static uint64_t now; /* the last time that was written */
static unsigned char levels[DZ_VCD_PINS];

/* Each pin's identifier is one printable character. */
static int id_of(unsigned pin)
{
    return FIRST_ID + (int)pin;
}

static void write_header(void)
{
    fputs("$timescale 1 ns $end\n$scope module board $end\n", file);
    for (unsigned i = 0; i < DZ_VCD_PINS; i++)
        fprintf(file, "$var wire 1 %c pin%u $end\n", id_of(i), i);
    fputs("$upscope $end\n$enddefinitions $end\n#0\n$dumpvars\n", file);
    for (unsigned i = 0; i < DZ_VCD_PINS; i++)
        fprintf(file, "x%c\n", id_of(i));
    fputs("$end\n", file);
}

bool dz_vcd_open(const char *path)
{
    file = fopen(path, "w");
    if (file == NULL)
        return false;
    now = 0;
    for (unsigned i = 0; i < DZ_VCD_PINS; i++)
        levels[i] = UNKNOWN;
    write_header();
    return true;
}

void dz_vcd_write(uint64_t time, unsigned pin, unsigned level)
{
    if (pin >= DZ_VCD_PINS || levels[pin] == level)
        return;
    levels[pin] = (unsigned char)level;
    if (time > now) {
        now = time;
        fprintf(file, "#%" PRIu64 "\n", now);
    }
    fprintf(file, "%u%c\n", level, id_of(pin));
}

bool dz_vcd_close(void)
{
    bool is_good = ferror(file) == 0;

    return fclose(file) == 0 && is_good;
}
