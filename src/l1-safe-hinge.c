/* Safe bounds for the hinge loss: from a lower bound of the optimum, (20), a walk through the
   sorted values of the column; from a model, a fractional knapsack. */
#include "l1-safe.h"
#include <math.h>
#include <string.h>

/* ---- from a lower bound of the optimum ---- */

/* Sorts by x, largest first, by merging; other (count) is temporary. */
static void safe_sort_pieces(struct safe_piece *piece, ptrdiff_t count, struct safe_piece *other) {
  struct safe_piece *from = piece, *to = other;
  for (ptrdiff_t run = 1; run < count; run *= 2) {
    for (ptrdiff_t start = 0; start < count; start += 2 * run) {
      ptrdiff_t a = start, b = start + run < count ? start + run : count;
      const ptrdiff_t a_end = b, b_end = b + run < count ? b + run : count;
      for (ptrdiff_t k = start; k < b_end; k++)
        to[k] = b == b_end || (a < a_end && from[a].x >= from[b].x) ? from[a++] : from[b++];
    }
    struct safe_piece *swap = from;
    from = to;
    to = swap;
  }
  if (from != piece)
    memcpy(piece, from, (size_t)count * sizeof(struct safe_piece));
}

/* piece := labels folded into the rows of one class (1 or -1), or of both (0), with their zeros in
   one piece, sorted; returns their number. */
static ptrdiff_t safe_fold(const struct safe_column *column, int label, struct safe_piece *piece) {
  ptrdiff_t count = 0;
  double rest = 0;
  for (ptrdiff_t k = 0; k < column->d; k++)
    if (column->w[k] > 0 && (label == 0 || column->y[k] == label))
      piece[count++] = (struct safe_piece){column->y[k] * column->x[k], column->w[k]};
  for (int c = 0; c < 2; c++)
    if (label != (c == 0 ? -1 : 1))
      rest += column->rest[c];
  if (rest > 0)
    piece[count++] = (struct safe_piece){0, rest};
  safe_sort_pieces(piece, count, piece + count);
  return count;
}

void safe_hinge_fold(const struct safe_data *s, const struct safe_column *column,
    const struct safe_buffer *buffer, ptrdiff_t *count) {
  count[0] = safe_fold(column, s->balanced ? 1 : 0, buffer->piece[0]);
  count[1] = s->balanced ? safe_fold(column, -1, buffer->piece[1]) : 0;
}

/* Sorted pieces used one after the other, from the largest for sign 1, or of -x for sign -1. */
struct safe_walk {
  const struct safe_piece *piece;
  ptrdiff_t count; /* pieces that are not used up, the present one first */
  int sign;
  double w; /* of the present one, not used yet */
};

static struct safe_walk safe_begin_walk(const struct safe_piece *piece, ptrdiff_t count, int sign) {
  struct safe_walk walk = {
      .piece = sign > 0 ? piece : piece + count - 1, .count = count, .sign = sign};
  walk.w = count > 0 ? walk.piece->w : 0;
  return walk;
}

static void safe_advance(struct safe_walk *walk, double w) {
  walk->w = w < walk->w ? walk->w - w : 0;
  if (walk->w == 0 && --walk->count > 0) {
    walk->piece += walk->sign;
    walk->w = walk->piece->w;
  }
}

/* Balanced, the largest F(h, v+) + F(h, v-) of any h >= gamma / 2: concave, and its slope falls
   from piece to piece. */
static struct safe_line safe_max_balanced(
    struct safe_walk plus, struct safe_walk minus, double gamma) {
  struct safe_line line = {gamma, 0, 0};
  double h = 0;
  while (plus.count > 0 && minus.count > 0) {
    const double slope = plus.sign * (plus.piece->x + minus.piece->x);
    double w = fmin(plus.w, minus.w);
    if (slope <= 0) {
      if (h >= gamma / 2)
        break;
      w = fmin(w, gamma / 2 - h);
      line.slope = slope / 2;
    }
    line.value += slope * w;
    h += w;
    safe_advance(&plus, w);
    safe_advance(&minus, w);
  }
  return line;
}

/* Unbalanced, the largest F(h, v) of any h >= gamma over all rows at once. */
static struct safe_line safe_max_unbalanced(struct safe_walk walk, double gamma) {
  struct safe_line line = {gamma, 0, 0};
  double h = 0;
  while (walk.count > 0) {
    const double slope = walk.sign * walk.piece->x;
    const double w = slope > 0 ? walk.w : fmin(walk.w, gamma - h);
    if (w <= 0)
      break;
    line.slope = fmin(slope, 0);
    line.value += slope * w;
    h += w;
    safe_advance(&walk, w);
  }
  return line;
}

