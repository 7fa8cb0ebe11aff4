/* SPDX-License-Identifier: Apache-2.0 */
/* worker/callbacks.h: requests that carry no session of ours: callbacks of payment providers, and
 * what is said to the sandbox's bank.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_CALLBACKS_H
#define STAMPEDE_WORKER_CALLBACKS_H

struct job;
struct worker;
void worker_outside_job(struct worker *worker, struct job *job);

#endif
