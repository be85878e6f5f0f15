/* What R lends a kernel: a look for Ctrl-C, a progress bar, the user's criterion. How many threads
   there are, and which instruction set is in use. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* for sets of signals */
#endif
#ifdef _OPENMP
#include <omp.h> /* before R's headers, which define `match` */
#endif
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#define NOGDI /* whose ABSOLUTE is not ours */
#include <windows.h>
#endif
#include "r.h"

#include "simd.h"
#include <stdio.h>
#include <string.h>
#ifndef _WIN32
#include <signal.h>
#include <time.h>
#include <unistd.h>
#endif

static double seconds(void) {
#ifdef _WIN32 /* whose older C library, that of R 4.1, has no timespec_get() */
  return 1e-3 * (double)GetTickCount64();
#else
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
#endif
}

/* Something that Ctrl-C or an error may end, and a list that then holds the error. */
struct attempt {
  SEXP (*body)(void *);
  void *data;
  SEXP error;
};

static SEXP keep_error(SEXP condition, void *data) {
  const struct attempt *attempt = data;
  SET_VECTOR_ELT(attempt->error, 0, condition);
  return R_NilValue;
}

static void run_attempt(void *data) {
  const struct attempt *attempt = data;
  SEXP classes = PROTECT(mkString("error"));
  R_tryCatch(attempt->body, attempt->data, classes, keep_error, data, NULL, NULL);
  UNPROTECT(1);
}

/* Whether Ctrl-C or an error, such as R's time limit, ends `body`. R is told of the error, where it
   sees the functions that called. */
static int ends(SEXP (*body)(void *), void *data) {
  struct attempt attempt = {body, data, PROTECT(allocVector(VECSXP, 1))};
  const int through = R_ToplevelExec(run_attempt, &attempt) != 0;
  SEXP error = VECTOR_ELT(attempt.error, 0);
  if (error != R_NilValue)
    call_r("stop_at_end", error);
  UNPROTECT(1);
  return !through || error != R_NilValue;
}

static SEXP poll_r(void *data) {
  struct r_host *r = data;
  R_CheckUserInterrupt();
  if (isFunction(r->progress)) {
    SEXP done = PROTECT(ScalarReal(r->done)), total = PROTECT(ScalarReal(r->total));
    SEXP columns = PROTECT(ScalarReal(r->columns_read));
    SEXP call = PROTECT(lang4(r->progress, done, total, columns));
    eval(call, R_BaseEnv);
    UNPROTECT(4);
  }
  return R_NilValue;
}

/* Asks R at most ten times a second. */
static int host_stop(struct host *host, double done, double total) {
  struct r_host *r = host->self;
  const double now = seconds();
  if (r->stopped || now - r->polled < 0.1)
    return r->stopped;
  r->done = done;
  r->total = total;
  r->columns_read = host->columns_read;
  r->stopped = ends(poll_r, r);
  r->polled = seconds();
  return r->stopped;
}

static SEXP check_interrupt(void *nothing) {
  (void)nothing;
  R_CheckUserInterrupt();
  return R_NilValue;
}

int is_interrupted(void) {
  return ends(check_interrupt, NULL);
}

enum status final_status(enum status status, struct r_host *r) {
  r->stopped = r->stopped || is_interrupted();
  return r->stopped && status >= COMPLETE ? INTERRUPTED : status;
}

/* R's own search for the package may be interrupted too. */
static SEXP evaluate(void *call) {
  SEXP package = PROTECT(mkString("sparsels"));
  SEXP space = PROTECT(R_FindNamespace(package));
  SEXP limited = PROTECT(lang2(findFun(install("until_limit"), space), call));
  SEXP value = eval(limited, R_BaseEnv);
  UNPROTECT(3);
  return value;
}

static SEXP give_nothing(SEXP condition, void *data) {
  (void)condition;
  (void)data;
  return R_NilValue;
}

SEXP eval_interruptible(SEXP call) {
  SEXP classes = PROTECT(mkString("interrupt"));
  SEXP value = R_tryCatch(evaluate, call, classes, give_nothing, NULL, NULL, NULL);
  UNPROTECT(1);
  return value;
}

