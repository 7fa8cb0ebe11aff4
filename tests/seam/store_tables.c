/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/seam/store_tables.h"

#include "base/status.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>

size_t store_tables_list(struct store_table tables[STORE_TABLES_MAX])
{
    static const char words[] = "CREATE TABLE ";
    size_t count = 0;
    for (const char *const *text = store_tables; *text != NULL; text++) {
        const char *at = strstr(*text, words);
        while (at != NULL) {
            struct store_table *table = &tables[count++];
            const char *name = at + strlen(words), *counter = strstr(at, "AUTOINCREMENT");
            invariant(count <= STORE_TABLES_MAX);
            snprintf(table->name, sizeof table->name, "%.*s", (int)strcspn(name, "("), name);
            at = strstr(name, words);
            table->counts = counter != NULL && (at == NULL || counter < at);
        }
    }
    return count;
}
