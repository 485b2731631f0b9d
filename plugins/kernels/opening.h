/*
 * opening.h: what the backends that call drivers do on the way in: whether they may be opened, and with which floating-point
 * environment a driver is called.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_KERNELS_OPENING_H
#define SVMX_KERNELS_OPENING_H

#include <fenv.h>
#include <svmx/plugin.h>

/*
 * Whether a plugin may be opened by this core, in this process. ABI: not by this core. UNSUPPORTED, logged: the process runs
 * with more rights than its user has (set-uid), and the environment has a variable that makes a loader or a driver run code
 * of the user's choice; `names` are what the names of such variables begin with.
 */
enum svmx_status kernels_may_open(const struct svmx_host *host, const char *const *names, size_t count);

/*
 * A driver computes in threads that it starts while it is called, and threads start with the floating-point environment of
 * whoever starts them; some compute in the calling thread itself. So the default one is set around every call that may
 * do either, and the caller's is put back (fesetenv).
 */
static inline fenv_t kernels_fp_enter(void) {
    fenv_t callers;
    (void)fegetenv(&callers);
    (void)fesetenv(FE_DFL_ENV);
    return callers;
}

#endif
