/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simulation/sim_disk.h"

#include "journal/segment.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct sim_disk *of(struct disk *disk)
{
    return (struct sim_disk *)disk;
}

static const struct sim_page zeros;

/* ---- pages ---- */

static struct sim_page *page_take(struct sim_disk *disk)
{
    invariant(disk->free_count > 0);
    return disk->free_pages[--disk->free_count];
}

static void page_give(struct sim_disk *disk, struct sim_page *page)
{
    if (page != NULL)
        disk->free_pages[disk->free_count++] = page;
}

static const uint8_t *page_bytes(const struct sim_page *page)
{
    return page == NULL ? zeros.bytes : page->bytes;
}

static void page_write(
    struct sim_disk *disk, struct sim_file_page *page, size_t at, const uint8_t *data, size_t bytes)
{
    const bool whole = at == 0 && bytes == SIM_PAGE;
    page->allocated = true;
    page->dirty = true;
    if (whole && memcmp(data, zeros.bytes, SIM_PAGE) == 0) {
        if (page->now != page->durable)
            page_give(disk, page->now);
        page->now = NULL;
        return;
    }
    if (page->now == page->durable || page->now == NULL) {
        struct sim_page *fresh = page_take(disk);
        if (!whole)
            memcpy(fresh->bytes, page_bytes(page->now), SIM_PAGE);
        page->now = fresh;
    }
    memcpy(page->now->bytes + at, data, bytes);
}

static void page_make_durable(struct sim_disk *disk, struct sim_file_page *page)
{
    if (page->durable != page->now)
        page_give(disk, page->durable);
    page->durable = page->now;
    page->dirty = false;
}

static void page_revert(struct sim_disk *disk, struct sim_file_page *page)
{
    if (page->durable != page->now)
        page_give(disk, page->now);
    page->now = page->durable;
    page->dirty = false;
}

/* Only the first `bytes` of what was written reached the disk. */
static void page_tear(struct sim_disk *disk, struct sim_file_page *page, size_t bytes)
{
    if (page->now == page->durable)
        return;
    struct sim_page *mixed = page_take(disk);
    memcpy(mixed->bytes, page_bytes(page->now), bytes);
    memcpy(mixed->bytes + bytes, page_bytes(page->durable) + bytes, SIM_PAGE - bytes);
    page_give(disk, page->now);
    page->now = mixed;
    page_make_durable(disk, page);
}

/* ---- files and names ---- */

static void file_free(struct sim_disk *disk, struct sim_file *file)
{
    for (uint32_t i = 0; i < file->pages_touched; i++) {
        struct sim_file_page *page = &file->pages[i];
        if (page->durable != page->now)
            page_give(disk, page->durable);
        page_give(disk, page->now);
        *page = (struct sim_file_page){ 0 };
    }
    file->used = false;
    file->open_count = 0;
    file->size = file->durable_size = 0;
    file->pages_touched = 0;
}

static struct sim_name *name_find(struct sim_folder *folder, const char *name)
{
    for (uint32_t i = 0; i < folder->count; i++)
        if (strcmp(folder->names[i].name, name) == 0)
            return &folder->names[i];
    return NULL;
}

static void name_copy(char out[DISK_NAME_MAX], const char *name)
{
    const size_t size = strlen(name);
    invariant(size < DISK_NAME_MAX);
    memcpy(out, name, size + 1);
}

static void name_set(struct sim_folder *folder, const char *name, uint32_t file)
{
    struct sim_name *entry = name_find(folder, name);
    if (entry == NULL) {
        invariant(folder->count < SIM_FILES_MAX);
        entry = &folder->names[folder->count++];
        name_copy(entry->name, name);
    }
    entry->file = file;
}

static void name_drop(struct sim_folder *folder, const char *name)
{
    struct sim_name *entry = name_find(folder, name);
    if (entry != NULL)
        *entry = folder->names[--folder->count];
}

static bool file_named(const struct sim_folder *folder, uint32_t file)
{
    for (uint32_t i = 0; i < folder->count; i++)
        if (folder->names[i].file == file)
            return true;
    return false;
}

static bool file_in_ops(const struct sim_disk *disk, uint32_t file)
{
    for (uint32_t i = 0; i < disk->op_count; i++)
        if (disk->ops[i].kind != SIM_OP_REMOVE && disk->ops[i].file == file)
            return true;
    return false;
}

