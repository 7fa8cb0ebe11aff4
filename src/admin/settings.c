/* SPDX-License-Identifier: Apache-2.0 */
/* admin/settings.c: the configuration in force, where each value comes from, and who has a key. No secret is
 * told: secrets and keys are in files, of which the configuration has the paths. */
#include "admin/admin.h"
#include "config/config.h"

#include <assert.h>
#include <stdio.h>

static const char *const source_names[] = {
    [CONFIG_DEFAULT] = "default",
    [CONFIG_FILE] = "file",
    [CONFIG_ENVIRONMENT] = "environment",
    [CONFIG_COMMAND] = "command",
};
static_assert(sizeof source_names / sizeof *source_names == CONFIG_SOURCES, "each source has a name");

static void settings_write(const struct config *config, struct text *out)
{
    struct config_setting setting;
    json_list_begin(out, "settings");
    for (size_t at = 0; config_setting(config, at, &setting); at++) {
        char name[128];
        snprintf(name, sizeof name, "%s.%s", setting.section, setting.key);
        json_object_begin(out, NULL);
        json_text(out, "name", name);
        json_text(out, "value", setting.value);
        json_text(out, "source", source_names[setting.source]);
        json_bool(out, "reload", setting.reload);
        json_object_end(out);
    }
    json_list_end(out);
}

void admin_settings(struct admin *admin, struct job *job, uint32_t id)
{
    struct text body = job_body(job);
    (void)id;
    json_object_begin(&body, NULL);
    settings_write(admin->lent->config, &body);
    admin_keys_member(admin, &body);
    json_object_end(&body);
    job_reply_json(job, 200, &body);
}