struct safe_line safe_hinge_line(const struct safe_data *s, const struct safe_buffer *buffer,
    const ptrdiff_t *count, int sign, double gamma) {
  const struct safe_walk plus = safe_begin_walk(buffer->piece[0], count[0], sign);
  if (!s->balanced)
    return safe_max_unbalanced(plus, gamma);
  return safe_max_balanced(plus, safe_begin_walk(buffer->piece[1], count[1], sign), gamma);
}

/* ---- from a model ---- */

/* Moves the item at `place` down to where it belongs: the largest density is on top. */
static void safe_sift(struct safe_item *heap, ptrdiff_t count, ptrdiff_t place) {
  const struct safe_item item = heap[place];
  for (ptrdiff_t child = 2 * place + 1; child < count; child = 2 * place + 1) {
    if (child + 1 < count && heap[child + 1].density > heap[child].density)
      child++;
    if (heap[child].density <= item.density)
      break;
    heap[place] = heap[child];
    place = child;
  }
  heap[place] = item;
}

/* A bound for one nu, and its slope along nu. */
struct safe_tangent {
  double nu, value, slope;
};

/* The most of v'alpha, v = y (sign x + nu), when sum |h| |alpha - hat| <= gap, hat being w where h
   is above 0 and 0 where it is below. */
static struct safe_tangent safe_knapsack(const struct safe_data *s,
    const struct safe_column *column, int sign, double nu, struct safe_item *heap) {
  struct safe_tangent tangent = {.nu = nu};
  ptrdiff_t count = 0;
  for (ptrdiff_t i = 0; i < column->d; i++) {
    const double h = s->h[i], w = s->w[i], v = s->y[i] * (sign * column->x[i] + nu);
    if (h > 0 || (h == 0 && v > 0)) {
      tangent.value += w * v;
      tangent.slope += w * s->y[i];
    }
    if ((h > 0 && v < 0) || (h < 0 && v > 0))
      heap[count++] = (struct safe_item){fabs(v / h), i};
  }
  for (ptrdiff_t k = count / 2; k-- > 0;)
    safe_sift(heap, count, k);
  for (double unused = s->gap; count > 0 && unused > 0; safe_sift(heap, count, 0)) {
    const ptrdiff_t i = heap[0].row;
    const double h = s->h[i], used = fmin(fabs(h) * s->w[i], unused);
    tangent.value += heap[0].density * used;
    tangent.slope -= s->y[i] * used / h;
    unused -= used;
    heap[0] = heap[--count];
  }
  return tangent;
}

enum { SAFE_TANGENTS = 12 };

/* The least bound of any nu, nearly: it is convex along nu, and where two tangents meet is the next
   nu to try. */
double safe_hinge_knapsack(
    const struct safe_data *s, const struct safe_column *column, int sign, struct safe_item *heap) {
  struct safe_tangent a = safe_knapsack(s, column, sign, -sign * column->mean, heap);
  double best = a.value, end = 0;
  if (!s->balanced || a.slope == 0)
    return best;
  for (ptrdiff_t i = 0; i < column->d; i++) {
    const double nu = -sign * column->x[i];
    end = i == 0 || (a.slope > 0 ? nu < end : nu > end) ? nu : end;
  }
  struct safe_tangent b = safe_knapsack(s, column, sign, end, heap);
  best = fmin(best, b.value);
  for (int t = 0; t < SAFE_TANGENTS && a.slope * b.slope > 0; t++) {
    b = safe_knapsack(s, column, sign, 3 * b.nu - 2 * a.nu, heap);
    best = fmin(best, b.value);
  }
  for (int t = 0; t < SAFE_TANGENTS && a.slope * b.slope < 0; t++) {
    const double nu = (b.value - a.value + a.slope * a.nu - b.slope * b.nu) / (a.slope - b.slope);
    if (best - (a.value + a.slope * (nu - a.nu)) <= SAFE_TANGENT_GAIN * fabs(best))
      break;
    const struct safe_tangent c = safe_knapsack(s, column, sign, nu, heap);
    best = fmin(best, c.value);
    *(a.slope * c.slope > 0 ? &a : &b) = c;
  }
  return best;
}