static void files_collect(struct sim_disk *disk)
{
    for (uint32_t i = 0; i < SIM_FILES_MAX; i++) {
        struct sim_file *file = &disk->files[i];
        if (file->used && file->open_count == 0 && !file_named(&disk->now, i)
            && !file_named(&disk->durable, i) && !file_in_ops(disk, i))
            file_free(disk, file);
    }
}

static void op_apply(struct sim_folder *folder, const struct sim_folder_op *op)
{
    if (op->kind == SIM_OP_CREATE) {
        name_set(folder, op->name, op->file);
    } else if (op->kind == SIM_OP_REMOVE) {
        name_drop(folder, op->name);
    } else {
        const struct sim_name *from = name_find(folder, op->name);
        if (from != NULL && from->file == op->file)
            name_drop(folder, op->name);
        name_set(folder, op->to, op->file);
    }
}

static void op_do(struct sim_disk *disk, struct sim_folder_op op)
{
    invariant(disk->op_count < SIM_FOLDER_OPS_MAX);
    op_apply(&disk->now, &op);
    disk->ops[disk->op_count++] = op;
}

/* ---- faults ---- */

/* True: the plan fires at this call. */
static bool plan_fires(struct sim_disk *disk, enum sim_fault kind)
{
    const bool fits = disk->plan == kind || (disk->plan == SIM_FAULT_CRASH && kind != SIM_FAULT_READ);
    if (!fits || disk->plan_in-- > 0)
        return false;
    if (disk->plan == SIM_FAULT_CRASH)
        disk->dead = true;
    else
        disk->faults++;
    disk->plan = SIM_FAULT_NONE;
    errno = EIO;
    return true;
}

static bool coin(struct sim_disk *disk)
{
    return random_next(&disk->random) >> 63;
}

/* ---- the calls ---- */

static enum status sim_open(struct disk *base, const char *name, enum disk_mode mode, disk_file *out)
{
    struct sim_disk *disk = of(base);
    if (disk->dead)
        return STATUS_IO;
    if (name[0] == 0 || strlen(name) >= DISK_NAME_MAX || strchr(name, '/') != NULL)
        return STATUS_BAD_INPUT;
    const struct sim_name *entry = name_find(&disk->now, name);
    if (mode == DISK_CREATE) {
        if (entry != NULL)
            return STATUS_CONFLICT;
        if (disk->full)
            return STATUS_FULL;
        if (plan_fires(disk, SIM_FAULT_WRITE))
            return STATUS_IO;
        uint32_t file = 0;
        while (file < SIM_FILES_MAX && disk->files[file].used)
            file++;
        invariant(file < SIM_FILES_MAX);
        disk->files[file].used = true;
        struct sim_folder_op op = { .kind = SIM_OP_CREATE, .file = file };
        name_copy(op.name, name);
        op_do(disk, op);
        disk->files[file].open_count++;
        *out = (disk_file)file;
        return STATUS_OK;
    }
    if (entry == NULL)
        return STATUS_NOT_FOUND;
    disk->files[entry->file].open_count++;
    *out = (disk_file)entry->file;
    return STATUS_OK;
}

static void sim_close(struct disk *base, disk_file handle)
{
    struct sim_file *file = &of(base)->files[handle];
    invariant(file->open_count > 0);
    file->open_count--;
}

static struct sim_file *file_of(struct sim_disk *disk, disk_file handle)
{
    invariant(handle >= 0 && handle < SIM_FILES_MAX);
    struct sim_file *file = &disk->files[handle];
    invariant(file->used && file->open_count > 0);
    return file;
}

static enum status sim_read(
    struct disk *base, disk_file handle, uint64_t offset, void *data, size_t bytes, size_t *got)
{
    struct sim_disk *disk = of(base);
    const struct sim_file *file = file_of(disk, handle);
    uint8_t *out = data;
    *got = 0;
    if (disk->dead || plan_fires(disk, SIM_FAULT_READ))
        return STATUS_IO;
    while (*got < bytes && offset < file->size) {
        const size_t at = offset % SIM_PAGE;
        size_t part = SIM_PAGE - at < bytes - *got ? SIM_PAGE - at : bytes - *got;
        if (part > file->size - offset)
            part = (size_t)(file->size - offset);
        memcpy(out + *got, page_bytes(file->pages[offset / SIM_PAGE].now) + at, part);
        *got += part;
        offset += part;
    }
    return STATUS_OK;
}

