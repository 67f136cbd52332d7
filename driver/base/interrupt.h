/* Ctrl-C, SIGTERM and SIGHUP while a file is being written wait until it is whole, so that no
 * temporary is left beside it; a second one does not wait. At other times they end the program at
 * once, as ever. For the programs alone: a signal handler belongs to a process. */
#ifndef FMO_BASE_INTERRUPT_H
#define FMO_BASE_INTERRUPT_H

/** At the start of a program; signals that are ignored stay so (nohup). */
void driver_interrupt_init(void);

/** Before a file is written, and after: there the signal that came ends the program. */
void driver_interrupt_hold(void);
void driver_interrupt_release(void);

#endif
