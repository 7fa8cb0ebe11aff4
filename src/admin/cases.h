/* SPDX-License-Identifier: Apache-2.0 */
/* admin/cases.h: what the two files about cases share (admin/cases.c, admin/remedies.c). */
#ifndef STAMPEDE_ADMIN_CASES_H
#define STAMPEDE_ADMIN_CASES_H

#include "base/status.h"
#include "contract/types.h"

struct admin;
struct job;
struct order;
struct remedy_case;
struct remedy_facts;

/* False and the job is answered when it can't be. */
MUST_CHECK bool admin_case_read(
    struct admin *admin, struct job *job, uint32_t id, struct remedy_case *remedy);
MUST_CHECK bool admin_case_is_open(struct job *job, const struct remedy_case *remedy);
/* Answers with the case as it is now. */
void admin_case_reply(struct admin *admin, struct job *job, int status, uint64_t id);
MUST_CHECK enum status admin_case_note_write(struct admin *admin, const struct job *job,
    uint64_t id, ticket_number ticket, const char *way, const char *text);
/* What policy/remedy.h asks about an order. */
MUST_CHECK enum status admin_case_facts(
    struct admin *admin, ticket_number ticket, struct order *order, struct remedy_facts *facts);

#endif