static enum status sim_write(
    struct disk *base, disk_file handle, uint64_t offset, const void *data, size_t bytes)
{
    struct sim_disk *disk = of(base);
    struct sim_file *file = file_of(disk, handle);
    const uint8_t *in = data;
    if (disk->dead)
        return STATUS_IO;
    invariant(offset + bytes <= (uint64_t)SIM_FILE_PAGES_MAX * SIM_PAGE);
    const bool fails = plan_fires(disk, SIM_FAULT_WRITE);
    if (fails)
        bytes = random_below(&disk->random, bytes + 1); /* a prefix is in the page cache */
    for (size_t done = 0; done < bytes;) {
        struct sim_file_page *page = &file->pages[offset / SIM_PAGE];
        const size_t at = offset % SIM_PAGE;
        const size_t part = SIM_PAGE - at < bytes - done ? SIM_PAGE - at : bytes - done;
        if (disk->full && !page->allocated)
            return STATUS_FULL;
        page_write(disk, page, at, in + done, part);
        if (offset / SIM_PAGE >= file->pages_touched)
            file->pages_touched = (uint32_t)(offset / SIM_PAGE) + 1;
        done += part;
        offset += part;
        if (offset > file->size)
            file->size = offset;
    }
    return fails ? STATUS_IO : STATUS_OK;
}

static enum status sim_sync(struct disk *base, disk_file handle)
{
    struct sim_disk *disk = of(base);
    struct sim_file *file = file_of(disk, handle);
    if (disk->dead)
        return STATUS_IO;
    const bool fails = plan_fires(disk, SIM_FAULT_SYNC);
    for (uint32_t i = 0; i < file->pages_touched; i++) {
        struct sim_file_page *page = &file->pages[i];
        if (!page->dirty)
            continue;
        if (!fails || coin(disk))
            page_make_durable(disk, page);
        else
            page->dirty = disk->dead; /* shown, but lost for good unless the crash keeps it */
    }
    if (!fails || coin(disk))
        file->durable_size = file->size;
    return fails ? STATUS_IO : STATUS_OK;
}

static enum status sim_size(struct disk *base, disk_file handle, uint64_t *bytes)
{
    if (of(base)->dead)
        return STATUS_IO;
    *bytes = file_of(of(base), handle)->size;
    return STATUS_OK;
}

static enum status sim_truncate(struct disk *base, disk_file handle, uint64_t bytes)
{
    struct sim_disk *disk = of(base);
    struct sim_file *file = file_of(disk, handle);
    if (disk->dead || plan_fires(disk, SIM_FAULT_WRITE))
        return STATUS_IO;
    for (uint64_t at = bytes; at < file->size; at = (at / SIM_PAGE + 1) * SIM_PAGE)
        page_write(disk, &file->pages[at / SIM_PAGE], at % SIM_PAGE, zeros.bytes,
            SIM_PAGE - at % SIM_PAGE);
    file->size = bytes;
    return STATUS_OK;
}

static enum status sim_rename(struct disk *base, const char *from, const char *to)
{
    struct sim_disk *disk = of(base);
    const struct sim_name *entry = name_find(&disk->now, from);
    if (disk->dead)
        return STATUS_IO;
    if (entry == NULL)
        return STATUS_NOT_FOUND;
    const bool fails = plan_fires(disk, SIM_FAULT_WRITE);
    if (!fails || (disk->dead && coin(disk))) {
        struct sim_folder_op op = { .kind = SIM_OP_RENAME, .file = entry->file };
        name_copy(op.name, from);
        name_copy(op.to, to);
        disk->packed += strcmp(from, SEGMENT_PACKED_NAME) == 0;
        op_do(disk, op);
    }
    return fails ? STATUS_IO : STATUS_OK;
}

static enum status sim_remove(struct disk *base, const char *name)
{
    struct sim_disk *disk = of(base);
    const struct sim_name *entry = name_find(&disk->now, name);
    if (disk->dead)
        return STATUS_IO;
    if (entry == NULL)
        return STATUS_NOT_FOUND;
    if (plan_fires(disk, SIM_FAULT_WRITE))
        return STATUS_IO;
    struct sim_folder_op op = { .kind = SIM_OP_REMOVE, .file = entry->file };
    name_copy(op.name, name);
    op_do(disk, op);
    return STATUS_OK;
}

