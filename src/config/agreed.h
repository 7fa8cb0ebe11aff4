/* SPDX-License-Identifier: Apache-2.0 */
/* config/agreed.h: the settings that must be the same in each process of a shop on many machines: the rows
 * that end with AGREED in the table of config.c. Each process tells the others one number of them.
 * Thread: any. Memory: none. */
#ifndef STAMPEDE_CONFIG_AGREED_H
#define STAMPEDE_CONFIG_AGREED_H

#include "config/config.h"

/* The same for processes whose agreed settings are the same, whatever else they have; others have another
 * one. It tells nothing about the values. */
uint64_t agreed_settings(const struct config *config);

#endif
