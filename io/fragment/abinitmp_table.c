/* Keys of inputs of ABINIT-MP and their treatment (keys.h): those that ABINIT-MP prints with their
 * defaults after reading them (Open Ver. 1 Rev. 23), and those in files written by other
 * programs. */
#include "io/fragment/abinitmp.h"

#include <stddef.h>

#define READ(group, key, kind)                                       \
    {                                                                \
        group, key, FMO_KEY_READ, NULL, NULL, FMO_ABINITMP_##kind, 0 \
    }
#define INTO(group, key, kind, field)                                                            \
    {                                                                                            \
        group, key, FMO_KEY_READ, NULL, NULL, FMO_ABINITMP_##kind, offsetof(fmo_abinitmp, field) \
    }

static const fmo_key_row rows[] = {
    READ("CNTRL", "READGEOM", READGEOM),
    READ("CNTRL", "NATOM", NATOM),
    READ("CNTRL", "CHARGE", CHARGE),
    FMO_CHECKED_CURE("CNTRL", "AJFVER", "3", "only inputs of version 3 are read"),
    FMO_CHECKED("CNTRL", "METHOD", "HF"),
    FMO_CHECKED("CNTRL", "ELECSTATE", "S1"),
    FMO_CHECKED("CNTRL", "MULT", "1"),
    FMO_CHECKED("CNTRL", "GRADIENT GMSINP ABINP", "NO"),
    FMO_CHECKED("CNTRL", "DISPERSION", "OFF"),
    FMO_CHECKED_CURE("CNTRL", "READINITMO INITDMAT", "NO",
                     "no orbitals or densities are read; remove it"),
    FMO_IGNORED("CNTRL",
                "TITLE NPRINT MEMORY MPIMEMSIZE TEIBUF VLENGTH VECTOR FLUSH LOGFILE "
                "DEBUG_MEMORY WRITEGEOM WRITEIFIE WRITEMO WRITEMLDATA MLFRAGLIMIT CPFVER CPFBIN"),
    FMO_IGNORED("CNTRL", "INITIALGUESS THOVL E_THSWZ G_THSWZ"), /* initial guess, thresholds */
    /* For open shells, and for dispersion, which is off. */
    FMO_IGNORED("CNTRL", "UHFDIIS ROFOCKCOEFF DISPERSIONCUTOFF DISPERSIONGRIMMED2_S6 "
                         "DISPERSIONGRIMMED2_D DISPERSIONGRIMMED2_SR6"),

    READ("FMOCNTRL", "NF", NF),
    READ("FMOCNTRL", "AUTOFRAG", AUTOFRAG),
    INTO("FMOCNTRL", "LAOC", THRESHOLD, laoc),
    INTO("FMOCNTRL", "LPTC", THRESHOLD, lptc),
    INTO("FMOCNTRL", "LDIMER", THRESHOLD, ldimer),
    FMO_CHECKED("FMOCNTRL", "FMO ESPAOC ESPPTC", "ON"),
    FMO_CHECKED("FMOCNTRL", "NBODY", "2"),
    FMO_CHECKED("FMOCNTRL", "FMO3 PSCC", "OFF"),
    FMO_CHECKED("FMOCNTRL", "FMO3L FMO3SL FMO4 DIMER_ES_MULTIPOLE ESP_PTC_MULTIPOLE NOT_DIMER",
                "NO"),
    FMO_CHECKED("FMOCNTRL", "HYBRIDNF OPENFRAG", "0"),
    FMO_CHECKED("FMOCNTRL", "SPINOPENFRAG", "1"),
    FMO_CHECKED("FMOCNTRL", "MAINPROJ", "SP3"),
    FMO_CHECKED("FMOCNTRL", "ESPSET", "AUTO"),
    FMO_CHECKED("FMOCNTRL", "LMOTYP", "ANO"),
    FMO_CHECKED("FMOCNTRL", "MONOMER_SCC_MODE", "HF"),
    FMO_CHECKED("FMOCNTRL", "FSCALE", "2"),
    FMO_CHECKED("FMOCNTRL", "HYBRIDFRAG PAIRS", ""),
    FMO_CHECKED_CURE("FMOCNTRL", "READLMO_C READLMO_SI", "",
                     "hybrids are those of this program; remove it"),
    FMO_CHECKED_CURE("FMOCNTRL", "READFRAGLIST", "",
                     "the list stands in &FRAGMENT; write it there"),
    FMO_CHECKED_CURE("FMOCNTRL", "READ_SCC READ_DIMER_ES READ_MONOMER_MP2", "",
                     "results of other runs are not read; remove it"),
    FMO_CHECKED_CURE("FMOCNTRL", "READ_DIMER READ_INIT_MO", "NO",
                     "results of other runs are not read; remove it"),
    FMO_IGNORED("FMOCNTRL",
                "NP NP_MONOMER NP_DIMER NP_TRIMER NP_TETRAMER SORTDIMER SORTDIMERSTACKSIZE "
                "MESSAGENODEPACK SCFREPORT WRITE_SCC WRITE_DIMER_ES WRITE_DIMER "
                "WRITE_MONOMER_MP2 DIMER_DIR WRITEMOELEVEL WRITEMOEFRAG CHECKFRAGMENT"),
    FMO_IGNORED("FMOCNTRL", "MAXSCCENERGY MAXSCCCYC MONOMER_SCC_ALGORITHM"),
    /* For gradients; for multipoles, hybrids from files and automatic fragments, which are not
     * supported. */
    FMO_IGNORED("FMOCNTRL", "HOPGRD MCGRAD LDIMER_CMM FMTREADLMO FRAGSIZERESIDUE FRAGSIZEAMINOACID "
                            "FRAGSIZENUCLEOTIDE LIGANDCHARGE RSOLV HYBRIDSORT"),

    FMO_CHECKED("SCF", "CDHF IFCD", "NO"), /* Cholesky decomposition */
    FMO_CHECKED("SCF", "BDA_LMO", "OFF"),
    FMO_CHECKED("SCF", "MO1 MO2", "0"),
    FMO_CHECKED("SCF", "MOTRUNCATIONTHRESHOLD", "1E-4"),
    FMO_IGNORED("SCF",
                "MAXSCFENERGY MAXSCFDENSITY MAXSCFCYC THINTEG VSHIFT KSHIFT LSHIFT DAMP SCFTYPE "
                "DIISTYPE DIISM DIISTH MAXDIISERROR DIISINIT NDIIS C1DIISBEGINERRORR "
                "C1DIISBEGINERROR C1DIISENDERROR C2DIISBEGINERROR C2DIISENDERROR EDIISBEGINERROR "
                "EDIISENDERROR DIISINVTOL EDIISRESTART USE_ODA EDIISPDIPOUTERMAXCYC "
                "EDIISPDIPINNERMAXCYC EDIISPDIPALPHAMAXCYC EDIISPDIPINITY EDIISPDIPINITMU "
                "EDIISPDIPINITTAU EDIISPDIPINITALPHA EDIISPDIPALPHASCALE EDIISPDIPEPS "
                "EDIISPDIPTOLSCALE UHFALGORITHM"),
    /* For localised orbitals, which are made after the SCF, and for Cholesky decomposition. */
    FMO_IGNORED("SCF",
                "MODLOC_LOC METHOD_LOC LPRINT_LOC THRLOC_LOC LIMITR_LOC THCDINT THCDLD NCDBLK "
                "DEBUG_CDAM CDGRAD CDTYPE CDGENV"),

    READ("BASIS", "BASISSET", BASISSET),
    READ("BASIS", "DIFFUSEON", DIFFUSEON),
    FMO_CHECKED_CURE("BASIS", "READBS", "", "remove it, and give the set as a file with --basis"),

    /* Groups with a switch; their other keys have no effect while it is off. */
    FMO_CHECKED("OPTCNTRL", "OPT HOPT SIDEOPT", "OFF"),
    FMO_IGNORED("OPTCNTRL", "*"),
    FMO_CHECKED("SOLVATION", "EFFECT", "OFF"),
    FMO_IGNORED("SOLVATION", "*"),
    FMO_CHECKED("BSSE", "CP", "OFF"),
    FMO_IGNORED("BSSE", "*"),
    FMO_CHECKED("MDCNTRL", "MD", "OFF"),
    FMO_IGNORED("MDCNTRL", "*"),
    FMO_CHECKED("LRD", "DISP", "OFF"),
    FMO_IGNORED("LRD", "*"),

    /* Groups for methods that are rejected elsewhere, and for analyses after the calculation. */
    FMO_IGNORED("MP2", "*"),
    FMO_IGNORED("MP2DNS", "*"),
    FMO_IGNORED("MP2GRD", "*"),
    FMO_IGNORED("MP3", "*"),
    FMO_IGNORED("LMP2", "*"),
    FMO_IGNORED("CCPT", "*"),
    FMO_IGNORED("CIS", "*"),
    FMO_IGNORED("CISGRD", "*"),
    FMO_IGNORED("GF2", "*"),
    FMO_IGNORED("POL", "*"),
    FMO_IGNORED("CAFI", "*"),
    FMO_IGNORED("PBEQ", "*"),
    FMO_IGNORED("POP", "*"),
    FMO_IGNORED("GRIDCNTRL", "*"),
    FMO_IGNORED("SCZV", "*"),
    FMO_IGNORED("PIEDA", "*"),
    FMO_IGNORED("VEL", "*"),
    FMO_IGNORED("NHC", "*"),
    FMO_IGNORED("ANALYSIS", "*"),

    /* Groups that are accepted if they are empty. */
    FMO_IGNORED("MFMO", ""),
    FMO_IGNORED("MLFMO", ""),
    FMO_IGNORED("XUFF", ""),
    FMO_IGNORED("DFT", ""),
    FMO_IGNORED("MCP", ""),
    FMO_IGNORED("COUPLING", ""),
    FMO_IGNORED("FRAGPAIR", ""),
    FMO_IGNORED("TYPEFRAG", ""),
    FMO_IGNORED("TYPFRAG", ""),
};

const fmo_key_table fmo_abinitmp_keys_table = {"&", "'", rows, sizeof rows / sizeof rows[0]};
