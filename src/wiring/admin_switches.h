/* wiring/admin_switches.h: what the switches are at start. (The handlers are in admin_api.h.) */
#ifndef STAMPEDE_WIRING_ADMIN_SWITCHES_H
#define STAMPEDE_WIRING_ADMIN_SWITCHES_H

#include "funnel/switches.h"
#include "wiring/config.h"

void switches_start(struct switches *switches, const struct config *config); /* before the threads run */

#endif
