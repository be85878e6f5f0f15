/* The constants that decide when two numbers count as equal, when too few digits are left and when
   an iteration ends: what each is relative to, and why it has this size. What several families use
   comes first, then a section for each. */
#ifndef SPARSELS_TOLERANCE_H
#define SPARSELS_TOLERANCE_H

/* ---- shared ---- */

/* The distance from 1 to the next double, rounded up: bounds count rounding in it. */
#define ROUNDING_UNIT 2.3e-16

/* Two candidates tie when what they are chosen by differs by no more than this share: some thousand
   roundings of a sum of positive terms. Of the criterion of the model that a greedy search starts
   from, and of the mean square of y for its squared errors; of the larger score in a pursuit; of
   the gain in a Pareto search; of the response's sum of squares in branch and bound. A standard
   error below this share of its mean is rounding. */
#define TIE 1e-12

/* A function that is minimised has not risen where it is larger by less than this share of it. */
#define RISE 1e-12

/* ---- criteria ---- */

/* Scores nearer than this are equal, in the units of a response of -1 and 1: else rounding would
   decide which of two is larger. */
#define CRITERION_TIE 1e-10

/* Of numbers the unit is their range. Scores are sums whose rounding is a share of the numbers
   themselves, this one at most: 64 roundings. */
#define SCORE_ROUNDING 1.5e-14

/* ---- greedy search ---- */

/* A candidate's kappa is computed anew once the recurrence has brought it below this share of the
   last value computed directly, or of lambda + |x|^2: three of its digits have cancelled (the guard
   of pivoted QR). */
#define GREEDY_KAPPA_LOST 1e-3

/* The product of the moved column with another is taken as x_b'C_i, which is in the cache, unless
   |C_b|^2 is below this share of |x_b|^2: rounding in C_i would then cost more than a digit. */
#define GREEDY_SHORT_COLUMN 0.01

/* A given path is made by a factor of products of columns where lambda is at least this share of
   the largest |x|^2: the factor then keeps twelve digits of lambda. */
#define GREEDY_GIVEN_LAMBDA 1e-4

/* A move multiplies the determinant of a fold's G_HH by eta / kappa_b. Where that is below this, or
   above its inverse, it counts among the digits that the fold has lost. */
#define GREEDY_FOLD_SCALE 0.01

/* By folds the state is not made afresh below this pivot: the factorisation of G_HH might fail. */
#define GREEDY_FOLD_SINGULAR 1e-12

/* Searches that drop columns make the state afresh after a move whose Schur complement is below
   this share of |x_b|^2 + lambda, or with eta / kappa_b of a fold below it or above its inverse. */
#define GREEDY_NEARLY_SINGULAR 1e-3

/* ---- greedy search by a likelihood ---- */

/* A pivot of the curvature below this share of its diagonal entry is rounding: the rows do not
   determine a covariate. */
#define LIKELIHOOD_SINGULAR 1e-13

/* Where rows without a fold leave a direction of the covariates flat, their coefficients have this
   ridge, times about how large the response is, towards the model of all rows. It is far above the
   rounding of slopes along the direction. */
#define LIKELIHOOD_FLAT_RIDGE 1e-9

/* A model is the optimum after a step that leaves less than this share of the null objective, if it
   shrinks what is promised as the step before it did. The linear predictors of models without a
   fold and of candidates have ten digits then. Where rounding keeps the promise above, steps that
   no longer shrink end below the last share.
 */
#define LIKELIHOOD_CONVERGED 1e-26
#define LIKELIHOOD_TEN_DIGITS 1e-23
#define LIKELIHOOD_STALLED 1e-14

/* Bounds of a gain are raised by this share. */
#define LIKELIHOOD_BOUND_MARGIN 1e-9

/* An error by products is above a ceiling if it is above by this share of y'y. */
#define CEILING_MARGIN 1e-9

/* ---- lower bounds of the greedy search ---- */

/* Bounds are lowered by this share of the error of the model, for rounding in the sums of squares
   themselves. */
#define BOUNDS_MARGIN 1e-13

/* Where rounding may exceed this share of the error of the model, no bound is given. */
#define BOUNDS_MAX_ROUNDING 1e-3

/* The largest eigenvalue of G across the members is raised by this share of it: it comes from
   recurrences, and any larger value is as valid. */
#define BOUNDS_EIGEN_MARGIN 1e-6

/* w_ref and a count as one direction when the determinant of their Gram matrix is below this share
   of the product of its diagonal. */
#define BOUNDS_COLLINEAR 1e-10

/* w counts as a combination of w_ref and a when the rest of it is below this share of its norm;
   bounds would gain nothing from exact products. */
#define BOUNDS_NO_REST 1e-8

/* Bounds of the eigenvalues of a fold's (G_HH)^-1, and of lengths within a fold, are moved outwards
   by this share. */
