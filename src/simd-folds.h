/* Loops over tiles of eight columns whose rows are held out by folds, for one instruction set:
   simd-set.h includes this. Columns are turned into rows WIDTH by WIDTH, so that the sums of a fold
   are vectors over columns and the folds may lie among the rows in any order. */

/* rows[k][i] := x[i][j + k] */
TARGET static inline void NAME(transpose)(const double *const *x, ptrdiff_t j, vector *rows) {
#if WIDTH == 8
  const vector a0 = AT(x[0] + j), a1 = AT(x[1] + j), a2 = AT(x[2] + j), a3 = AT(x[3] + j);
  const vector a4 = AT(x[4] + j), a5 = AT(x[5] + j), a6 = AT(x[6] + j), a7 = AT(x[7] + j);
  const vector b0 = SHUFFLE(a0, a1, 0, 8, 2, 10, 4, 12, 6, 14);
  const vector b1 = SHUFFLE(a0, a1, 1, 9, 3, 11, 5, 13, 7, 15);
  const vector b2 = SHUFFLE(a2, a3, 0, 8, 2, 10, 4, 12, 6, 14);
  const vector b3 = SHUFFLE(a2, a3, 1, 9, 3, 11, 5, 13, 7, 15);
  const vector b4 = SHUFFLE(a4, a5, 0, 8, 2, 10, 4, 12, 6, 14);
  const vector b5 = SHUFFLE(a4, a5, 1, 9, 3, 11, 5, 13, 7, 15);
  const vector b6 = SHUFFLE(a6, a7, 0, 8, 2, 10, 4, 12, 6, 14);
  const vector b7 = SHUFFLE(a6, a7, 1, 9, 3, 11, 5, 13, 7, 15);
  const vector c0 = SHUFFLE(b0, b2, 0, 1, 8, 9, 4, 5, 12, 13);
  const vector c1 = SHUFFLE(b1, b3, 0, 1, 8, 9, 4, 5, 12, 13);
  const vector c2 = SHUFFLE(b0, b2, 2, 3, 10, 11, 6, 7, 14, 15);
  const vector c3 = SHUFFLE(b1, b3, 2, 3, 10, 11, 6, 7, 14, 15);
  const vector c4 = SHUFFLE(b4, b6, 0, 1, 8, 9, 4, 5, 12, 13);
  const vector c5 = SHUFFLE(b5, b7, 0, 1, 8, 9, 4, 5, 12, 13);
  const vector c6 = SHUFFLE(b4, b6, 2, 3, 10, 11, 6, 7, 14, 15);
  const vector c7 = SHUFFLE(b5, b7, 2, 3, 10, 11, 6, 7, 14, 15);
  rows[0] = SHUFFLE(c0, c4, 0, 1, 2, 3, 8, 9, 10, 11);
  rows[1] = SHUFFLE(c1, c5, 0, 1, 2, 3, 8, 9, 10, 11);
  rows[2] = SHUFFLE(c2, c6, 0, 1, 2, 3, 8, 9, 10, 11);
  rows[3] = SHUFFLE(c3, c7, 0, 1, 2, 3, 8, 9, 10, 11);
  rows[4] = SHUFFLE(c0, c4, 4, 5, 6, 7, 12, 13, 14, 15);
  rows[5] = SHUFFLE(c1, c5, 4, 5, 6, 7, 12, 13, 14, 15);
  rows[6] = SHUFFLE(c2, c6, 4, 5, 6, 7, 12, 13, 14, 15);
  rows[7] = SHUFFLE(c3, c7, 4, 5, 6, 7, 12, 13, 14, 15);
#elif WIDTH == 4
  const vector a0 = AT(x[0] + j), a1 = AT(x[1] + j), a2 = AT(x[2] + j), a3 = AT(x[3] + j);
  const vector b0 = SHUFFLE(a0, a1, 0, 4, 2, 6), b1 = SHUFFLE(a0, a1, 1, 5, 3, 7);
  const vector b2 = SHUFFLE(a2, a3, 0, 4, 2, 6), b3 = SHUFFLE(a2, a3, 1, 5, 3, 7);
  rows[0] = SHUFFLE(b0, b2, 0, 1, 4, 5);
  rows[1] = SHUFFLE(b1, b3, 0, 1, 4, 5);
  rows[2] = SHUFFLE(b0, b2, 2, 3, 6, 7);
  rows[3] = SHUFFLE(b1, b3, 2, 3, 6, 7);
#elif WIDTH == 2
  const vector a0 = AT(x[0] + j), a1 = AT(x[1] + j);
  rows[0] = SHUFFLE(a0, a1, 0, 2);
  rows[1] = SHUFFLE(a0, a1, 1, 3);
#else
  rows[0] = x[0][j];
#endif
}

