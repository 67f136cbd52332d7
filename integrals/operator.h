/* Two-electron operators. */
#ifndef FMO_OPERATOR_H
#define FMO_OPERATOR_H

#ifdef __cplusplus
extern "C" {
#endif

/** A two-electron operator, full/r + long_range erf(omega r)/r. All zero, the default, means 1/r;
 *  {1, -1, omega} is erfc(omega r)/r. Sums are those of range-separated functionals: with the
 *  coefficients of Yanai, Tew and Handy, Chem. Phys. Lett. 393, 51 (2004), the exchange of
 *  CAM-B3LYP is {alpha, beta, mu}. */
typedef struct fmo_operator {
    double full;       /**< factor of 1/r */
    double long_range; /**< factor of erf(omega r)/r */
    double omega;      /**< 1/bohr: 1e-10 to 1e10 where long_range is not 0, else 0 */
} fmo_operator;

#ifdef __cplusplus
}
#endif
#endif
