/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of the model store: everything is copied when one begins, and put back if it is not kept. */
#include "tests/simulation/model_store_parts.h"

#include <string.h>

/* Room for as many; what is used is copied. */
static void *copy_of(const void *from, uint32_t used, uint32_t room, size_t bytes_each)
{
    if (from == NULL)
        return NULL;
    void *copy = malloc(room * bytes_each + 1);
    invariant(copy != NULL && used <= room);
    memcpy(copy, from, used * bytes_each);
    return copy;
}

#define MODEL_COPY(name) \
    copy->name = copy_of(model->name, model->at.name, model->room.name, sizeof *model->name)
#define MODEL_ARRAYS(X) \
    X(products); \
    X(sales); \
    X(items); \
    X(orders); \
    X(events); \
    X(payments); \
    X(refunds); \
    X(details); \
    X(dead); \
    X(audit); \
    X(places); \
    X(bookings)
#define MODEL_MAPS(X) \
    X(tickets); \
    X(slots); \
    X(counters); \
    X(eligible)
#define MAP_COPY(name) \
    copy->name.entries = copy_of(model->name.entries, (uint32_t)model->name.slots, \
        (uint32_t)model->name.slots, sizeof *model->name.entries)

void model_group_begin(struct order_store *store)
{
    struct model_store *model = model_of(store);
    if (model->group != NULL)
        return;
    struct model_store *copy = copy_of(model, 1, 1, sizeof *model);
    MODEL_ARRAYS(MODEL_COPY);
    MODEL_MAPS(MAP_COPY);
    model_store_undo_forget(model);
    model->group = copy;
}

bool model_group_is_open(const struct order_store *store)
{
    return ((const struct model_store *)(const void *)store)->group != NULL;
}

void model_store_arrays_free(struct model_store *model)
{
#define MODEL_FREE(name) free(model->name)
#define MAP_FREE(name) free(model->name.entries)
    MODEL_ARRAYS(MODEL_FREE);
    MODEL_MAPS(MAP_FREE);
}

void model_store_group_drop(struct model_store *model, bool keep)
{
    struct model_store *copy = model->group;
    if (copy == NULL)
        return;
    model->group = NULL;
    if (keep) {
        model_store_arrays_free(copy);
        free(copy);
        return;
    }
    struct undo *undo = model->undo;
    uint8_t *undo_data = model->undo_data;
    const size_t undo_room = model->undo_room, undo_data_room = model->undo_data_room;
    model_store_arrays_free(model);
    *model = *copy;
    free(copy);
    model->undo = undo;
    model->undo_data = undo_data;
    model->undo_room = undo_room;
    model->undo_data_room = undo_data_room;
    model_store_undo_forget(model);
}

enum status model_group_end(struct order_store *store)
{
    struct model_store *model = model_of(store);
    const bool away = model->group != NULL && model->fault == MODEL_FAULT_AWAY && model->fault_times > 0;
    if (away) {
        const uint32_t times = model->fault_times - 1;
        model_store_group_drop(model, false);
        model_store_fail(store, MODEL_FAULT_AWAY, times);
        return STATUS_AWAY;
    }
    model_store_group_drop(model, true);
    return STATUS_OK;
}