/* All columns of the tile go side by side. The sums of a fold stay in registers as long as rows of
   the fold follow each other. */
TARGET static void NAME(fold_products)(ptrdiff_t rows, const struct fold_tile *tile,
    const double *v, const int *fold, double *total, double *sums) {
  enum { SIDES = FOLD_TILE / WIDTH };
  vector centre[SIDES], all[SIDES], first[SIDES], second[SIDES], row[SIDES][WIDTH];
  int held = rows > 0 ? fold[0] : 0;
  double *sum = sums + 2 * FOLD_TILE * held;
  UNROLL for (int g = 0; g < SIDES; g++) {
    centre[g] = AT(tile->centre + g * WIDTH);
    all[g] = AT(total + g * WIDTH);
    first[g] = AT(sum + g * WIDTH);
    second[g] = AT(sum + FOLD_TILE + g * WIDTH);
  }
  ptrdiff_t j = 0;
  for (; j + WIDTH <= rows; j += WIDTH) {
    UNROLL for (int g = 0; g < SIDES; g++) NAME(transpose)(tile->x + g * WIDTH, j, row[g]);
    UNROLL for (int k = 0; k < WIDTH; k++) {
      const double *by = v + 3 * (j + k);
      if (fold[j + k] != held) {
        held = fold[j + k];
        double *next = sums + 2 * FOLD_TILE * held;
        UNROLL for (int g = 0; g < SIDES; g++) {
          PUT(sum + g * WIDTH) = first[g];
          PUT(sum + FOLD_TILE + g * WIDTH) = second[g];
          first[g] = AT(next + g * WIDTH);
          second[g] = AT(next + FOLD_TILE + g * WIDTH);
        }
        sum = next;
      }
      UNROLL for (int g = 0; g < SIDES; g++) {
        const vector x = row[g][k] - centre[g];
        all[g] += x * by[0];
        first[g] += x * by[1];
        second[g] += x * by[2];
      }
    }
  }
  UNROLL for (int g = 0; g < SIDES; g++) {
    PUT(total + g * WIDTH) = all[g];
    PUT(sum + g * WIDTH) = first[g];
    PUT(sum + FOLD_TILE + g * WIDTH) = second[g];
  }
  for (; j < rows; j++)
    for (ptrdiff_t i = 0; i < FOLD_TILE; i++) {
      const double x = tile->x[i][j] - tile->centre[i];
      double *own = sums + 2 * FOLD_TILE * fold[j] + i;
      total[i] += x * v[3 * j];
      own[0] += x * v[3 * j + 1];
      own[FOLD_TILE] += x * v[3 * j + 2];
    }
}

TARGET static void NAME(fold_squares)(ptrdiff_t rows, const struct fold_tile *tile,
    const double *root_w, const int *fold, double *sums) {
  enum { SIDES = FOLD_TILE / WIDTH };
  vector centre[SIDES], own[SIDES], row[SIDES][WIDTH];
  int held = rows > 0 ? fold[0] : 0;
  double *sum = sums + FOLD_TILE * held;
  UNROLL for (int g = 0; g < SIDES; g++) {
    centre[g] = AT(tile->centre + g * WIDTH);
    own[g] = AT(sum + g * WIDTH);
  }
  ptrdiff_t j = 0;
  for (; j + WIDTH <= rows; j += WIDTH) {
    UNROLL for (int g = 0; g < SIDES; g++) NAME(transpose)(tile->x + g * WIDTH, j, row[g]);
    UNROLL for (int k = 0; k < WIDTH; k++) {
      if (fold[j + k] != held) {
        held = fold[j + k];
        double *next = sums + FOLD_TILE * held;
        UNROLL for (int g = 0; g < SIDES; g++) {
          PUT(sum + g * WIDTH) = own[g];
          own[g] = AT(next + g * WIDTH);
        }
        sum = next;
      }
      UNROLL for (int g = 0; g < SIDES; g++) {
        const vector x = (row[g][k] - centre[g]) * root_w[j + k];
        own[g] += x * x;
      }
    }
  }
  UNROLL for (int g = 0; g < SIDES; g++) PUT(sum + g * WIDTH) = own[g];
  for (; j < rows; j++)
    for (ptrdiff_t i = 0; i < FOLD_TILE; i++) {
      const double x = (tile->x[i][j] - tile->centre[i]) * root_w[j];
      sums[FOLD_TILE * fold[j] + i] += x * x;
    }
}

