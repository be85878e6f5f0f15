/* The greedy search in steps, its columns shared among shards: the bytes of a run of one process.
 */
#include "column.h"
#include "runs.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHARDS = 7 };

/* One of the processes, with columns from .. from + pb.n of the problem. */
struct shard {
  ptrdiff_t from;
  struct problem pb;
  struct greedy_control control;
  struct host host;
  struct polls polls;
  struct greedy *search;
  enum status status;
  double *products;
  int *given;
  void *work;
  struct run run;
};

static struct shard open_shard(const struct made *made, const struct greedy_control *control,
    ptrdiff_t from, ptrdiff_t columns) {
  const struct problem *pb = &made->pb;
  struct shard shard = {.from = from, .pb = *pb, .control = *control};
  shard.pb.n = columns;
  shard.pb.centre += from;
  shard.pb.inv_scale += from;
  shard.pb.squares += from;
  shard.pb.rss += from;
  shard.pb.usable += from;
  if (is_sparse(&pb->x))
    shard.pb.x.p += from;
  else
    shard.pb.x.dense = column_at(&pb->x, pb->m, from, 0);
  shard.products = room((size_t)(columns * pb->L) * sizeof(double), 0);
  for (ptrdiff_t l = 0; l < pb->L; l++)
    for (ptrdiff_t i = 0; i < columns; i++)
      shard.products[i + l * columns] = pb->products[from + i + l * pb->n];
  shard.pb.products = shard.products;
  shard.given = room((size_t)control->given_count * sizeof(int), 0);
  for (int p = 0; p < control->given_count; p++) {
    const ptrdiff_t own = control->given[p] - from;
    shard.given[p] = (int)(own >= 0 && own < columns ? own : columns);
  }
  shard.control.given = shard.given;
  shard.control.shard = 1;
  return shard;
}

static void begin(struct shard *shard, const struct made *made) {
  shard->host = (struct host){.threads = 1, .stop = poll, .self = &shard->polls};
  shard->work = room(greedy_work(&shard->pb, &made->folds, &shard->control, 1), 0xFF);
  shard->run = empty_run(&shard->pb, &shard->control);
  shard->search = greedy_open(&shard->pb, &made->folds, &shard->control, &shard->host, shard->work,
      &shard->run.result, &shard->status);
}

static void close_shard(struct shard *shard) {
  free(shard->products);
  free(shard->given);
  free(shard->work);
  free(shard->run.block);
}

/* The column to add next and the shard that has it; -1: none. */
static ptrdiff_t choose(
    struct shard *shard, int count, const struct greedy_control *control, int move, int *owner) {
  double least = INFINITY;
  for (int i = 0; i < count; i++) {
    double best;
    CHECK(greedy_score_moves(shard[i].search, &best) == COMPLETE);
    least = fmin(least, best);
  }
  for (*owner = 0; *owner < count; ++*owner) {
    const struct shard *one = shard + *owner;
    const ptrdiff_t i =
        move < control->given_count ? one->given[move] : greedy_first_tie(one->search, least);
    if (i >= 0 && i < one->pb.n)
      return i;
  }
  return -1;
}

/* The search by `count` shards and one more process that has no columns, whose result it returns.
 */
static struct run run_shards(
    const struct made *made, const struct greedy_control *control, int count, int *chosen) {
  struct shard shard[MOST_SHARDS], path = open_shard(made, control, 0, 0);
  double *x = room((size_t)made->pb.m * sizeof(double), 0);
  begin(&path, made);
  for (int i = 0; i < count; i++) {
    const ptrdiff_t n = made->pb.n, from = n * i / count, to = n * (i + 1) / count;
    shard[i] = open_shard(made, control, from, to - from);
  }
  for (int i = 0; i < count; i++)
    begin(shard + i, made);
  for (int on = path.status == COMPLETE, move = 0, owner; on; move++) {
    const ptrdiff_t b = choose(shard, count, control, move, &owner);
    if (b < 0)
      break;
    chosen[move] = (int)(shard[owner].from + b);
    const double read_norm2 = greedy_read_column(shard[owner].search, b, x);
    for (int i = 0; i < count; i++)
      if (i == owner)
        greedy_move(shard[i].search, b, &shard[i].status);
      else
        greedy_move_other(shard[i].search, x, read_norm2, &shard[i].status);
    on = greedy_move_other(path.search, x, read_norm2, &path.status);
  }
  const struct run run = path.run;
  path.run.block = NULL;
  for (int i = 0; i < count; i++)
    close_shard(shard + i);
  close_shard(&path);
  free(x);
  return run;
}

static void check_shards(const struct made *made, const struct greedy_control *control) {
  const struct run whole = run_fenced(made, control, 1, 0xFF, quiet);
  const size_t entries = (size_t)whole.result.moves + 1;
  const size_t mL = (size_t)(made->pb.m * made->pb.L) * sizeof(double);
  int *chosen = room((size_t)control->k * sizeof(int), 0);
  for (int count = 1; count <= MOST_SHARDS; count += 3) {
    const struct run run = run_shards(made, control, count, chosen);
    CHECK(run.result.moves == whole.result.moves && run.result.best == whole.result.best);
    CHECK(memcmp(chosen, whole.result.feature + 1, (entries - 1) * sizeof(int)) == 0);
    CHECK(memcmp(run.result.loss, whole.result.loss, entries * sizeof(double)) == 0);
    CHECK(memcmp(run.result.held_out, whole.result.held_out, mL) == 0);
    CHECK(memcmp(run.result.fitted, whole.result.fitted, mL) == 0);
    for (size_t size = 0; size < entries; size++)
      for (ptrdiff_t l = 0; l < made->pb.L; l++) {
        const size_t at = (size_t)control->k * ((size_t)l + size * (size_t)made->pb.L);
        CHECK(memcmp(run.result.beta + at, whole.result.beta + at, size * sizeof(double)) == 0);
      }
    free(run.block);
  }
  free(chosen);
  free(whole.block);
}

TEST(shards_any_problem) {
  for (int i = 0; i < 60; i += every(7)) {
    seed(700 + (unsigned long long)i);
    const struct shape shape = {.m = any(10, 60),
        .n = any(7, 150),
        .L = any(1, 3),
        .q = any(0, 2),
        .weights = any(0, 1),
        .sparse = any(0, 2) == 0,
        .whole = any(0, 2) == 0,
        .folds = any(0, 1) * any(2, 5),
        .repeats = any(1, 2),
        .columns = (enum columns)any(UNRELATED, SIGNALS)};
    struct made made = make(shape);
    const int usable = usable_columns(&made), most = any(1, 8);
    int given[2] = {0, 0}, count = 0;
    for (int p = (int)shape.n - 1; p >= 0 && count < 2; p -= 1 + (int)shape.n / 2)
      if (made.pb.usable[p])
        given[count++] = p;
    const int k = most < usable ? most : usable;
    struct greedy_control control = {.lambda = 1,
        .k = k,
        .max_moves = k,
        .search = FORWARD,
        .criterion = SQUARED,
        .given = given,
        .skipping = any(0, 3) ? SKIP_BY_BOUNDS : SKIP_BY_RECURRENCE};
    for (control.given_count = 0; control.given_count <= (count < k ? count : k);
         control.given_count++)
      check_shards(&made, &control);
    discard(&made);
  }
}
