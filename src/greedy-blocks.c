/* Loops over the columns and over blocks of rows of a greedy search, on one or several threads. */
#include "greedy-state.h"
#ifdef _OPENMP
#include <omp.h>
#endif

/* Columns between two polls of the host, which is asked every few milliseconds. A user's criterion
   is R code, which the host may interrupt at any column. */
static ptrdiff_t greedy_columns_between_polls(const struct greedy *s, double cost, int threads) {
  const double columns = 4e6 / cost;
  if (s->control->criterion == USER)
    return 1;
  return columns < threads ? threads : columns > 1e6 ? 1000000 : (ptrdiff_t)columns;
}

enum status greedy_each_column(struct greedy *s, double cost, greedy_column_work *work) {
  const ptrdiff_t n = s->pb->n;
  const int threads = s->control->criterion == USER ? 1 : s->host->threads;
  const ptrdiff_t count = greedy_columns_between_polls(s, cost, threads);
  for (ptrdiff_t from = 0; from < n; from += count) {
    const ptrdiff_t to = greedy_min(from + count, n);
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads)                                                      \
    schedule(static) if (threads > 1 && cost * (double)(to - from) > PARALLEL_FROM)
#endif
    for (ptrdiff_t i = from; i < to; i++) {
#ifdef _OPENMP
      double *scratch = s->scratch + (size_t)omp_get_thread_num() * s->scratch_size;
#else
      double *scratch = s->scratch;
#endif
      if (greedy_in_play(s, i))
        work(s, i, scratch);
    }
    if (greedy_stopped(s))
      return INTERRUPTED;
  }
  return COMPLETE;
}

void greedy_each_block(
    struct greedy *s, ptrdiff_t passes, greedy_block_work *work, const void *with) {
  const ptrdiff_t m = s->pb->m;
#ifdef _OPENMP
  const int threads = s->host->threads;
#pragma omp parallel for num_threads(threads)                                                      \
    schedule(static) if (threads > 1 && m > ROWS && passes * m > PARALLEL_FROM)
#endif
  for (ptrdiff_t row = 0; row < m; row += ROWS)
    work(s, with, row, greedy_min(m - row, ROWS));
  (void)passes;
}
