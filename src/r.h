/* The border with R: what its files share. Only r-*.c and init.c include R's headers. */
#ifndef SPARSELS_R_H
#define SPARSELS_R_H

#include "criterion.h"
#include "gram.h"
#include "problem.h"
#include <limits.h>
#include <R.h>
#include <R_ext/Rdynload.h>
#include <R_ext/Utils.h>
#include <R_ext/Visibility.h>
#include <Rinternals.h>

/* ---- r-list.c: lists by name ---- */

/* Calls a function of the package, which may raise one of its own errors. */
void call_r(const char *name, SEXP x);

/* The package's own error, that the part of that name is not as it was made, unless that holds. */
void expect(_Bool holds, const char *name);

/* The element of that name, which must be there. */
SEXP field(SEXP list, const char *name);
int has_field(SEXP list, const char *name);

/* One number that is not missing: a whole one, one that is not negative, any. */
int int_value(SEXP x, const char *name);
double real_value(SEXP x, const char *name);
int int_field(SEXP list, const char *name);
int count_field(SEXP list, const char *name);
double real_field(SEXP list, const char *name);

SEXP function_or_null(SEXP list, const char *name);

/* So many doubles, of any values. */
const double *double_values(SEXP x, const char *name, double length);

/* Refuses numbers that are not finite, in the name of a field. */
void expect_finite(const double *value, size_t count, const char *name);

/* So many finite doubles. */
const double *finite_values(SEXP x, const char *name, double length);
const double *double_field(SEXP list, const char *name, double length);
const double *double_or_null(SEXP list, const char *name, double length);

/* A matrix of finite doubles, of so many rows and columns, or of ANY number. */
enum { ANY = -1 };
SEXP matrix_field(SEXP list, const char *name, ptrdiff_t rows, ptrdiff_t columns);

/* So many integers, none outside `from` to `to`. */
const int *index_values(SEXP x, const char *name, double length, int from, int to);
const int *index_field(SEXP list, const char *name, double length, int from, int to);

/* Where parts begin and the last one ends, from 0 to `end` at most, never falling. */
const int *start_values(SEXP x, const char *name, double parts, int end);

/* The place of a field's word among `count` words, by which R and C name the same choice. */
int choice_field(SEXP list, const char *name, const char *const *words, int count);
#define CHOICE(list, name, words)                                                                  \
  choice_field(list, name, words, (int)(sizeof(words) / sizeof *(words)))

enum criterion unpack_criterion(SEXP name);

/* A list that is filled part by part; the caller protects `list`. */
struct answer {
  SEXP list;
  int parts;
};

struct answer new_answer(void);
int *add_int(struct answer *answer, const char *name, size_t length);
double *add_real(struct answer *answer, const char *name, size_t length);

/* "status", in a word. */
void add_status(struct answer *answer, enum status status);

/* The list of the parts that were added; the caller need not protect `list` any more. */
SEXP answer_list(const struct answer *answer);

/* ---- r-views.c: views of R's vectors, which stay theirs ---- */

/* The rows and columns of a matrix of any kind. */
struct size {
  ptrdiff_t rows, columns;
};

struct size size_of(SEXP x);

/* The view of a matrix of doubles, integers or logicals, a float_matrix, a file_matrix or a
   dgCMatrix, of m rows and at least n columns. Values are not looked at. */
struct matrix unpack_matrix(SEXP x, ptrdiff_t m, ptrdiff_t n);

/* A problem, whose y and response are those of so many searches, `products` that of one. */
struct problem unpack_problem(SEXP problem, int searches);
struct gram unpack_gram(SEXP terms);

/* m rows fold by fold, in memory of R_alloc(). */
struct queries unpack_queries(SEXP query, int m);
struct risk_sets unpack_risk(SEXP risk, int m);
struct folds unpack_folds(SEXP folds, ptrdiff_t m);

/* ---- r-host.c: interrupts, progress, the user's criterion, threads ---- */

struct r_host {
  SEXP progress, user_loss; /* R functions or NULL */
  double polled;            /* when R was last asked, in seconds */
  double done, total, columns_read;
  int stopped;
};

/* `parts`: among how many threads the work can be shared at most. */
struct host make_host(struct r_host *r, SEXP control, size_t residual_length, ptrdiff_t parts);

/* Whether the user has pressed Ctrl-C. */
int is_interrupted(void);

/* What a kernel that keeps its work when it is interrupted came to. Ctrl-C since R was last asked
   counts, too: if R saw it first, all would be lost. */
enum status final_status(enum status status, struct r_host *r);

/* The value of an R call, NULL when Ctrl-C ended it. Ctrl-C is held back outside the call, so that
   nothing can jump past the kernel but the call's own errors. */
SEXP eval_interruptible(SEXP call);

