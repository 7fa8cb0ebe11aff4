/* SPDX-License-Identifier: Apache-2.0 */
/* api/refusals.h: how a refusal of the inventory is told: as a problem, with what a client or an operator
 * needs to know about it. Pure functions, any thread. */
#ifndef STAMPEDE_API_REFUSALS_H
#define STAMPEDE_API_REFUSALS_H

#include "api/problems.h"
#include "base/text.h"
#include "contract/command.h"

/* PROBLEM_NONE: the answer is no refusal. */
enum problem refusal_problem(enum answer answer);
/* Of a refusal that tells when it is over: the member of its body, and its Retry-After. */
void refusal_again_members(uint64_t again_ms, struct text *out);
uint64_t refusal_retry_s(uint64_t again_ms);
/* Why a command of an operator can't be done. `conflict`: enum conflict. */
const char *refusal_conflict_text(uint8_t conflict);
/* As metrics and reports call it: "won"; "": a purchase is not answered so. */
const char *refusal_answer_name(enum answer answer);

#endif
