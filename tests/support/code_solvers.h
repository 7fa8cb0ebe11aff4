/* SPDX-License-Identifier: Apache-2.0 */
/* tests/support/code_solvers.h: programs that try to read the codes of the human check, as a stranger
 * would who has read src/funnel/human/picture.c: the bars of picture_solvers_test.c. None of them
 * learns from examples; docs/human-check.md says what that means. */
#ifndef STAMPEDE_TESTS_SUPPORT_CODE_SOLVERS_H
#define STAMPEDE_TESTS_SUPPORT_CODE_SOLVERS_H

#include "funnel/human/picture.h"

enum { SOLVER_LETTERS = 5 };

/* Cuts the ink into letters, by colour where each has its own, else where there is the least ink in a column,
 * and compares each with the letters of the font, turned and stretched. */
void solver_segments(const struct picture *picture, char code[SOLVER_LETTERS + 1]);
/* Doesn't cut: looks for each letter of the font everywhere, turned and stretched, and takes the row of
 * five that fits best. */
void solver_letters(const struct picture *picture, char code[SOLVER_LETTERS + 1]);

#endif
