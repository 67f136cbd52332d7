/* Matching of messages and receives of one rank: by source, tag and communicator, in order, with
 * wildcards, as in MPI. Plain data without a lock, which is the caller's responsibility. */
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

/* Initialised with zeros. */
typedef struct fmo_match {
    fmo_match_list posted; /* receives that wait for a message */
    fmo_match_list came;   /* messages that wait for a receive */
} fmo_match;

/** Adds a receive; its source may be FMO_GMPI_ANY_SOURCE, its tag FMO_GMPI_ANY_TAG.
 * @return the matching message, or NULL if the receive waits */
fmo_match_item *fmo_match_post(fmo_match *match, fmo_match_item *receive);

/** Adds a message.
 * @return the matching receive, or NULL if the message waits */
fmo_match_item *fmo_match_arrive(fmo_match *match, fmo_match_item *message);

#endif
