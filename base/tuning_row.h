/* What the tables of constants chosen for speed are made of. A row is X(name, value, description
 * with the unit, raw results); the last is "not measured" if no file compares other values, which
 * tests/docs/check.py checks. A table of whole numbers is used as enum { TABLE(FMO_TUNING_COUNT) };
 * and one of real numbers as TABLE(FMO_TUNING_REAL). For host and device code. */
#ifndef FMO_TUNING_ROW_H
#define FMO_TUNING_ROW_H

#define FMO_TUNING_COUNT(name, value, what, source) fmo_tuning_##name = value,

#if defined(__cplusplus)
#define FMO_TUNING_REAL(name, value, what, source) \
    static constexpr double fmo_tuning_##name = value;
#else
#define FMO_TUNING_REAL(name, value, what, source) \
    __attribute__((unused)) static const double fmo_tuning_##name = value;
#endif

#endif
