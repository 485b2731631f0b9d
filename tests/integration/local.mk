criterion_suites += \
	%D%/test_alloc_faults \
	%D%/test_alloc_faults_beside \
	%D%/test_async \
	%D%/test_bad_input \
	%D%/test_buffers \
	%D%/test_chains \
	%D%/test_closing \
	%D%/test_cuts \
	%D%/test_fused \
	%D%/test_faults \
	%D%/test_fork \
	%D%/test_policies \
	%D%/test_gather \
	%D%/test_guards \
	%D%/test_hangs \
	%D%/test_heavy_light \
	%D%/test_in_place \
	%D%/test_isolate \
	%D%/test_pressure \
	%D%/test_loops \
	%D%/test_many_devices \
	%D%/test_opening \
	%D%/test_order \
	%D%/test_recorded \
	%D%/test_watching \
	%D%/test_recovery \
	%D%/test_probe \
	%D%/test_registered \
	%D%/test_registered_chains \
	%D%/test_registered_drivers \
	%D%/test_stretches \
	%D%/test_stretches_faults \
	%D%/test_stretches_weighed \
	%D%/test_stuck \
	%D%/test_stuck_memory \
	%D%/test_stuck_threads \
	%D%/test_tenants \
	%D%/test_trial \
	%D%/test_verify \
	%D%/test_window
EXTRA_DIST += %D%/abandons.h %D%/alloc_faults.h %D%/count_allocations.h %D%/fake.h %D%/faults_fixture.h %D%/faulty.h %D%/isolate_fixture.h %D%/liar.h %D%/mix_op.h %D%/recovery_fixture.h %D%/registered_drivers.h %D%/registered_fixture.h %D%/spirv_of.h %D%/stretches_fixture.h %D%/stuck_fixture.h %D%/threads.h %D%/threads_fixture.h %D%/trial.h

if BUILD_OPENCL
criterion_suites += %D%/test_opencl_steady
endif

if BUILD_METRICS
criterion_suites += %D%/test_metrics
%C%_test_metrics_CPPFLAGS = $(public_cppflags) $(CRITERION_CFLAGS)
%C%_test_metrics_LDADD = libsvmx-metrics.la libsvmx.la $(CRITERION_LIBS)
endif

# Threads that cannot be had.
%C%_test_opening_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pthread_create
%C%_test_stuck_threads_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=pthread_create

# Allocations of the core and of the suite go by way of the suite, which lets them fail.
alloc_faults_ldflags = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc \
	-Wl,--wrap=aligned_alloc -Wl,--wrap=strdup -Wl,--wrap=strndup -Wl,--wrap=realpath -Wl,--wrap=asprintf \
	-Wl,--wrap=open_memstream
%C%_test_alloc_faults_LDFLAGS = $(alloc_faults_ldflags)
%C%_test_alloc_faults_beside_LDFLAGS = $(alloc_faults_ldflags)

# Where svmx-host would be if it were installed.
%C%_test_probe_CPPFLAGS = $(AM_CPPFLAGS) -DSVMX_BACKEND_DIR='"$(backenddir)"'
%C%_test_isolate_CPPFLAGS = $(AM_CPPFLAGS) -DSVMX_BACKEND_DIR='"$(backenddir)"'

plain_suites += \
	%D%/fault_sweep \
	%D%/many_batches \
	%D%/secure \
	%D%/soak \
	%D%/steady_device \
	%D%/steady_state \
	%D%/threads \
	%D%/threads_ends \
	%D%/tsan_caches \
	%D%/tsan_model \
	%D%/vm_blocks
%C%_many_batches_LDADD = libsvmx.la
%C%_steady_device_LDADD = libsvmx.la
%C%_steady_state_LDADD = libsvmx.la
%C%_threads_LDADD = libsvmx-core.la
%C%_threads_ends_LDADD = libsvmx-core.la
%C%_tsan_caches_LDADD = libsvmx-core.la
%C%_secure_LDADD = libsvmx-core.la
%C%_soak_LDADD = libsvmx-core.la
%C%_fault_sweep_LDADD = libsvmx-core.la -ldl
%C%_tsan_model_LDADD = libsvmx-core.la
# Of examples/contract-vm, as an embedder links it.
%C%_vm_blocks_LDADD = examples/contract-vm/libcontract-vm.la libsvmx.la

shell_suites += %D%/cache.sh %D%/cli.sh %D%/cli_routing.sh %D%/levelzero.sh %D%/profile.sh %D%/scan.sh %D%/vm.sh
EXTRA_DIST += %D%/command.sh %D%/cache.sh %D%/cli.sh %D%/cli_routing.sh %D%/levelzero.sh %D%/profile.sh %D%/scan.sh \
	%D%/vm.sh %D%/vm_differential.py
shell_suites += %D%/cli_stdin.sh %D%/cli_watching.sh
EXTRA_DIST += %D%/cli_stdin.sh %D%/cli_watching.sh
%D%/vm.log: examples/contract-vm/contract-vm$(EXEEXT)

# Fill a cache for cache.sh and a profile for profile.sh.
check_PROGRAMS += %D%/fill_cache %D%/fill_profile
%C%_fill_cache_LDADD = libsvmx-core.la
%C%_fill_profile_LDADD = libsvmx-core.la

if BUILD_SIMD
plain_suites += %D%/exp_all %D%/tsan_simd_pool
%C%_exp_all_LDADD = libsvmx-core.la $(simd_parts) -lm
%C%_tsan_simd_pool_LDADD = $(simd_parts)
endif

if BUILD_SIM
plain_suites += %D%/tsan_sim
%C%_tsan_sim_LDADD = libsvmx.la
endif

if BUILD_LEVELZERO
plain_suites += %D%/test_levelzero_faults
%C%_test_levelzero_faults_LDADD = libsvmx-core.la
endif
