/* The tables of boys_lanes.h; the initialisers are made at build time by make_boys_table.c. */
#include "integrals/boys/boys.h"

__attribute__((aligned(64))) const fmo_boys_lanes_table fmo_boys_lanes = {
#include "boys_lanes.inc"
};
