/* Keys of inputs of GAMESS, and of OpenFMO, which reads a subset of GAMESS's format, and their
 * treatment (keys.h). Based on the section "Input Description" of GAMESS's manual, and OpenFMO's
 * ofmo-input.c. */
#include "io/fragment/gamess.h"

#define TAKEN(group, key, kind)                                     \
    {                                                               \
        group, key, FMO_KEY_TAKEN, NULL, NULL, FMO_GAMESS_##kind, 0 \
    }
#define INTO(group, key, kind, field)                                                         \
    {                                                                                         \
        group, key, FMO_KEY_TAKEN, NULL, NULL, FMO_GAMESS_##kind, offsetof(fmo_gamess, field) \
    }

static const fmo_key_row rows[] = {
    TAKEN("$FMO", "NFRAG", NFRAG),
    INTO("$FMO", "ICHARG", LIST, charge),
    INTO("$FMO", "INDAT", LIST, indat),
    TAKEN("$FMO", "FRGNAM", NAMES),
    INTO("$FMO", "RESPAP", REAL, respap),
    INTO("$FMO", "RESPPC", REAL, resppc),
    INTO("$FMO", "RESDIM", REAL, resdim),
    FMO_MUST("$FMO", "NBODY", "2"),
    FMO_MUST("$FMO", "SCFTYP SCFFRG", "RHF"),
    FMO_MUST("$FMO", "DFTTYP CITYP CCTYP TDTYP", "NONE"),
    FMO_MUST("$FMO", "NLAYER LAYER MULT", "1"),
    FMO_MUST("$FMO", "IEFMO MODESP MPLEVL MODFD MODMOL NDUALB SCREEN RAFO NOPFRG", "0"),
    FMO_PASSED("$FMO",
               "RCORSD RITRIM MODGRD MAXKND MAXCAO MAXBND"), /* for MP2, FMO3, gradients, memory */

    TAKEN("$CONTRL", "UNITS", UNITS),
    TAKEN("$CONTRL", "ISPHER", ISPHER),
    TAKEN("$CONTRL", "ICHARG", CHARGE),
    FMO_MUST("$CONTRL", "SCFTYP METHOD", "RHF"),
    FMO_MUST("$CONTRL", "RUNTYP", "ENERGY"),
    FMO_MUST("$CONTRL", "DFTTYP TDDFT CITYP CCTYP VBTYP CIMTYP RELWFN", "NONE"),
    FMO_MUST("$CONTRL", "MULT", "1"),
    FMO_MUST("$CONTRL", "MPLEVL NZVAR", "0"),
    FMO_MUST("$CONTRL", "COORD", "UNIQUE CART"),
    FMO_MUST("$CONTRL", "GEOM", "INPUT"),
    FMO_ONLY("$CONTRL", "PP", "NONE",
             "all electrons count; choose a basis set without core potentials"),
    FMO_ONLY("$CONTRL", "EXETYP", "RUN",
             "energies; a check of the input alone gives none, so remove it"),
    FMO_ONLY("$CONTRL", "NORMF NORMP", "0", "functions are normalised; remove it"),
    FMO_ONLY("$CONTRL", "IREST", "0", "restart data are not read; use --state and --resume"),
    FMO_ONLY("$CONTRL", "QMTTOL", "1E-7", "remove it, and give --linear-dependence"),
    FMO_PASSED("$CONTRL",
               "NPRINT MAXIT ICUT ITOL INTTYP GRDTYP NUMGRD NOSYM ETOLLZ LOCAL ISKPRP MOLPLT "
               "PLTORB AIMPAC FRIEND"),

    TAKEN("$BASIS", "GBASIS", GBASIS),
    TAKEN("$BASIS", "POLAR", POLAR),
    INTO("$BASIS", "NGAUSS", DIGIT, ngauss),
    INTO("$BASIS", "NDFUNC", DIGIT, ndfunc),
    INTO("$BASIS", "NPFUNC", DIGIT, npfunc),
    INTO("$BASIS", "DIFFSP", FLAG, diffsp),
    INTO("$BASIS", "DIFFS", FLAG, diffs),
    FMO_ONLY("$BASIS", "NFFUNC", "0", "there are no f functions; remove it, and give --basis"),
    FMO_ONLY("$BASIS", "EXTFIL", ".FALSE.", "remove it, and give the set as a file with --basis"),

    FMO_PASSED("$SYSTEM",
               "MWORDS MEMORY MEMDDI TIMLIM PARALL KDIAG COREFL BALTYP MXSEQ2 MXSEQ3 NODEXT "
               "IOSMP MODIO MEM10 MEM22"),
    FMO_PASSED("$GDDI", "NGROUP NSUBGR NODES PAROUT BALTYP NUMDLB MANNOD NODINP MODOUT"),
    FMO_PASSED("$GDDI", "NIOGROUP NIOPROCS MASTER IOPOS"), /* of OpenFMO */

    /* Convergence and printing. RSTRCT and MOM restrict occupations, VTSCAL scales the basis
     * set. */
    FMO_PASSED("$SCF",
               "DIRSCF FDIFF DIIS SOSCF EXTRAP DAMP SHIFT DEM LOCOPT CONV NCONV SOGTOL ETHRSH "
               "MAXDII SWDIIS DEMCUT DMPCUT NPUNCH NPREO UHFNOS VVOS MVOQ ACAVO PACAVO"),
    FMO_MUST("$SCF", "RSTRCT MOM VTSCAL", ".FALSE."),
    FMO_MUST("$SCF", "NCO NSETO NPAIR", "0"),
    FMO_PASSED("$INTGRL", "NINTMX NINTIC NOPK NORDER PACKAO SCHWRZ GOPARR INTOMP SHFOCK"),
    FMO_MUST("$INTGRL", "QFMM", ".FALSE."),
    FMO_PASSED("$FMOPRP",
               "MAXIT CONV NGUESS NPRINT PRTDST IJVEC MODORB MODPAR NGRFMO MANNOD NCVSCF "
               "NAODIR NPCMIT CNVDMP COROFF MCONV MCONFG MODPRP IPIEDA"),
    FMO_ONLY("$FMOPRP", "IREST", "0", "restart data are not read; use --state and --resume"),
    FMO_PASSED("$GUESS", "PRTMO PUNMO TOLZ TOLE"),
    FMO_ONLY("$GUESS", "GUESS", "HUCKEL HUCSUB HCORE", "orbitals are not read; remove it"),
    FMO_MUST("$GUESS", "NORDER", "0"),
    FMO_MUST("$GUESS", "MIX", ".FALSE."),

    /* Properties, and runs that RUNTYP=ENERGY does not perform. */
    FMO_PASSED("$GRID", "*"),
    FMO_PASSED("$ELMOM", "*"),
    FMO_PASSED("$ELPOT", "*"),
    FMO_PASSED("$ELDENS", "*"),
    FMO_PASSED("$ELFLDG", "*"),
    FMO_PASSED("$PDC", "*"),
    FMO_PASSED("$LOCAL", "*"),
    FMO_PASSED("$STATPT", "*"),
    FMO_PASSED("$FORCE", "*"),
    FMO_PASSED("$OPTFMO", "*"),
};

const fmo_key_table fmo_gamess_keys_table = {"", "", rows, sizeof rows / sizeof rows[0]};
