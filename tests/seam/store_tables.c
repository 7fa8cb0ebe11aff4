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

void store_tables_clear_postgres(char *sql, size_t bytes)
{
    struct store_table tables[STORE_TABLES_MAX];
    const size_t count = store_tables_list(tables);
    int used = snprintf(sql, bytes, "TRUNCATE %s", tables[0].name);
    for (size_t i = 1; i < count; i++)
        used += snprintf(sql + used, bytes - (size_t)used, ", %s", tables[i].name);
    snprintf(sql + used, bytes - (size_t)used, " RESTART IDENTITY CASCADE;");
}

void store_tables_clear_mariadb(char *sql, size_t bytes)
{
    struct store_table tables[STORE_TABLES_MAX];
    int used = 0;
    for (size_t i = store_tables_list(tables); i-- > 0;) {
        used += snprintf(sql + used, bytes - (size_t)used, "DELETE FROM %s;", tables[i].name);
        if (tables[i].counts)
            used += snprintf(sql + used, bytes - (size_t)used, "ALTER TABLE %s AUTO_INCREMENT = 1;",
                tables[i].name);
    }
}
