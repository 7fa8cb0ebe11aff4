/* SPDX-License-Identifier: Apache-2.0 */
/* admin/switches.h: what the switches are at start. (The handlers are in admin.h.) */
#ifndef STAMPEDE_ADMIN_SWITCHES_H
#define STAMPEDE_ADMIN_SWITCHES_H

#include "config/config.h"
#include "funnel/switches.h"

void switches_start(struct switches *switches, const struct config *config); /* before the threads run */

#endif
