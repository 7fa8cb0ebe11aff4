/* SPDX-License-Identifier: Apache-2.0 */
/* admin/products.c: what is sold, as an administrator describes and corrects it. */
#include "admin/admin.h"
#include "api/catalog.h"
#include "api/json_fields.h"
#include "api/texts.h"
#include "contract/inventory.h"
#include "media/media_service.h"

#include <stdlib.h>
#include <string.h>

enum { PRODUCT_ROWS = 16, READ_ROWS = 32 };

static void product_json(const struct product *product, struct text *out)
{
    json_object_begin(out, NULL);
    json_u64(out, "id", product->id);
    json_text(out, "name", product->name);
    json_text(out, "description", product->description);
    json_value(out, "images");
    text_string(out, product->images[0] == 0 ? "[]" : product->images);
    currency_members(product->currency, out);
    json_u64(out, "list_price", product->list_price);
    json_value(out, "stock");
    if (product->stock == STOCK_NONE)
        text_literal(out, "null");
    else
        text_i64(out, product->stock);
    texts_json(product->texts, out);
    json_object_end(out);
}

void admin_products_list(struct admin *admin, struct job *job, uint32_t id)
{
    uint64_t after = 0;
    uint32_t count = 0;
    (void)id;
    if (!job_query_u64(job, "after", UINT32_MAX, &after))
        return;
    struct product *rows = malloc(PRODUCT_ROWS * sizeof *rows);
    invariant(rows != NULL);
    if (job_ok(job,
            admin->store->ops->products(admin->store, (uint32_t)after, rows, PRODUCT_ROWS, &count))) {
        struct page page = page_begin(job, "products");
        for (uint32_t i = 0; i < count; i++)
            product_json(&rows[i], page_row(&page, rows[i].id));
        page_end(job, &page, page_next(&page, PRODUCT_ROWS));
    }
    free(rows);
}

/* An array of addresses, kept as the JSON it is. */
static const char *images_take(struct admin *admin, json_t *images, char out[IMAGES_BYTES_MAX + 1])
{
    size_t index;
    json_t *image;
    if (images == NULL)
        return NULL;
    if (!json_is_array(images))
        return "images must be a list of addresses.";
    json_array_foreach(images, index, image)
    {
        const char *address = json_string_value(image);
        const char *wrong = address == NULL
            ? "images must be a list of addresses."
            : media_address_wrong(admin->lent->media, admin->lent->config->image_origins, address);
        if (wrong != NULL)
            return wrong;
    }
    char *text = json_dumps(images, JSON_COMPACT);
    const bool fits = text != NULL && strlen(text) <= IMAGES_BYTES_MAX;
    if (fits)
        memcpy(out, text, strlen(text) + 1);
    free(text);
    return fits ? NULL : "images are too long.";
}

/* Units that items take when they are preheated; null: each item has its own. */
static const char *stock_take(json_t *stock, struct product *product)
{
    if (stock == NULL)
        return NULL;
    const json_int_t units = json_is_null(stock) ? STOCK_NONE : json_integer_value(stock);
    if (!json_is_null(stock) && (!json_is_integer(stock) || units < 0 || units > UNITS_MAX))
        return "stock must be a whole number of units, 0 to 100000000, or null.";
    product->stock = units;
    return NULL;
}

/* Reads the body over what `product` is already. False: answered. */
static bool product_body_read(struct admin *admin, struct job *job, struct product *product, bool required)
{
    struct asked_price price = { .minor = product->list_price };
    char error[FIELD_ERROR];
    json_t *images = NULL, *texts = NULL, *stock = NULL;
    unsigned digits;
    const struct field fields[] = {
        { "name", FIELD_TEXT, product->name, 1, NAME_BYTES_MAX, required, NULL },
        { "description", FIELD_TEXT, product->description, 0, DESCRIPTION_BYTES_MAX, false, NULL },
        { "images", FIELD_JSON, &images, 0, 0, false, NULL },
        { "list_price", FIELD_PRICE, &price, 0, PRICE_MAX, required, NULL },
        { "currency", FIELD_TEXT, product->currency, 3, 3, false, NULL },
        { "texts", FIELD_JSON, &texts, 0, 0, false, NULL },
        { "stock", FIELD_JSON, &stock, 0, 0, false, NULL },
    };
    json_t *object = job_body_object(job);
    if (object == NULL)
        return false;
    const bool good = admin_fields_read(object, fields, sizeof fields / sizeof *fields, error);
    const char *wrong = good ? images_take(admin, images, product->images) : error;
    if (wrong == NULL && !currency_find(span_from_string(product->currency), &digits))
        wrong = "currency must be a code of ISO 4217 in capital letters, like CNY, USD or JPY.";
    if (wrong == NULL
        && !admin_price_take("list_price", &price, product->currency, (uint64_t)PRICE_MAX,
            &product->list_price, error))
        wrong = error;
    if (wrong == NULL
        && !texts_take(texts, texts_of_products, product->texts, PRODUCT_TEXTS_BYTES_MAX, error))
        wrong = error;
    if (wrong == NULL)
        wrong = stock_take(stock, product);
    return job_body_end(job, object, wrong);
}

