/* CUDA driver API host for the .ptx files. Opens $CUDA_LIB (default libcuda.so.1): the software device through the C door, or a GPU. */
#include "bench.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef int R;
typedef unsigned long long DP;
static R (*Init)(unsigned), (*DeviceGet)(int *, int), (*DeviceGetName)(char *, int, int), (*CtxCreate)(void **, unsigned, int),
    (*ModuleLoadData)(void **, const void *), (*ModuleUnload)(void *), (*ModuleGetFunction)(void **, void *, const char *),
    (*MemAlloc)(DP *, size_t), (*MemFree)(DP), (*HtoD)(DP, const void *, size_t), (*DtoH)(void *, DP, size_t), (*Sync)(void),
    (*TexCreate)(DP *, const void *, const void *, const void *), (*TexDestroy)(DP),
    (*Launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
#define CK(x) do { R e_ = (x); if (e_) { fprintf(stderr, "%s:%d: CUDA error %d\n", __FILE__, __LINE__, e_); exit(3); } } while (0)
typedef struct { Case *c; void *f; void *argv[10]; } Job;
/* CUDA_RESOURCE_DESC of pitched memory, and CUDA_TEXTURE_DESC. */
typedef struct { int type; DP p; int format; unsigned channels; size_t width, height, pitch; char rest[96]; } Resource;
typedef struct { int address[3], filter; unsigned flags, rest[20]; } Sampling;
static DP texture(DP p, const Arg *a) {
  enum { PITCH2D = 3, U8 = 1, FLOAT = 32, CLAMP = 1, LINEAR = 1, NORMALIZED = 2 };
  Resource r = {PITCH2D, p, a->rgba ? U8 : FLOAT, a->rgba ? 4 : 1, a->width, a->width, (size_t)a->width * 4};
  Sampling s = {{CLAMP, CLAMP, CLAMP}, LINEAR, a->rgba ? NORMALIZED : 0};
  DP t;
  CK(TexCreate(&t, &r, &s, NULL));
  return t;
}
static double sample(void *p) {
  Job *j = p;
  Case *c = j->c;
  double t = now();
  for (int k = 0; k < c->launches; k++)
    CK(Launch(j->f, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], 0, NULL, j->argv, NULL));
  CK(Sync());
  return now() - t;
}
int main(int argc, char **argv) {
  Opts o = opts_parse(argc, argv, "cuda");
  const char *lib = getenv("CUDA_LIB") ? getenv("CUDA_LIB") : "libcuda.so.1";
  void *h = dlopen(lib, RTLD_NOW);
  if (!h) { fprintf(stderr, "%s\n", dlerror()); return 4; }
#define SYM(v, n) if (!(*(void **)&v = dlsym(h, n))) { fprintf(stderr, "no %s in %s\n", n, lib); return 4; }
  SYM(Init, "cuInit") SYM(DeviceGet, "cuDeviceGet") SYM(DeviceGetName, "cuDeviceGetName") SYM(CtxCreate, "cuCtxCreate_v2")
  SYM(ModuleLoadData, "cuModuleLoadData") SYM(ModuleUnload, "cuModuleUnload") SYM(ModuleGetFunction, "cuModuleGetFunction")
  SYM(MemAlloc, "cuMemAlloc_v2") SYM(MemFree, "cuMemFree_v2") SYM(HtoD, "cuMemcpyHtoD_v2") SYM(DtoH, "cuMemcpyDtoH_v2")
  SYM(Sync, "cuCtxSynchronize") SYM(Launch, "cuLaunchKernel")
  SYM(TexCreate, "cuTexObjectCreate") SYM(TexDestroy, "cuTexObjectDestroy")
  int d; void *ctx; char name[100] = "";
  CK(Init(0)); CK(DeviceGet(&d, 0)); CK(DeviceGetName(name, sizeof name, d)); CK(CtxCreate(&ctx, 0, d));
  fprintf(stderr, "# %s\n", name);
  int failed = 0;
  for (int k = 0; k < case_count; k++) {
    if (!opts_wants(&o, case_name(k))) continue;
    Case *c = case_make(k, o.size);
    Extra e = {0};
    char path[512], msg[200] = "";
    case_reset(c);
    snprintf(path, sizeof path, "%s/ptx/%s.ptx", o.kdir, c->file);
    char *src = slurp(path, NULL);
    if (!src) { fprintf(stderr, "no %s\n", path); failed = 1; continue; }
    Job j = {.c = c};
    void *mod;
    double t = now();
    R r = ModuleLoadData(&mod, src);
    if (r) { fprintf(stderr, "%s: load error %d\n", c->name, r); failed = 1; free(src); case_free(c); continue; }
    CK(ModuleGetFunction(&j.f, mod, c->kernel));
    e.build_s = now() - t;
    DP dp[6];
    for (int b = 0; b < c->nbuf; b++) { CK(MemAlloc(&dp[b], c->buf[b].bytes)); CK(HtoD(dp[b], c->buf[b].host, c->buf[b].bytes)); }
    DP tex = 0; /* of a case that has one */
    for (int a = 0; a < c->narg; a++)
      if (c->arg[a].kind == A_IMAGE) { tex = texture(dp[c->arg[a].buf], &c->arg[a]); j.argv[a] = &tex; }
      else j.argv[a] = c->arg[a].kind == A_BUF ? (void *)&dp[c->arg[a].buf] : (void *)&c->arg[a].v;
    t = now();
    CK(Launch(j.f, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], 0, NULL, j.argv, NULL));
    CK(Sync());
    e.first_s = now() - t;
    int bad = 0;
    for (int pass = 0; pass < 2 && !bad; pass++) {
      if (pass == 1) measure(&o, c, sample, &j, 0, msg, &e);
      if (pass == 1 && !c->idem) break;
      for (int b = 0; b < c->nbuf; b++) if (c->buf[b].dir != IN) CK(DtoH(c->buf[b].host, dp[b], c->buf[b].bytes));
      bad = c->verify(c, msg, sizeof msg);
    }
    if (bad) { fprintf(stderr, "%s: wrong: %s\n", c->name, msg); measure(&o, c, sample, &j, 1, msg, &e); failed = 1; }
    if (tex) CK(TexDestroy(tex));
    for (int b = 0; b < c->nbuf; b++) CK(MemFree(dp[b]));
    CK(ModuleUnload(mod));
    free(src);
    case_free(c);
  }
  return failed;
}
