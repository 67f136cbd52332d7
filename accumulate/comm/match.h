/* Messages and receives of one rank meet: by source, tag and communicator, in order, wildcards
 * included, as MPI has it. Plain data, no lock: the caller's.
 */
#ifndef FMO_COMM_MATCH_H
#define FMO_COMM_MATCH_H

/* The first member of a message or of a receive. */
typedef struct fmo_match_item {
    int source, tag, comm;
    struct fmo_match_item *next;
} fmo_match_item;

typedef struct fmo_match_list {
    fmo_match_item *first, *last;
} fmo_match_list;

/* Begins as zeros. */
typedef struct fmo_match {
    fmo_match_list posted; /* receives that wait for a message */
    fmo_match_list came;   /* messages that wait for a receive */
} fmo_match;

/** A receive; its source may be FMO_GMPI_ANY_SOURCE, its tag FMO_GMPI_ANY_TAG.
 *  @return the message that it gets, or NULL: it waits */
fmo_match_item *fmo_match_post(fmo_match *match, fmo_match_item *receive);

/** A message. @return the receive that gets it, or NULL: it waits */
fmo_match_item *fmo_match_arrive(fmo_match *match, fmo_match_item *message);

#endif