/* Notes which process this is, as a forked one gets one thread. */
void note_process(void);
int threads_here(SEXP threads, ptrdiff_t parts);

/* ---- r-names.c: names of columns that were given none ---- */

void make_numbered_class(DllInfo *dll);

/* ---- r-file.c: matrices in files ---- */

/* The view of a file_matrix, whose file is mapped when it is not yet. An error if it has changed.
 */
struct matrix unpack_file(SEXP x, struct size size);

/* ---- r-memory.c: large workspaces ---- */

/* Memory that R does not count, as much of it may never be touched, in large pages where the system
   has them. To be released; R's collector does it where an error went past that. */
SEXP alloc_workspace(size_t bytes, void **begin);
void release_workspace(SEXP workspace);
void *workspace_begin(SEXP workspace);

/* ---- what R calls, by file ---- */

/* r-criterion.c */
SEXP C_row_losses(SEXP name, SEXP response, SEXP residual);
SEXP C_row_loss_sums(SEXP name, SEXP response, SEXP residual, SEXP weight);
SEXP C_gain_moments(SEXP losses, SEXP weight, SEXP huber);
SEXP C_huber_losses(SEXP residual, SEXP huber);
SEXP C_pair_losses(SEXP positive, SEXP negative);
SEXP C_pair_sum(SEXP positive, SEXP positive_weights, SEXP negative, SEXP negative_weights);
SEXP C_ordered_sum(SEXP response, SEXP score, SEXP weight, SEXP query);

/* r-problem.c */
SEXP C_column_moments(SEXP x, SEXP w, SEXP centred, SEXP v, SEXP threads);
SEXP C_within_squares(SEXP x, SEXP centre, SEXP root_w, SEXP query, SEXP threads);
SEXP C_column_means(SEXP x, SEXP w, SEXP threads);
SEXP C_spline_values(SEXP x, SEXP knots, SEXP unit, SEXP values, SEXP second);
SEXP C_spline_products(SEXP x, SEXP w, SEXP knots, SEXP unit, SEXP values, SEXP second);
SEXP C_quantile_knots(SEXP x, SEXP w, SEXP order, SEXP most, SEXP ends);
SEXP C_linear_scores(SEXP X, SEXP columns, SEXP B, SEXP Z, SEXP C);
SEXP C_cross_columns(SEXP X, SEXP V);
SEXP C_asymmetry(SEXP A, SEXP root, SEXP share);

/* r-greedy.c */
SEXP C_fold_products(SEXP problem, SEXP control);
SEXP C_weighted_products(SEXP x, SEXP v);
SEXP C_greedy_rls(SEXP problem, SEXP control);
SEXP C_greedy_responses(SEXP problem, SEXP control);
SEXP C_greedy_likelihood(SEXP problem, SEXP control);
SEXP C_greedy_open(SEXP problem, SEXP control);
SEXP C_greedy_score(SEXP pointer);
SEXP C_greedy_first_tie(SEXP pointer, SEXP best);
SEXP C_greedy_column(SEXP pointer, SEXP column);
SEXP C_greedy_add(SEXP pointer, SEXP column, SEXP x, SEXP read_norm2);
SEXP C_greedy_close(SEXP pointer);

/* r-ridge.c */
SEXP C_kernel_spectrum(SEXP problem, SEXP control);
SEXP C_kernel_factor(SEXP K, SEXP control);
SEXP C_holdout(SEXP spectrum, SEXP control);
SEXP C_choose_centres(SEXP given, SEXP control);
SEXP C_triangle(SEXP above, SEXP below);

/* r-subset.c */
SEXP C_poss(SEXP terms, SEXP control);
SEXP C_best_subset(SEXP terms, SEXP control);
SEXP C_subset_dual(SEXP terms, SEXP control);
SEXP C_certificate_gains(SEXP X, SEXP A);
SEXP C_certificate_constant(SEXP A, SEXP Y);
SEXP C_subset_tree(SEXP terms, SEXP control);

/* r-l1.c */
SEXP C_l1_paths(SEXP problems, SEXP control);
SEXP C_l1_losses(SEXP rows, SEXP loss, SEXP f);
SEXP C_safe_bounds(SEXP problem, SEXP control);

/* r-pursuit.c */
SEXP C_scdp(SEXP given, SEXP control);
SEXP C_fixed_size(SEXP machine, SEXP control);

/* r-file.c, r-names.c, r-seal.c and r-host.c */
SEXP C_new_map(void);
SEXP C_values_in_place(SEXP x, SEXP rows, SEXP columns);
SEXP C_numbered_names(SEXP count);
SEXP C_are_numbered(SEXP names);
SEXP C_shape(SEXP x);
SEXP C_threads_here(SEXP threads, SEXP parts);
SEXP C_hold_interrupts(SEXP hold);
SEXP C_is_fork(void);
SEXP C_use_simd(SEXP width);

#endif
