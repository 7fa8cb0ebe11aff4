/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/ticket_ranges.h"

#include "contract/ticket_number.h"

bool ticket_ranges_add(struct ticket_ranges *ranges, ticket_number outside, uint32_t count)
{
    const struct ticket_range *before = ranges->count == 0 ? NULL : &ranges->list[ranges->count - 1];
    if (outside == 0 || count == 0 || ranges->last + count >= TICKET_NUMBER_MAX
        || (before != NULL && outside < before->outside + before->count))
        return false;
    if (before != NULL && outside == before->outside + before->count)
        ranges->list[ranges->count - 1].count += count;
    else if (ranges->count == TICKET_RANGES_MAX)
        return false;
    else
        ranges->list[ranges->count++] = (struct ticket_range){
            .outside = outside, .inside = (uint32_t)ranges->last + 1, .count = count
        };
    ranges->last += count;
    return true;
}

/* The last range that begins at this number or before; NULL: none. */
static const struct ticket_range *range_find(
    const struct ticket_ranges *ranges, ticket_number number, bool inside)
{
    uint32_t from = 0, to = ranges->count;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        const struct ticket_range *range = &ranges->list[middle];
        if ((inside ? range->inside : range->outside) <= number)
            from = middle + 1;
        else
            to = middle;
    }
    return from == 0 ? NULL : &ranges->list[from - 1];
}

ticket_number ticket_ranges_inside(const struct ticket_ranges *ranges, ticket_number outside)
{
    if (ranges == NULL || (outside > ranges->last && outside <= TICKET_NUMBER_MAX))
        return outside;
    const struct ticket_range *range = range_find(ranges, outside, false);
    return range == NULL || outside - range->outside >= range->count
        ? 0
        : range->inside + (outside - range->outside);
}

ticket_number ticket_ranges_outside(const struct ticket_ranges *ranges, ticket_number inside)
{
    if (ranges == NULL || inside > ranges->last || inside == 0)
        return inside;
    const struct ticket_range *range = range_find(ranges, inside, true);
    invariant(range != NULL && inside - range->inside < range->count);
    return range->outside + (inside - range->inside);
}

bool ticket_ranges_knows_part(const struct ticket_ranges *ranges, ticket_number outside)
{
    struct ticket_parts parts;
    if (ranges == NULL || outside <= TICKET_NUMBER_MAX || !ticket_number_split(outside, &parts))
        return false;
    for (uint32_t i = 0; i < ranges->count; i++)
        if (ticket_part(ranges->list[i].outside) == parts.part)
            return true;
    return false;
}
