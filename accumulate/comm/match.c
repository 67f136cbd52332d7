/* Matching of messages and receives of one rank: see match.h. */
#include "match.h"

#include <stddef.h>
#include <fmo/gmpi_wire.h>

static int fits(const fmo_match_item *receive, const fmo_match_item *message)
{
    return receive->comm == message->comm &&
           (receive->source == message->source || receive->source == FMO_GMPI_ANY_SOURCE) &&
           (receive->tag == message->tag || receive->tag == FMO_GMPI_ANY_TAG);
}

static void append(fmo_match_list *list, fmo_match_item *item)
{
    item->next = NULL;
    if (list->last)
        list->last->next = item;
    else
        list->first = item;
    list->last = item;
}

/* Removes the first item of the list that matches, and returns it; NULL if none does. */
static fmo_match_item *take(fmo_match_list *list, const fmo_match_item *item, int item_is_receive)
{
    fmo_match_item *before = NULL;
    for (fmo_match_item *i = list->first; i; before = i, i = i->next) {
        if (item_is_receive ? !fits(item, i) : !fits(i, item)) continue;
        if (before)
            before->next = i->next;
        else
            list->first = i->next;
        if (list->last == i) list->last = before;
        return i;
    }
    return NULL;
}

fmo_match_item *fmo_match_post(fmo_match *match, fmo_match_item *receive)
{
    fmo_match_item *message = take(&match->came, receive, 1);
    if (!message) append(&match->posted, receive);
    return message;
}

fmo_match_item *fmo_match_arrive(fmo_match *match, fmo_match_item *message)
{
    fmo_match_item *receive = take(&match->posted, message, 0);
    if (!receive) append(&match->came, message);
    return receive;
}