TARGET static void NAME(recur)(
    const struct recurrence_move *move, const struct recurrence_tile *tile) {
  const ptrdiff_t L = move->L, numbers = recurrence_numbers(L) * FOLD_TILE;
  for (ptrdiff_t g = 0; g < FOLD_TILE; g += WIDTH) {
    const vector t = AT(tile->t + g), f = t * move->inverse;
    for (ptrdiff_t H = 0; H < move->folds; H++) {
      const double *moved = move->fold + H * move->stride, *y = moved + 3 + 3 * L;
      const double *sums = tile->sums + 2 * FOLD_TILE * H + g;
      double *own = tile->state + H * numbers + g;
      vector psi = AT(sums), xi = AT(sums + FOLD_TILE);
      for (ptrdiff_t l = 0; l < move->rank; l++) {
        const vector along = AT(tile->along + FOLD_TILE * l + g);
        psi -= along * y[2 * l];
        xi -= along * y[2 * l + 1];
      }
      const double eta = moved[1], qq = moved[2];
      const vector phi = (psi - t) * moved[0];
      PUT(own) += (phi - f) * psi - f * phi * eta;
      PUT(own + FOLD_TILE) += phi * (2 * xi + phi * qq);
      for (ptrdiff_t l = 0; l < L; l++) {
        const double *output = moved + 3 + 3 * l, gc = output[0], gq = output[1], alpha = output[2];
        double *out = own + (2 + 2 * l) * FOLD_TILE;
        PUT(out) -= alpha * psi + f * (gc - alpha * eta);
        PUT(out + FOLD_TILE) += phi * (gq - alpha * qq) - alpha * xi;
      }
    }
  }
}

TARGET static void NAME(recurred_error)(ptrdiff_t folds, ptrdiff_t L,
    const struct recurrence_tile *tile, double *error, double *worst) {
  const double *kappa = tile->kappa, *own = tile->state;
  for (ptrdiff_t i = 0; i < FOLD_TILE; i++)
    error[i] = 0;
  for (ptrdiff_t H = 0; H < folds; H++, own += recurrence_numbers(L) * FOLD_TILE) {
    double inverse[FOLD_TILE];
    SIMD for (ptrdiff_t i = 0; i < FOLD_TILE; i++) {
      inverse[i] = 1 / (kappa[i] - own[i]);
      /* what is not positive, or not a number, is as bad as can be */
      const double positive = inverse[i] > 0 ? inverse[i] : INFINITY;
      worst[i] = positive > worst[i] ? positive : worst[i];
    }
    for (ptrdiff_t l = 0; l < L; l++) {
      const double *t = tile->products + l * FOLD_TILE, *of = own + (2 + 2 * l) * FOLD_TILE;
      SIMD for (ptrdiff_t i = 0; i < FOLD_TILE; i++) {
        const double alpha = (t[i] - of[i]) * inverse[i];
        error[i] += alpha * (alpha * own[FOLD_TILE + i] - 2 * of[FOLD_TILE + i]);
      }
    }
  }
}

TARGET static void NAME(tally)(
    double inverse_null, double P, const double *error, struct tile_tally *tally) {
  const double share = 1 / ++tally->count;
  const int first = tally->count == 1;
  SIMD for (ptrdiff_t i = 0; i < FOLD_TILE; i++) {
    const double ratio = inverse_null * (P + error[i]), off = ratio - tally->mean[i];
    const double largest = first ? ratio : tally->largest[i];
    tally->mean[i] += off * share;
    tally->spread[i] += off * (ratio - tally->mean[i]);
    tally->largest[i] = largest > ratio ? largest : ratio;
  }
}
