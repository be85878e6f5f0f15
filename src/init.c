/* The table of what R calls, and what happens when the package is loaded. */
#include "r.h"
#include "simd.h"

#define ENTRY(name, arguments)                                                                     \
  { #name, (DL_FUNC)(void (*)(void))name, arguments }

static const R_CallMethodDef entries[] = {
    ENTRY(C_row_losses, 3),
    ENTRY(C_row_loss_sums, 4),
    ENTRY(C_gain_moments, 3),
    ENTRY(C_huber_losses, 2),
    ENTRY(C_pair_losses, 2),
    ENTRY(C_pair_sum, 4),
    ENTRY(C_ordered_sum, 4),
    ENTRY(C_column_moments, 5),
    ENTRY(C_within_squares, 5),
    ENTRY(C_column_means, 3),
    ENTRY(C_spline_values, 5),
    ENTRY(C_spline_products, 6),
    ENTRY(C_quantile_knots, 5),
    ENTRY(C_linear_scores, 5),
    ENTRY(C_cross_columns, 2),
    ENTRY(C_asymmetry, 3),
    ENTRY(C_fold_products, 2),
    ENTRY(C_weighted_products, 2),
    ENTRY(C_greedy_rls, 2),
    ENTRY(C_greedy_responses, 2),
    ENTRY(C_greedy_likelihood, 2),
    ENTRY(C_greedy_open, 2),
    ENTRY(C_greedy_score, 1),
    ENTRY(C_greedy_first_tie, 2),
    ENTRY(C_greedy_column, 2),
    ENTRY(C_greedy_add, 4),
    ENTRY(C_greedy_close, 1),
    ENTRY(C_kernel_spectrum, 2),
    ENTRY(C_kernel_factor, 2),
    ENTRY(C_holdout, 2),
    ENTRY(C_choose_centres, 2),
    ENTRY(C_triangle, 2),
    ENTRY(C_poss, 2),
    ENTRY(C_best_subset, 2),
    ENTRY(C_subset_dual, 2),
    ENTRY(C_certificate_gains, 2),
    ENTRY(C_certificate_constant, 2),
    ENTRY(C_subset_tree, 2),
    ENTRY(C_l1_losses, 3),
    ENTRY(C_l1_paths, 2),
    ENTRY(C_safe_bounds, 2),
    ENTRY(C_scdp, 2),
    ENTRY(C_fixed_size, 2),
    ENTRY(C_new_map, 0),
    ENTRY(C_values_in_place, 3),
    ENTRY(C_numbered_names, 1),
    ENTRY(C_are_numbered, 1),
    ENTRY(C_shape, 1),
    ENTRY(C_threads_here, 2),
    ENTRY(C_hold_interrupts, 1),
    ENTRY(C_is_fork, 0),
    ENTRY(C_use_simd, 1),
    {NULL, NULL, 0},
};

void attribute_visible R_init_sparsels(DllInfo *dll) {
  note_process();
  simd = simd_for(8);
  make_numbered_class(dll);
  R_registerRoutines(dll, NULL, entries, NULL, NULL);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
}