static double host_user_loss(struct host *host, const double *residual, int repeat) {
  struct r_host *r = host->self;
  const R_xlen_t length = (R_xlen_t)host->residual_length;
  SEXP values = PROTECT(allocVector(REALSXP, length)), which = PROTECT(ScalarInteger(repeat + 1));
  memcpy(REAL(values), residual, (size_t)length * sizeof(double));
  SEXP call = PROTECT(lang3(r->user_loss, values, which));
  SEXP loss = PROTECT(eval_interruptible(call));
  r->stopped = r->stopped || isNull(loss);
  const double value = isNull(loss) ? R_PosInf : asReal(loss);
  UNPROTECT(4);
  return value;
}

/* Holds back Ctrl-C until it is let through again. Windows does not hold it back. */
SEXP C_hold_interrupts(SEXP hold) {
#ifndef _WIN32
  sigset_t ctrl_c;
  sigemptyset(&ctrl_c);
  sigaddset(&ctrl_c, SIGINT);
  sigprocmask(asLogical(hold) ? SIG_BLOCK : SIG_UNBLOCK, &ctrl_c, NULL);
#else
  (void)hold;
#endif
  return R_NilValue;
}

/* ---- threads ---- */

static int loaded_in; /* the process that loaded the package, 0: a forked one */

static int process(void) {
#ifdef _WIN32
  return 0;
#else
  return (int)getpid();
#endif
}

/* Whether this process was forked from another and has not been replaced by a program of its own.
   Linux tells it by a flag, the ninth word of /proc/self/stat; elsewhere it is not known. */
static int is_forked(void) {
  const unsigned forked_without_exec = 0x40;
  unsigned flags = 0;
  FILE *file = fopen("/proc/self/stat", "r");
  if (file == NULL)
    return 0;
  char line[512];
  const char *after_name = fgets(line, sizeof line, file) == NULL ? NULL : strrchr(line, ')');
  fclose(file);
  if (after_name == NULL || sscanf(after_name + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
    return 0;
  return (flags & forked_without_exec) != 0;
}

void note_process(void) {
  loaded_in = is_forked() ? 0 : process();
}

/* A forked child gets one thread: OpenMP's threads do not survive fork(), whichever package of the
   parent has started them. Elsewhere no more than there is work for, nor than a few for each
   processor, which keeps a slip from exhausting memory. */
int threads_here(SEXP threads, ptrdiff_t parts) {
#ifdef _OPENMP
  enum { PER_PROCESSOR = 4 };
  const int processors = omp_get_num_procs(), limit = omp_get_thread_limit();
  ptrdiff_t count = int_value(threads, "threads");
  if (process() != loaded_in || count < 1 || parts < 1)
    return 1;
  count = count < parts ? count : parts;
  count = count < limit ? count : limit;
  return (int)(count < PER_PROCESSOR * processors ? count : PER_PROCESSOR * processors);
#else
  (void)threads;
  (void)parts;
  return 1;
#endif
}

/* Whether this process was forked from another after it had loaded the package. */
SEXP C_is_fork(void) {
  return ScalarLogical(loaded_in != 0 && process() != loaded_in);
}

/* How many threads a call gets that asks for `threads`, with so many parts to share. */
SEXP C_threads_here(SEXP threads, SEXP parts) {
  return ScalarInteger(threads_here(threads, int_value(parts, "parts")));
}

struct host make_host(struct r_host *r, SEXP control, size_t residual_length, ptrdiff_t parts) {
  *r = (struct r_host){.progress = function_or_null(control, "progress"),
      .user_loss = function_or_null(control, "user_loss")};
  r->polled = seconds();
  return (struct host){.threads = threads_here(field(control, "threads"), parts),
      .stop = host_stop,
      .user_loss = host_user_loss,
      .residual_length = residual_length,
      .self = r};
}

/* ---- instruction set ---- */

/* Uses the instruction set of vectors of at most `width` doubles, NULL: leaves it. Gives the width
   there was. */
SEXP C_use_simd(SEXP width) {
  const int before = simd->width;
  if (!isNull(width))
    simd = simd_for(int_value(width, "width"));
  return ScalarInteger(before);
}