static void folder_make_durable(struct sim_disk *disk)
{
    disk->durable.count = disk->now.count;
    memcpy(disk->durable.names, disk->now.names, disk->now.count * sizeof disk->now.names[0]);
    disk->op_count = 0;
    files_collect(disk);
}

static enum status sim_sync_folder(struct disk *base)
{
    struct sim_disk *disk = of(base);
    if (disk->dead || plan_fires(disk, SIM_FAULT_SYNC))
        return STATUS_IO;
    folder_make_durable(disk);
    return STATUS_OK;
}

static enum status sim_list(
    struct disk *base, const char *prefix, void (*each)(void *, const char *), void *context)
{
    struct sim_disk *disk = of(base);
    if (disk->dead)
        return STATUS_IO;
    for (uint32_t i = 0; i < disk->now.count; i++)
        if (strncmp(disk->now.names[i].name, prefix, strlen(prefix)) == 0)
            each(context, disk->now.names[i].name);
    return STATUS_OK;
}

static const struct disk_ops sim_ops = {
    .open = sim_open,
    .close = sim_close,
    .read = sim_read,
    .write = sim_write,
    .sync = sim_sync,
    .size = sim_size,
    .truncate = sim_truncate,
    .rename = sim_rename,
    .remove = sim_remove,
    .sync_folder = sim_sync_folder,
    .list = sim_list,
};

/* ---- the harness ---- */

void sim_disk_create(struct sim_disk *disk, struct sim_page *pool)
{
    memset(disk, 0, sizeof *disk);
    disk->disk.ops = &sim_ops;
    disk->pool = pool;
    for (uint32_t i = 0; i < SIM_POOL_PAGES; i++)
        disk->free_pages[disk->free_count++] = &pool[i];
}

void sim_disk_reset(struct sim_disk *disk, uint64_t seed)
{
    for (uint32_t i = 0; i < SIM_FILES_MAX; i++)
        if (disk->files[i].used)
            file_free(disk, &disk->files[i]);
    invariant(disk->free_count == SIM_POOL_PAGES);
    disk->now.count = disk->durable.count = disk->op_count = 0;
    disk->full = disk->dead = false;
    disk->plan = SIM_FAULT_NONE;
    disk->faults = disk->packed = 0;
    random_seed(&disk->random, seed);
}

static void file_crash(struct sim_disk *disk, struct sim_file *file, enum sim_crash how)
{
    for (uint32_t i = 0; i < file->pages_touched; i++) {
        struct sim_file_page *page = &file->pages[i];
        const uint64_t fate = how == SIM_CRASH_MIXED ? random_below(&disk->random, 3) : 0;
        if (!page->dirty || how == SIM_CRASH_BARE || (how == SIM_CRASH_MIXED && fate == 0))
            page_revert(disk, page);
        else if (how == SIM_CRASH_KILL || fate == 1)
            page_make_durable(disk, page);
        else
            page_tear(disk, page, random_below(&disk->random, SIM_PAGE + 1));
    }
    if (how == SIM_CRASH_KILL || (how == SIM_CRASH_MIXED && coin(disk)))
        file->durable_size = file->size;
    file->size = file->durable_size;
    file->open_count = 0;
}

void sim_disk_crash(struct sim_disk *disk, enum sim_crash how)
{
    struct sim_folder *folder = &disk->durable;
    for (uint32_t i = 0; i < disk->op_count; i++)
        if (how == SIM_CRASH_KILL || (how == SIM_CRASH_MIXED && coin(disk)))
            op_apply(folder, &disk->ops[i]);
    disk->now.count = folder->count;
    memcpy(disk->now.names, folder->names, folder->count * sizeof folder->names[0]);
    disk->op_count = 0;
    disk->dead = false;
    disk->plan = SIM_FAULT_NONE;
    for (uint32_t i = 0; i < SIM_FILES_MAX; i++)
        if (disk->files[i].used)
            file_crash(disk, &disk->files[i], how);
    files_collect(disk);
}

bool sim_disk_has(const struct sim_disk *disk, const char *name)
{
    for (uint32_t i = 0; i < disk->now.count; i++)
        if (strcmp(disk->now.names[i].name, name) == 0)
            return true;
    return false;
}