#define FOLD_EIGEN_MARGIN 1e-9

/* Added to norms that are divided by. */
#define BOUNDS_MIN_NORM 1e-150

/* ---- l1 paths: what keeps a bound on the safe side of rounding ---- */

/* A primal and a dual value are not told apart closer than this share of the null objective: a gap
   is raised by it. It is absolute, since the digits of a gap are those of values that cancel. */
#define L1_VALUE_NOISE 1e-12

/* A bound of a product, or a gap that is given, is raised by this share of itself, beside what
   rounding the sums behind it may cost; nothing cancels in it. Lambda must exceed a bound by as
   much to exclude a column. */
#define L1_BOUND_MARGIN 1e-10

/* A column's sum of squares is raised by this share of it for each row before the root is taken. */
#define L1_NORM_ROUNDING 1e-14

/* The length of a move of r is raised by this share of it. */
#define L1_DRIFT_ROUNDING 1e-12

/* An entry of r that differs from a multiple of y by less than this share of the length of r is the
   same. */
#define L1_SAME_DIRECTION 1e-15

/* ---- l1 paths: what one more direction with known products is worth ---- */

/* A known part of a product below this share of lambda leaves the product to the unknown part. */
#define L1_AVOIDABLE 0.9

/* Products of all columns with a direction are made where they spare more products than there are
   in this share of the columns and in the columns whose products are known. */
#define L1_DIRECTION_PAYS 0.06

/* ---- l1 paths: the lasso ---- */

/* A column is dependent on the active ones when they leave less than this share of its sum of
   squares, a share of 1e-10 of its length. */
#define LASSO_DEPENDENT 1e-20

/* When the active columns leave less than this share of a column's sum of squares, differences of
   squares have lost six digits. */
#define LASSO_ILL_CONDITIONED 1e-6

/* A product above lambda by less than this share of lambda is no violation. */
#define LASSO_VIOLATED 1e-9

/* A column whose product is likely to exceed this share of lambda is solved for before products are
   made. */
#define LASSO_LIKELY 0.95

/* A product of a dependent column that is above lambda by less than this share of |a_k| |r| is
   rounding. */
#define LASSO_EXCHANGE 1e-9

/* A fall of the objective by less than this share of the null objective is rounding. */
#define LASSO_PROGRESS 1e-15

/* How far the active columns are solved for at first, as a multiple of the gap allowed: sweeps
   mostly leave less than they stop at. Where the gap is still too large it is lowered by the
   second. */
#define LASSO_SHARE 2
#define LASSO_LESS 0.3

/* This share of its trace is added to the diagonal of the products of the ways that sweeps went,
   which are nearly dependent where a single direction is left. */
#define LASSO_ANDERSON_RIDGE 1e-12

/* ---- l1 paths: Newton's method ---- */

/* The columns of the working set may leave this share of the gap that is wanted. */
#define NEWTON_INNER_GAP 0.9

/* Of that gap the slopes may cause this share. */
#define NEWTON_SLOPES_GAP 0.8

/* By a Gram matrix slopes are solved to this share of their other limit, as products with the
   matrix cost little beside a step. */
#define NEWTON_GRAM_SLOPES 0.1

/* A fall of the objective by less than this share of the gap is no progress. */
#define NEWTON_PROGRESS 1e-3

/* ||beta||_1 counts as no less than this share of null objective / lambda, which it cannot exceed,
   when the gap is shared out to slopes. */
#define NEWTON_SMALL_MODEL 1e-3

/* Curvature along a column counts as no less than this share of the column's square. */
#define NEWTON_DEPENDENT 1e-12

/* Slopes along covariates are nothing below the first share of the root of the sum of weights, and
   below the second once they do not fall any more. */
#define NEWTON_BALANCED 1e-15
#define NEWTON_NEARLY_BALANCED 1e-12

/* Covariates separate some rows where the null model leaves a direction of their coefficients u, of
   length 1 over the rows, less curvature than the first. A ridge of the second then gives u an
   optimum, which is the same however the path came there. */
#define NEWTON_SEPARATED 1e-9
#define NEWTON_COVARIATE_RIDGE 1e-12

/* A dual point is made orthogonal to the covariates where that is a change of f by no more than
   this. A little above 1 a row leaves the domain of the dual by less than rounding. */
#define NEWTON_BALANCE_CHANGE (1 + 1e-6)

/* This share of a diagonal entry is added to it before the preconditioner is factored, so that
   there is a factor. */
#define NEWTON_RIDGE 1e-9

/* Curvature of a direction below this share of the diagonal's square is none. */
#define NEWTON_FLAT 1e-14

/* A coefficient that a step brings below this share of what it was is zero. */
#define NEWTON_ZERO 1e-14

/* ---- l1 paths: the hinge loss ---- */

