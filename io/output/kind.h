/* First bytes of the text files that fmo writes, by which kind.c recognises them. */
#ifndef FMO_IO_OUTPUT_KIND_H
#define FMO_IO_OUTPUT_KIND_H

#define FMO_MOLDEN_HEAD "[Molden Format]\n[Title]\nfmo " /* followed by the version */
#define FMO_JSON_HEAD   "\"format\": \"fmo-"             /* after "{" and blanks */
#define FMO_STATE_HEAD  "fmo fragment state "            /* as written by driver/fmo/state.c */

#define FMO_CHECKPOINT_HEAD "fmo checkpoint of a batch 3\n"  /* followed by the settings */
#define FMO_EXTXYZ_HEAD     "Properties=species:S:1:pos:R:3" /* of the second line */
#define FMO_EXTXYZ_FORCES   ":forces:R:3:REF_forces:R:3"     /* may follow */
#define FMO_EXTXYZ_CHARGES  ":charges:R:1"                   /* may follow */
#define FMO_EXTXYZ_VERSION  " fmo_version="                  /* follows */

/* First line of the table of all pairs of fragments. */
#define FMO_PAIRS_HEAD                                                                       \
    "fragment_i\tfragment_j\tname_i\tname_j\tkind\tbonded\tdistance_vdw\tinternal_hartree\t" \
    "transfer_hartree\tenergy_hartree\tenergy_kcal_mol\telectrostatic_kcal_mol\t"            \
    "exchange_transfer_kcal_mol\n"

/* First lines of the heat map of the pairs. */
#define FMO_MAP_HEAD \
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- fmo heat map of pair interactions -->\n"

/* First lines of the page for browsers, as in driver/fmo/page/page.html. */
#define FMO_PAGE_HEAD "<!DOCTYPE html>\n<!-- fmo page of pair interactions -->\n"

/* First line of a check point file in ABINIT-MP's format, before the title. */
#define FMO_CPF_HEAD "CPF Open1.0 rev23 fmo: "

#endif
