/* SPDX-License-Identifier: Apache-2.0 */
/* config/image_origins.h: page.image_origins, a list of origins ("https://img.example") that is
 * separated by commas or spaces: whose pictures the pages may show besides our own. */
#ifndef STAMPEDE_CONFIG_IMAGE_ORIGINS_H
#define STAMPEDE_CONFIG_IMAGE_ORIGINS_H

#include "base/span.h"

const char *image_origins_wrong(const char *list); /* NULL: good; else what is wrong with it */
/* Whether the address begins with an origin of the list, and a slash. */
bool image_origins_has(const char *list, struct span address);

#endif
