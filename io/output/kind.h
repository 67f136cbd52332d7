/* How texts that we write begin, by which they are known again. */
#ifndef FMO_IO_OUTPUT_KIND_H
#define FMO_IO_OUTPUT_KIND_H

#define FMO_MOLDEN_HEAD "[Molden Format]\n[Title]\nfmo " /* and the version */
#define FMO_JSON_HEAD   "\"format\": \"fmo-"             /* behind "{" and blanks */
#define FMO_STATE_HEAD  "fmo fragment state "            /* as driver/fmo/state.c writes it */

/* All pairs of fragments as a table: the whole first line. */
#define FMO_PAIRS_HEAD                                                                       \
    "fragment_i\tfragment_j\tname_i\tname_j\tkind\tbonded\tdistance_vdw\tinternal_hartree\t" \
    "transfer_hartree\tenergy_hartree\tenergy_kcal_mol\telectrostatic_kcal_mol\t"            \
    "exchange_transfer_kcal_mol\n"

/* Their heat map. */
#define FMO_MAP_HEAD \
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- fmo heat map of pair interactions -->\n"

#endif