/* A variable that is outside its bounds by less than this share of the largest value of any is
   inside. */
#define HINGE_FEASIBLE 1e-11

/* Rounding of a row's value, as a share of the largest it can have. */
#define HINGE_ROW_ROUNDING 1e-15

/* A reduced cost of the wrong sign counts from here on: it comes from margins, of about 1. */
#define HINGE_OPTIMAL 1e-12

/* How unequal costs, which are 1, are made at first, so that no two vertices are equally good. */
#define HINGE_UNEQUAL 1e-8

/* A product above lambda by less than this share of lambda is no violation. */
#define HINGE_VIOLATED 1e-10

/* By how much an inverse that is still good misses the values of tight rows, as a share of what
   rows can be at most. */
#define HINGE_MISSED 1e-12

/* An entry of a pivot row is rounding below the first share of the largest entry, or below the
   second share of the largest term behind it. */
#define HINGE_SMALL_ENTRY 1e-9
#define HINGE_ENTRY_ROUNDING 1e-12

/* The pivot element is sought above the first share of the largest entry, and any above the second
   is good. */
#define HINGE_WEAK_PIVOT 1e-7
#define HINGE_GOOD_PIVOT 1e-5

/* How far row and column may differ about the pivot element, as a share of it. */
#define HINGE_PIVOT_ERROR 1e-7

/* A column that contributes less than this to every margin has no coefficient. */
#define HINGE_ZERO 1e-13

/* A fall by less than this share of the optimal value is none. */
#define HINGE_PROGRESS 1e-9

/* ---- l1 paths: safe bounds ---- */

/* There is an intercept when Q leaves less than this share of the sum of weights: the square of a
   few thousand roundings. */
#define SAFE_INTERCEPT 1e-24

/* Gamma stays below the largest entropy by this share of it. */
#define SAFE_ENTROPY_ROUNDING 1e-14

/* Newton's method ends when it promises less than the first share of F, the search along one
   variable when it promises less than the second. */
#define SAFE_NEWTON_GAIN 1e-10
#define SAFE_BRACKET_GAIN 1e-11

/* Thresholds of lambda are raised by this share of themselves. */
#define SAFE_THRESHOLD_ROUNDING 1e-12

/* Thresholds are searched for to this share of the largest lambda. */
#define SAFE_THRESHOLD_ERROR 1e-6

/* One more tangent of the knapsack must gain this share of the bound. */
#define SAFE_TANGENT_GAIN 1e-3

/* ---- subsets ---- */

/* A column is dependent on those of a set, and adds no gain, when its pivot (Schur complement) is
   at most this share of its own diagonal entry of X'X + lambda I: X'X holds squares, so that a
   column which agrees with others to five digits has lost all of its own. */
#define SUBSET_DEPENDENT 1e-10

/* Columns are the same up to sign and scale when their products with every column, and with y,
   differ by no more than this share of the product of the norms: rounding alone. */
#define SUBSET_SAME 1e-12

/* ---- proofs of subsets ---- */

/* A share of a unit that differs by no more from 0 or 1 is 0 or 1. */
#define DUAL_NO_SHARE 1e-12

/* Pivots of the Hessian are no smaller than this share of its largest diagonal entry: along copies
   of a column f is flat. */
#define DUAL_FLAT 1e-12

/* A step of the dual lowers f by this share of what its slope promises. */
#define DUAL_SUFFICIENT 1e-4

/* Values of the dual differ by rounding when they differ by no more than this share of total. */
#define DUAL_ROUNDING 1e-15

/* A relaxation in the tree ends when the bound is this close to the value, relative to what both
   are below the limit. */
#define TREE_SLACK 0.02

/* It also ends at this share of the total: less is rounding. */
#define TREE_ROUNDING 1e-14

/* With a smaller diagonal of G less h a row says nothing of models without it. */
#define HELD_ALIASED 1e-10

/* ---- pursuit ---- */

/* A pivot of -PURSUIT_NEGATIVE times its A_ii is still rounding, of a matrix that was computed with
   half the digits. */
#define PURSUIT_NEGATIVE 1e-8

/* ---- ridge regression with rows held out ---- */

/* By the form per lambda, a set whose I - J has a smaller pivot has lost more than six digits of
   its residuals; it is held out by the form per fold. Relative to 1, the largest pivot there is. */
#define HOLDOUT_SMALLEST 1e-6

/* When I - Z_H'Z_H has a smaller pivot, relative to 1, the rows not held out do not determine the
   coefficients of the covariates. */
#define HOLDOUT_ALIASED 1e-10

/* ---- the choice of centres ---- */

/* A candidate is set aside, as dependent on the centres, when its Schur complement is below this
   share of its penalty: of the shift alone little is left above rounding. */
#define CENTRES_DEPENDENT 1e-9

#endif
