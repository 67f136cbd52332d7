/* Element symbols, atomic numbers, names of atoms, units; declared in molecule.h and
 * molecule_internal.h. */
#include "io/molecule/molecule_internal.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/names.h"

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

_Static_assert((int)SYMBOL_COUNT == FMO_ELEMENT_MAX + 1, "a symbol for each element");

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

/* Returns the atomic number of a symbol with the digits of a label, or of a number; 0 if it is
 * neither. */
static int number_of(const char *name, size_t size)
{
    int number = 0;
    size_t digits = 0;
    while (digits < size && isdigit((unsigned char)name[digits])) digits++;
    for (size_t i = 0; i < digits && number <= FMO_ELEMENT_MAX; i++)
        number = 10 * number + (name[i] - '0');
    if (size && digits == size) return number <= FMO_ELEMENT_MAX ? number : 0;
    while (size > 1 && isdigit((unsigned char)name[size - 1])) size--;
    return fmo_element_number(name, size);
}

static bool begins(const char *name, size_t size, const char *with)
{
    return size >= strlen(with) && strncasecmp(name, with, strlen(with)) == 0;
}

/* Words before an element that make a ghost atom; `bare`: also without a sign in between. */
static const struct {
    const char *word;
    bool bare;
} before[] = {{"@", true}, {"ghost", true}, {"gh", false}, {"bq", true}, {"x", false}};

/* Signs and words behind an element that make a ghost atom. */
static const char *const behind[] = {"-bq", ":", "_ghost", "-gh"};

/* Returns the atomic number of a ghost atom; 0 if the name is not that of one. */
static int ghost_number(const char *name, size_t size)
{
    for (size_t k = 0; k < sizeof before / sizeof *before; k++) {
        if (!begins(name, size, before[k].word)) continue;
        const char *rest = name + strlen(before[k].word);
        size_t left = size - strlen(before[k].word);
        if (left > 2 && *rest == '(' && rest[left - 1] == ')') return number_of(rest + 1, left - 2);
        const bool sign = left > 1 && strchr("-:._", *rest) && *rest;
        const int number = sign ? number_of(rest + 1, left - 1) : 0;
        if (number) return number;
        if (before[k].bare && number_of(rest, left)) return number_of(rest, left);
    }
    for (size_t k = 0; k < sizeof behind / sizeof *behind; k++) {
        const size_t length = strlen(behind[k]);
        if (size > length && strncasecmp(name + size - length, behind[k], length) == 0)
            return number_of(name, size - length);
    }
    return 0;
}

int fmo_atom_number(const char *name, size_t size, bool *ghost)
{
    const int number = number_of(name, size);
    *ghost = !number;
    return number ? number : ghost_number(name, size);
}

bool fmo_atom_is_dummy(const char *name, size_t size)
{
    for (size_t k = 0; k < sizeof before / sizeof *before; k++)
        if (begins(name, size, before[k].word) && size == strlen(before[k].word)) return true;
    return false;
}

FMO_NAMES(fmo_unit, fmo_unit, FMO_UNIT_TABLE)
