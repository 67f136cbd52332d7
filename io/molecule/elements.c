/* Element symbols and atomic numbers; declared in molecule.h and molecule_internal.h. */
#include "io/molecule/molecule_internal.h"

#include <string.h>
#include <strings.h>

static const char symbols[][3] = {
    "X",  "H",  "He", "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Ne", "Na", "Mg", "Al", "Si",
    "P",  "S",  "Cl", "Ar", "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni", "Cu",
    "Zn", "Ga", "Ge", "As", "Se", "Br", "Kr", "Rb", "Sr", "Y",  "Zr", "Nb", "Mo", "Tc", "Ru",
    "Rh", "Pd", "Ag", "Cd", "In", "Sn", "Sb", "Te", "I",  "Xe", "Cs", "Ba", "La", "Ce", "Pr",
    "Nd", "Pm", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb", "Lu", "Hf", "Ta", "W",
    "Re", "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Po", "At", "Rn", "Fr", "Ra", "Ac",
    "Th", "Pa", "U",  "Np", "Pu", "Am", "Cm", "Bk", "Cf", "Es", "Fm", "Md", "No", "Lr", "Rf",
    "Db", "Sg", "Bh", "Hs", "Mt", "Ds", "Rg", "Cn", "Nh", "Fl", "Mc", "Lv", "Ts", "Og"};
enum { SYMBOL_COUNT = sizeof symbols / sizeof symbols[0] };

_Static_assert((int)SYMBOL_COUNT == FMO_ELEMENT_MOST + 1, "a symbol for each element");

const char *fmo_element_symbol(int number)
{
    return symbols[number >= 1 && number < SYMBOL_COUNT ? number : 0];
}

int fmo_element_number(const char *symbol, size_t size)
{
    for (int z = 1; z < SYMBOL_COUNT; z++)
        if (strlen(symbols[z]) == size && strncasecmp(symbol, symbols[z], size) == 0) return z;
    return 0;
}
