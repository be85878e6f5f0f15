/* One set of functions for each instruction set, and which of them the processor has. */
#include "simd.h"
#include "tolerance.h"
#include <float.h>
#include <limits.h>
#include <math.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif
#include <string.h>

#ifdef _OPENMP
#define PRAGMA(text) _Pragma(#text)
#define SIMD_SUM(...) PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#define SIMD PRAGMA(omp simd)
#else
#define SIMD_SUM(...)
#define SIMD
#endif

enum { BLOCK = 256 }; /* rows that stay in the nearest cache between two loops over them */

/* n: squared numerators of the rows at j, summed over outputs; e: their squared denominators */
#define SQUARES(n, e, j)                                                                           \
  do {                                                                                             \
    const vector x_j = AT(x + (j)), d_j = AT(d + (j)) - beta * x_j * x_j;                          \
    vector r = AT(a + (j)) - alpha[0] * x_j;                                                       \
    n = r * r;                                                                                     \
    e = d_j * d_j;                                                                                 \
    for (ptrdiff_t l = 1; l < L; l++) {                                                            \
      r = AT(a + (j) + l * lda) - alpha[l] * x_j;                                                  \
      n += r * r;                                                                                  \
    }                                                                                              \
  } while (0)

#ifdef __GNUC__
#define UNROLL _Pragma("GCC unroll 8")
#else
#define UNROLL
#endif

#ifdef __GNUC__
#define PREFETCH(address) __builtin_prefetch(address, 0, 2)
#else
#define PREFETCH(address) ((void)(address))
#endif

/* Entries of two vectors, those of the second numbered on from the first's. */
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 12)
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#elif defined(__GNUC__)
#define SHUFFLE(a, b, ...)                                                                         \
  __builtin_shuffle(a, b, (long long __attribute__((vector_size(sizeof(a))))){__VA_ARGS__})
#endif

/* For products(): a tile of four columns and as many vectors as there are registers for. The sums
   of vector l are pl, ql, sl and tl, the columns at a row c0 to c3. */
#define SUMS_OF(l) p##l = {0}, q##l = {0}, s##l = {0}, t##l = {0}
#define ALL_OF(l) p##l, q##l, s##l, t##l
#define ADD(l, rows)                                                                               \
  do {                                                                                             \
    const vector a = rows;                                                                         \
    p##l += c0 * a, q##l += c1 * a, s##l += c2 * a, t##l += c3 * a;                                \
  } while (0)

/* The functions of simd-columns.h for elements of a kind. */
#define COLUMN_LOOPS(size, plural)                                                                 \
  {                                                                                                \
    .bits = (size), .gather = NAME(gather_##plural), .centred_dot = NAME(centred_dot_##plural),    \
    .centred_square = NAME(centred_square_##plural), .add_centred = NAME(add_centred_##plural),    \
    .shift_weighted = NAME(shift_weighted_##plural), .centred = NAME(centred_##plural)             \
  }

/* A column of codes of two bits, and the values of the four codes, twice: a code may be looked up
   by the three bits that begin with it. */
struct calls {
  const unsigned char *at;
  double value[8];
};

static inline struct calls open_calls(struct column x) {
  struct calls calls = {.at = x.at};
  for (int code = 0; code < 4; code++) {
    const double value = x.codes[code];
    calls.value[code] = calls.value[code + 4] = isnan(value) ? x.fill : value;
  }
  return calls;
}

#define WIDTH 1
#define TARGET
#define NAME(f) f##_plain
#include "simd-set.h"

#if defined(__x86_64__) && defined(__GNUC__) /* which clang defines, too */
#define WIDTH 2
#define TARGET
#define NAME(f) f##_two
#include "simd-set.h"

#define WIDTH 4
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(f) f##_four
#include "simd-set.h"

#define WIDTH 8
#define TARGET __attribute__((target("avx512f,avx512vl,fma")))
#define NAME(f) f##_eight
#include "simd-set.h"

const struct simd *simd_for(int width) {
  const int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const int avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
  if (width >= 8 && avx2 && avx512)
    return &set_eight;
  if (width >= 4 && avx2)
    return &set_four;
  return width >= 2 ? &set_two : &set_plain;
}
#else
const struct simd *simd_for(int width) {
  (void)width;
  return &set_plain;
}
#endif

const struct simd *simd = &set_plain;
