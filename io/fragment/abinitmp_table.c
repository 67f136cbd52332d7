/* Keys of inputs of ABINIT-MP and their treatment (keys.h): those that ABINIT-MP prints with their
 * defaults after reading them (Open Ver. 1 Rev. 23), and those in files written by other
 * programs. */
#include "io/fragment/abinitmp.h"

#include <stddef.h>

#define TAKEN(group, key, kind)                                       \
    {                                                                 \
        group, key, FMO_KEY_TAKEN, NULL, NULL, FMO_ABINITMP_##kind, 0 \
    }
#define INTO(group, key, kind, field)                                                             \
    {                                                                                             \
        group, key, FMO_KEY_TAKEN, NULL, NULL, FMO_ABINITMP_##kind, offsetof(fmo_abinitmp, field) \
    }

static const fmo_key_row rows[] = {
    TAKEN("CNTRL", "READGEOM", READGEOM),
    TAKEN("CNTRL", "NATOM", NATOM),
    TAKEN("CNTRL", "CHARGE", CHARGE),
    FMO_ONLY("CNTRL", "AJFVER", "3", "only inputs of version 3 are read"),
    FMO_MUST("CNTRL", "METHOD", "HF"),
    FMO_MUST("CNTRL", "ELECSTATE", "S1"),
    FMO_MUST("CNTRL", "MULT", "1"),
    FMO_MUST("CNTRL", "GRADIENT GMSINP ABINP", "NO"),
    FMO_MUST("CNTRL", "DISPERSION", "OFF"),
    FMO_ONLY("CNTRL", "READINITMO INITDMAT", "NO", "no orbitals or densities are read; remove it"),
    FMO_PASSED("CNTRL",
               "TITLE NPRINT MEMORY MPIMEMSIZE TEIBUF VLENGTH VECTOR FLUSH LOGFILE "
               "DEBUG_MEMORY WRITEGEOM WRITEIFIE WRITEMO WRITEMLDATA MLFRAGLIMIT CPFVER CPFBIN"),
    FMO_PASSED("CNTRL", "INITIALGUESS THOVL E_THSWZ G_THSWZ"), /* initial guess, thresholds */
    /* For open shells, and for dispersion, which is off. */
    FMO_PASSED("CNTRL", "UHFDIIS ROFOCKCOEFF DISPERSIONCUTOFF DISPERSIONGRIMMED2_S6 "
                        "DISPERSIONGRIMMED2_D DISPERSIONGRIMMED2_SR6"),

    TAKEN("FMOCNTRL", "NF", NF),
    TAKEN("FMOCNTRL", "AUTOFRAG", AUTOFRAG),
    INTO("FMOCNTRL", "LAOC", THRESHOLD, laoc),
    INTO("FMOCNTRL", "LPTC", THRESHOLD, lptc),
    INTO("FMOCNTRL", "LDIMER", THRESHOLD, ldimer),
    FMO_MUST("FMOCNTRL", "FMO ESPAOC ESPPTC", "ON"),
    FMO_MUST("FMOCNTRL", "NBODY", "2"),
    FMO_MUST("FMOCNTRL", "FMO3 PSCC", "OFF"),
    FMO_MUST("FMOCNTRL", "FMO3L FMO3SL FMO4 DIMER_ES_MULTIPOLE ESP_PTC_MULTIPOLE NOT_DIMER", "NO"),
    FMO_MUST("FMOCNTRL", "HYBRIDNF OPENFRAG", "0"),
    FMO_MUST("FMOCNTRL", "SPINOPENFRAG", "1"),
    FMO_MUST("FMOCNTRL", "MAINPROJ", "SP3"),
    FMO_MUST("FMOCNTRL", "ESPSET", "AUTO"),
    FMO_MUST("FMOCNTRL", "LMOTYP", "ANO"),
    FMO_MUST("FMOCNTRL", "MONOMER_SCC_MODE", "HF"),
    FMO_MUST("FMOCNTRL", "FSCALE", "2"),
    FMO_MUST("FMOCNTRL", "HYBRIDFRAG PAIRS", ""),
    FMO_ONLY("FMOCNTRL", "READLMO_C READLMO_SI", "",
             "hybrids are those of this program; remove it"),
    FMO_ONLY("FMOCNTRL", "READFRAGLIST", "", "the list stands in &FRAGMENT; write it there"),
    FMO_ONLY("FMOCNTRL", "READ_SCC READ_DIMER_ES READ_MONOMER_MP2", "",
             "results of other runs are not read; remove it"),
    FMO_ONLY("FMOCNTRL", "READ_DIMER READ_INIT_MO", "NO",
             "results of other runs are not read; remove it"),
    FMO_PASSED("FMOCNTRL",
               "NP NP_MONOMER NP_DIMER NP_TRIMER NP_TETRAMER SORTDIMER SORTDIMERSTACKSIZE "
               "MESSAGENODEPACK SCFREPORT WRITE_SCC WRITE_DIMER_ES WRITE_DIMER "
               "WRITE_MONOMER_MP2 DIMER_DIR WRITEMOELEVEL WRITEMOEFRAG CHECKFRAGMENT"),
    FMO_PASSED("FMOCNTRL", "MAXSCCENERGY MAXSCCCYC MONOMER_SCC_ALGORITHM"),
    /* For gradients; for multipoles, hybrids from files and automatic fragments, which are not
     * supported. */
    FMO_PASSED("FMOCNTRL", "HOPGRD MCGRAD LDIMER_CMM FMTREADLMO FRAGSIZERESIDUE FRAGSIZEAMINOACID "
                           "FRAGSIZENUCLEOTIDE LIGANDCHARGE RSOLV HYBRIDSORT"),

    FMO_MUST("SCF", "CDHF IFCD", "NO"), /* Cholesky decomposition */
    FMO_MUST("SCF", "BDA_LMO", "OFF"),
    FMO_MUST("SCF", "MO1 MO2", "0"),
    FMO_MUST("SCF", "MOTRUNCATIONTHRESHOLD", "1E-4"),
    FMO_PASSED("SCF",
               "MAXSCFENERGY MAXSCFDENSITY MAXSCFCYC THINTEG VSHIFT KSHIFT LSHIFT DAMP SCFTYPE "
               "DIISTYPE DIISM DIISTH MAXDIISERROR DIISINIT NDIIS C1DIISBEGINERRORR "
               "C1DIISBEGINERROR C1DIISENDERROR C2DIISBEGINERROR C2DIISENDERROR EDIISBEGINERROR "
               "EDIISENDERROR DIISINVTOL EDIISRESTART USE_ODA EDIISPDIPOUTERMAXCYC "
               "EDIISPDIPINNERMAXCYC EDIISPDIPALPHAMAXCYC EDIISPDIPINITY EDIISPDIPINITMU "
               "EDIISPDIPINITTAU EDIISPDIPINITALPHA EDIISPDIPALPHASCALE EDIISPDIPEPS "
               "EDIISPDIPTOLSCALE UHFALGORITHM"),
    /* For localised orbitals, which are made after the SCF, and for Cholesky decomposition. */
    FMO_PASSED("SCF",
               "MODLOC_LOC METHOD_LOC LPRINT_LOC THRLOC_LOC LIMITR_LOC THCDINT THCDLD NCDBLK "
               "DEBUG_CDAM CDGRAD CDTYPE CDGENV"),

    TAKEN("BASIS", "BASISSET", BASISSET),
    TAKEN("BASIS", "DIFFUSEON", DIFFUSEON),
    FMO_ONLY("BASIS", "READBS", "", "remove it, and give the set as a file with --basis"),

    /* Groups with a switch; their other keys have no effect while it is off. */
    FMO_MUST("OPTCNTRL", "OPT HOPT SIDEOPT", "OFF"),
    FMO_PASSED("OPTCNTRL", "*"),
    FMO_MUST("SOLVATION", "EFFECT", "OFF"),
    FMO_PASSED("SOLVATION", "*"),
    FMO_MUST("BSSE", "CP", "OFF"),
    FMO_PASSED("BSSE", "*"),
    FMO_MUST("MDCNTRL", "MD", "OFF"),
    FMO_PASSED("MDCNTRL", "*"),
    FMO_MUST("LRD", "DISP", "OFF"),
    FMO_PASSED("LRD", "*"),

    /* Groups for methods that are rejected elsewhere, and for analyses after the calculation. */
    FMO_PASSED("MP2", "*"),
    FMO_PASSED("MP2DNS", "*"),
    FMO_PASSED("MP2GRD", "*"),
    FMO_PASSED("MP3", "*"),
    FMO_PASSED("LMP2", "*"),
    FMO_PASSED("CCPT", "*"),
    FMO_PASSED("CIS", "*"),
    FMO_PASSED("CISGRD", "*"),
    FMO_PASSED("GF2", "*"),
    FMO_PASSED("POL", "*"),
    FMO_PASSED("CAFI", "*"),
    FMO_PASSED("PBEQ", "*"),
    FMO_PASSED("POP", "*"),
    FMO_PASSED("GRIDCNTRL", "*"),
    FMO_PASSED("SCZV", "*"),
    FMO_PASSED("PIEDA", "*"),
    FMO_PASSED("VEL", "*"),
    FMO_PASSED("NHC", "*"),
    FMO_PASSED("ANALYSIS", "*"),

    /* Groups that are accepted if they are empty. */
    FMO_PASSED("MFMO", ""),
    FMO_PASSED("MLFMO", ""),
    FMO_PASSED("XUFF", ""),
    FMO_PASSED("DFT", ""),
    FMO_PASSED("MCP", ""),
    FMO_PASSED("COUPLING", ""),
    FMO_PASSED("FRAGPAIR", ""),
    FMO_PASSED("TYPEFRAG", ""),
    FMO_PASSED("TYPFRAG", ""),
};

const fmo_key_table fmo_abinitmp_keys_table = {"&", "'", rows, sizeof rows / sizeof rows[0]};
