/* libxsmm's present interface to sparse products, over that of its version 1.17 (f64 and f32). */
#include <libxsmm.h>
#include <stdlib.h>

typedef struct {
    int is_single;
    void* handle;
} kernel;

void* libxsmm_fsspmdm_create(int type, int m, int n, int k, int lda, int ldb, int ldc, const void* alpha, const void* beta,
                             const void* a, int c_is_nt, void* tick) {
    kernel* made = malloc(sizeof(kernel));
    (void)tick;
    made->is_single = type;
    made->handle = type ? (void*)libxsmm_sfsspmdm_create(m, n, k, lda, ldb, ldc, *(const float*)alpha, *(const float*)beta, c_is_nt, a)
                        : (void*)libxsmm_dfsspmdm_create(m, n, k, lda, ldb, ldc, *(const double*)alpha, *(const double*)beta, c_is_nt, a);
    if (made->handle == NULL) {
        free(made);
        return NULL;
    }
    return made;
}

void libxsmm_fsspmdm_execute(const kernel* of, const void* b, void* c) {
    if (of->is_single) {
        libxsmm_sfsspmdm_execute(of->handle, b, c);
    } else {
        libxsmm_dfsspmdm_execute(of->handle, b, c);
    }
}

void libxsmm_fsspmdm_destroy(kernel* of) {
    if (of->is_single) {
        libxsmm_sfsspmdm_destroy(of->handle);
    } else {
        libxsmm_dfsspmdm_destroy(of->handle);
    }
    free(of);
}
