/* Keys of inputs of GAMESS, and of OpenFMO, which reads a subset of GAMESS's format, and their
 * treatment (keys.h). Based on the section "Input Description" of GAMESS's manual, and OpenFMO's
 * ofmo-input.c. */
#include "io/fragment/gamess.h"

#define READ(group, key, kind)                                     \
    {                                                              \
        group, key, FMO_KEY_READ, NULL, NULL, FMO_GAMESS_##kind, 0 \
    }
#define INTO(group, key, kind, field)                                                        \
    {                                                                                        \
        group, key, FMO_KEY_READ, NULL, NULL, FMO_GAMESS_##kind, offsetof(fmo_gamess, field) \
    }

static const fmo_key_row rows[] = {
    READ("$FMO", "NFRAG", NFRAG),
    INTO("$FMO", "ICHARG", LIST, charge),
    INTO("$FMO", "INDAT", LIST, indat),
    READ("$FMO", "FRGNAM", NAMES),
    INTO("$FMO", "RESPAP", REAL, respap),
    INTO("$FMO", "RESPPC", REAL, resppc),
    INTO("$FMO", "RESDIM", REAL, resdim),
    FMO_CHECKED("$FMO", "NBODY", "2"),
    FMO_CHECKED("$FMO", "SCFTYP SCFFRG", "RHF"),
    FMO_CHECKED("$FMO", "DFTTYP CITYP CCTYP TDTYP", "NONE"),
    FMO_CHECKED("$FMO", "NLAYER LAYER MULT", "1"),
    FMO_CHECKED("$FMO", "IEFMO MODESP MPLEVL MODFD MODMOL NDUALB SCREEN RAFO NOPFRG", "0"),
    FMO_IGNORED("$FMO",
                "RCORSD RITRIM MODGRD MAXKND MAXCAO MAXBND"), /* for MP2, FMO3, gradients, memory */

    READ("$CONTRL", "UNITS", UNITS),
    READ("$CONTRL", "ISPHER", ISPHER),
    READ("$CONTRL", "ICHARG", CHARGE),
    FMO_CHECKED("$CONTRL", "SCFTYP METHOD", "RHF"),
    FMO_CHECKED("$CONTRL", "RUNTYP", "ENERGY"),
    FMO_CHECKED("$CONTRL", "DFTTYP TDDFT CITYP CCTYP VBTYP CIMTYP RELWFN", "NONE"),
    FMO_CHECKED("$CONTRL", "MULT", "1"),
    FMO_CHECKED("$CONTRL", "MPLEVL NZVAR", "0"),
    FMO_CHECKED("$CONTRL", "COORD", "UNIQUE CART"),
    FMO_CHECKED("$CONTRL", "GEOM", "INPUT"),
    FMO_CHECKED_CURE("$CONTRL", "PP", "NONE",
                     "all electrons count; choose a basis set without core potentials"),
    FMO_CHECKED_CURE("$CONTRL", "EXETYP", "RUN",
                     "energies; a check of the input alone gives none, so remove it"),
    FMO_CHECKED_CURE("$CONTRL", "NORMF NORMP", "0", "functions are normalised; remove it"),
    FMO_CHECKED_CURE("$CONTRL", "IREST", "0",
                     "restart data are not read; use --state and --resume"),
    FMO_CHECKED_CURE("$CONTRL", "QMTTOL", "1E-7", "remove it, and give --linear-dependence"),
    FMO_IGNORED("$CONTRL",
                "NPRINT MAXIT ICUT ITOL INTTYP GRDTYP NUMGRD NOSYM ETOLLZ LOCAL ISKPRP MOLPLT "
                "PLTORB AIMPAC FRIEND"),

    READ("$BASIS", "GBASIS", GBASIS),
    READ("$BASIS", "POLAR", POLAR),
    INTO("$BASIS", "NGAUSS", DIGIT, ngauss),
    INTO("$BASIS", "NDFUNC", DIGIT, ndfunc),
    INTO("$BASIS", "NPFUNC", DIGIT, npfunc),
    INTO("$BASIS", "DIFFSP", FLAG, diffsp),
    INTO("$BASIS", "DIFFS", FLAG, diffs),
    FMO_CHECKED_CURE("$BASIS", "NFFUNC", "0",
                     "there are no f functions; remove it, and give --basis"),
    FMO_CHECKED_CURE("$BASIS", "EXTFIL", ".FALSE.",
                     "remove it, and give the set as a file with --basis"),

    FMO_IGNORED("$SYSTEM",
                "MWORDS MEMORY MEMDDI TIMLIM PARALL KDIAG COREFL BALTYP MXSEQ2 MXSEQ3 NODEXT "
                "IOSMP MODIO MEM10 MEM22"),
    FMO_IGNORED("$GDDI", "NGROUP NSUBGR NODES PAROUT BALTYP NUMDLB MANNOD NODINP MODOUT"),
    FMO_IGNORED("$GDDI", "NIOGROUP NIOPROCS MASTER IOPOS"), /* of OpenFMO */

    /* Convergence and printing. RSTRCT and MOM restrict occupations, VTSCAL scales the basis
     * set. */
    FMO_IGNORED("$SCF",
                "DIRSCF FDIFF DIIS SOSCF EXTRAP DAMP SHIFT DEM LOCOPT CONV NCONV SOGTOL ETHRSH "
                "MAXDII SWDIIS DEMCUT DMPCUT NPUNCH NPREO UHFNOS VVOS MVOQ ACAVO PACAVO"),
    FMO_CHECKED("$SCF", "RSTRCT MOM VTSCAL", ".FALSE."),
    FMO_CHECKED("$SCF", "NCO NSETO NPAIR", "0"),
    FMO_IGNORED("$INTGRL", "NINTMX NINTIC NOPK NORDER PACKAO SCHWRZ GOPARR INTOMP SHFOCK"),
    FMO_CHECKED("$INTGRL", "QFMM", ".FALSE."),
    FMO_IGNORED("$FMOPRP",
                "MAXIT CONV NGUESS NPRINT PRTDST IJVEC MODORB MODPAR NGRFMO MANNOD NCVSCF "
                "NAODIR NPCMIT CNVDMP COROFF MCONV MCONFG MODPRP IPIEDA"),
    FMO_CHECKED_CURE("$FMOPRP", "IREST", "0",
                     "restart data are not read; use --state and --resume"),
    FMO_IGNORED("$GUESS", "PRTMO PUNMO TOLZ TOLE"),
    FMO_CHECKED_CURE("$GUESS", "GUESS", "HUCKEL HUCSUB HCORE", "orbitals are not read; remove it"),
    FMO_CHECKED("$GUESS", "NORDER", "0"),
    FMO_CHECKED("$GUESS", "MIX", ".FALSE."),

    /* Properties, and runs that RUNTYP=ENERGY does not perform. */
    FMO_IGNORED("$GRID", "*"),
    FMO_IGNORED("$ELMOM", "*"),
    FMO_IGNORED("$ELPOT", "*"),
    FMO_IGNORED("$ELDENS", "*"),
    FMO_IGNORED("$ELFLDG", "*"),
    FMO_IGNORED("$PDC", "*"),
    FMO_IGNORED("$LOCAL", "*"),
    FMO_IGNORED("$STATPT", "*"),
    FMO_IGNORED("$FORCE", "*"),
    FMO_IGNORED("$OPTFMO", "*"),
};

const fmo_key_table fmo_gamess_keys_table = {"", "", rows, sizeof rows / sizeof rows[0]};
