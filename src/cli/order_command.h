/* SPDX-License-Identifier: Apache-2.0 */
/* cli/order_command.h: `admin order ship --file` and `admin order export`.
 * Errors: said on the session's `errors`; the result says of which kind. */
#ifndef STAMPEDE_CLI_ORDER_COMMAND_H
#define STAMPEDE_CLI_ORDER_COMMAND_H

#include "cli/admin_parts.h"

struct admin_session;

/* "order ship" with --file among its arguments is "order ship-file". */
const struct admin_verb *order_verb_choose(const struct admin_verb *verb, int argc, char **argv);
/* All lines are checked here and by the server before the first is done. ADMIN_CLI_REFUSED: some are bad, and
 * nothing was done. */
enum admin_cli_result order_ship_file(struct admin_session *session, const struct admin_request *request);
/* Page by page to standard output. */
enum admin_cli_result order_export(struct admin_session *session, const struct admin_request *request);

#endif
