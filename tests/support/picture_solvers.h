/* SPDX-License-Identifier: Apache-2.0 */
/* tests/support/picture_solvers.h: programs that try to solve the pictures of the human check, as a stranger
 * would who has read src/funnel/picture*.c: the bars of tests/unit/funnel/human/picture_solvers_test.c.
 * None of them learns from examples; docs/human-check.md says what that means. */
#ifndef STAMPEDE_TESTS_SUPPORT_PICTURE_SOLVERS_H
#define STAMPEDE_TESTS_SUPPORT_PICTURE_SOLVERS_H

#include "funnel/human/picture.h"

/* Lays the piece over the picture, as it is, wherever it goes, and takes the place where ink meets ink
 * best (normalised correlation of blurred ink). Answers the x of the middle. */
uint32_t solver_overlay(const struct picture *whole, const struct picture *piece);
/* The same by edges: turned in steps, in several sizes; strokes must lie near strokes of the same
 * direction (directed chamfer matching). */
uint32_t solver_edges(const struct picture *whole, const struct picture *piece);
/* The same with the outlines of our source: knows the piece by them, then looks for its other way. */
uint32_t solver_outlines(const struct picture *whole, const struct picture *piece);
/* Which figure the piece shows. */
int solver_piece(const struct picture *piece, int *way);

#endif
