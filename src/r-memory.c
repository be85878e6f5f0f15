/* Large workspaces, of which the last small one is kept. */
#include "r.h"
#include <stdint.h>
#include <stdlib.h>
#ifndef _WIN32
#include <sys/mman.h>
#endif

/* What a block of memory begins with. */
struct block {
  size_t bytes;
};

/* The block released last, if it is small: making its pages afresh takes a millisecond or two. */
static struct block *spare;
enum { MAX_SPARE = 1 << 26 };

void release_workspace(SEXP workspace) {
  struct block *block = R_ExternalPtrAddr(workspace);
  R_ClearExternalPtr(workspace);
  if (block != NULL && spare == NULL && block->bytes <= MAX_SPARE)
    spare = block;
  else
    free(block);
}

static struct block *get_block(size_t bytes) {
  struct block *block = spare;
  spare = NULL;
  if (block != NULL && block->bytes >= bytes)
    return block;
  free(block);
  block = malloc(bytes);
  if (block != NULL)
    block->bytes = bytes;
  return block;
}

/* Raises the package's own error. */
static void stop_memory(size_t bytes) {
  SEXP space = PROTECT(R_FindNamespace(mkString("sparsels")));
  SEXP call = PROTECT(lang2(install("stop_memory"), ScalarReal((double)bytes)));
  eval(call, space);
  UNPROTECT(2);
}

static const size_t page = (size_t)1 << 21;

void *workspace_begin(SEXP workspace) {
  struct block *block = R_ExternalPtrAddr(workspace);
  return (char *)block + (page - (uintptr_t)block % page);
}

/* R's own garbage goes before a large block comes. */
SEXP alloc_workspace(size_t bytes, void **begin) {
  const size_t large = (size_t)1 << 30;
  if (bytes > large)
    R_gc();
  SEXP workspace = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
  R_RegisterCFinalizer(workspace, release_workspace);
  struct block *block = get_block(bytes + page);
  if (block == NULL)
    stop_memory(bytes);
  R_SetExternalPtrAddr(workspace, block);
  *begin = workspace_begin(workspace);
#ifdef MADV_HUGEPAGE
  /* much of a block for very many columns is never touched */
  madvise(*begin, bytes, bytes > 4 * large ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
#endif
  UNPROTECT(1);
  return workspace;
}