static void product_reply(struct job *job, int status, const struct product *product)
{
    struct text body = job_body(job);
    product_json(product, &body);
    job_reply_json(job, status, &body);
}

static enum status product_put(struct admin *admin, struct product *product)
{
    const int64_t stock = product->stock;
    const enum status status = admin->store->ops->product_insert(admin->store, product);
    product->stock = stock;
    return status != STATUS_OK || stock == STOCK_NONE
        ? status
        : admin->store->ops->product_stock(admin->store, product->id, stock);
}

void admin_product_create(struct admin *admin, struct job *job, uint32_t id)
{
    struct product *product = calloc(1, sizeof *product);
    (void)id;
    invariant(product != NULL);
    memcpy(product->currency, "CNY", 4);
    product->stock = STOCK_NONE;
    if (product_body_read(admin, job, product, true) && job_ok(job, product_put(admin, product))) {
        product_reply(job, 201, product);
        admin_audit_write(admin, job, "product.create", "product %u %.200s", product->id, product->name);
    }
    free(product);
}

/* NULL: answered. The caller frees it. */
static struct product *product_read(struct admin *admin, struct job *job, uint32_t id)
{
    struct product *product = malloc(sizeof *product);
    invariant(product != NULL);
    const enum status status = admin->store->ops->product_get(admin->store, id, product);
    if (job_found(job, status, PROBLEM_NOT_FOUND, "This product does not exist."))
        return product;
    free(product);
    return NULL;
}

void admin_product_show(struct admin *admin, struct job *job, uint32_t id)
{
    struct product *product = product_read(admin, job, id);
    if (product == NULL)
        return;
    product_reply(job, 200, product);
    free(product);
}

/* Whether an item with it is preheated, and so has a price in its currency that counts. */
static enum status product_is_priced(struct admin *admin, uint32_t product, bool *priced)
{
    const struct board *board = admin->lent->inventory->board;
    struct item rows[READ_ROWS];
    uint32_t count = READ_ROWS;
    *priced = false;
    for (item_id after = 0; count == READ_ROWS && !*priced;) {
        const enum status status =
            admin->store->ops->items(admin->store, 0, after, rows, READ_ROWS, &count);
        if (status != STATUS_OK)
            return status;
        for (uint32_t i = 0; i < count; i++) {
            struct board_update view;
            after = rows[i].id;
            *priced |= rows[i].product == product
                && (rows[i].preheated || board_read(board, rows[i].id, &view));
        }
    }
    return STATUS_OK;
}

/* Orders are in the currency of their product, so it stays once a price counts; unless it is none, in a
 * database of an earlier version. False: answered. */
static bool currency_may_change(struct admin *admin, struct job *job, const struct product *before)
{
    unsigned digits;
    bool priced = false;
    if (!currency_find(span_from_string(before->currency), &digits))
        return true;
    const enum status status = product_is_priced(admin, before->id, &priced);
    if (status != STATUS_OK)
        job_reply_status(job, status);
    else if (priced)
        job_reply_problem(job, PROBLEM_CONFLICT,
            "An item with this product is preheated: the currency can't be changed. Create "
            "another product.",
            SPAN_NONE);
    return status == STATUS_OK && !priced;
}

static void change_audit(
    struct admin *admin, struct job *job, const struct product *before, const struct product *after)
{
    if (strcmp(before->name, after->name) != 0)
        admin_audit_write(admin, job, "product.change", "product %u name: %.200s \u2192 %.200s",
            after->id, before->name, after->name);
    if (strcmp(before->description, after->description) != 0)
        admin_audit_write(admin, job, "product.change", "product %u description: now %zu bytes",
            after->id, strlen(after->description));
    if (strcmp(before->texts, after->texts) != 0)
        admin_audit_write(admin, job, "product.change", "product %u texts: now %zu bytes",
            after->id, strlen(after->texts));
    if (strcmp(before->images, after->images) != 0)
        admin_audit_write(admin, job, "product.change", "product %u images: now %.400s", after->id,
            after->images);
    if (before->stock != after->stock)
        admin_audit_write(admin, job, "product.change", "product %u stock: %lld \u2192 %lld",
            after->id, (long long)before->stock, (long long)after->stock);
    if (before->list_price != after->list_price || strcmp(before->currency, after->currency) != 0)
        admin_audit_write(admin, job, "product.change", "product %u list_price: %llu %s \u2192 %llu %s",
            after->id, (unsigned long long)before->list_price, before->currency,
            (unsigned long long)after->list_price, after->currency);
}

void admin_product_change(struct admin *admin, struct job *job, uint32_t id)
{
    struct product *before = product_read(admin, job, id);
    if (before == NULL)
        return;
    struct product *product = malloc(sizeof *product);
    invariant(product != NULL);
    *product = *before;
    if (product_body_read(admin, job, product, false)
        && (strcmp(before->currency, product->currency) == 0 || currency_may_change(admin, job, before))
        && job_ok(job, admin->store->ops->product_update(admin->store, product))
        && (before->stock == product->stock
            || job_ok(job, admin->store->ops->product_stock(admin->store, id, product->stock)))) {
        worker_product_changed(admin->worker, id);
        product_reply(job, 200, product);
        change_audit(admin, job, before, product);
    }
    free(product);
    free(before);
}
