/* Delays Ctrl-C, SIGTERM and SIGHUP while a file is being written, so that no temporary file is
 * left behind; a second signal is not delayed. At other times these signals end the program at
 * once. Only the programs use this, because a signal handler affects the whole process. */
#ifndef FMO_BASE_INTERRUPT_H
#define FMO_BASE_INTERRUPT_H

/** Installs the handlers; called at the start of a program. Ignored signals stay ignored
 *  (nohup). */
void driver_interrupt_init(void);

/** Sets a line that is written to stderr when a signal ends the program, with its line end; NULL:
 *  none. The text has to stay valid. */
void driver_interrupt_advise(const char *line);

/** Called before and after a file is written; release ends the program if a signal arrived. */
void driver_interrupt_hold(void);
void driver_interrupt_release(void);

#endif
