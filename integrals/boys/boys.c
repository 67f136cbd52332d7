/* The tables of boys.h; the initialisers are made at build time by make_boys_table.c. */
#include "integrals/boys/boys.h"

__attribute__((aligned(64))) const fmo_boys_table fmo_boys = {
#include "boys_table.inc"
};
