criterion_suites += \
	%D%/test_alloc \
	%D%/test_aside \
	%D%/test_bandwidth \
	%D%/test_batch \
	%D%/test_binary_list \
	%D%/test_binary_store \
	%D%/test_binary_store_strange \
	%D%/test_seal \
	%D%/test_bucket \
	%D%/test_cell \
	%D%/test_check_plugin \
	%D%/test_choice \
	%D%/test_clock \
	%D%/test_config \
	%D%/test_curves \
	%D%/test_custom \
	%D%/test_custom_checks \
	%D%/test_drivers \
	%D%/test_elf \
	%D%/test_example \
	%D%/test_examples \
	%D%/test_executor \
	%D%/test_health \
	%D%/test_helper \
	%D%/test_host \
	%D%/test_infer \
	%D%/test_inspect \
	%D%/test_json_read \
	%D%/test_key \
	%D%/test_layout_cache \
	%D%/test_loader \
	%D%/test_log \
	%D%/test_model \
	%D%/test_near \
	%D%/test_op_chain \
	%D%/test_op_ecdsa \
	%D%/test_op_ecrecover \
	%D%/test_op_ed25519 \
	%D%/test_op_eigh_f64 \
	%D%/test_op_exp_f32 \
	%D%/test_op_extremes_f32 \
	%D%/test_op_f64 \
	%D%/test_op_field \
	%D%/test_op_goldilocks \
	%D%/test_op_grid_u8 \
	%D%/test_op_keccak256 \
	%D%/test_op_matmul_f32 \
	%D%/test_op_merkle \
	%D%/test_op_messages \
	%D%/test_op_rectify_f32 \
	%D%/test_op_reduce_f32 \
	%D%/test_op_reference \
	%D%/test_op_sha256 \
	%D%/test_op_softmax_f32 \
	%D%/test_op_table \
	%D%/test_op_vec_f32 \
	%D%/test_operations_doc \
	%D%/test_pipeline_cache \
	%D%/test_policy \
	%D%/test_prewarm \
	%D%/test_quarantine \
	%D%/test_profile \
	%D%/test_profile_file \
	%D%/test_proxy \
	%D%/test_queue \
	%D%/test_receipt \
	%D%/test_receipt_json \
	%D%/test_record \
	%D%/test_registry \
	%D%/test_replay \
	%D%/test_route \
	%D%/test_routing_virtual \
	%D%/test_samples \
	%D%/test_scan_cells \
	%D%/test_scan_crossover \
	%D%/test_scan_plan \
	%D%/test_scan_stats \
	%D%/test_scan_virtual \
	%D%/test_selection \
	%D%/test_selftest \
	%D%/test_sketch \
	%D%/test_sim_model \
	%D%/test_spread \
	%D%/test_spin \
	%D%/test_staging_pool \
	%D%/test_stats_folder \
	%D%/test_stats_text \
	%D%/test_status \
	%D%/test_submit \
	%D%/test_tally \
	%D%/test_team \
	%D%/test_text \
	%D%/test_turns \
	%D%/test_versioned \
	%D%/test_vm_opcodes \
	%D%/test_vm_schedule \
	%D%/test_vm_state \
	%D%/test_wants \
	%D%/test_wild \
	%D%/test_wire

# Parts of the command, which is no library.
%C%_test_samples_SOURCES = %D%/test_samples.c src/cli/samples.c src/cli/samples.h src/cli/text.c
%C%_test_wild_SOURCES = %D%/test_wild.c src/cli/wild.c src/cli/wild.h
scan_parts = src/cli/args.c src/cli/json.c src/cli/scan_cells.c src/cli/scan_crossover.c src/cli/scan_plan.c src/cli/scan_stats.c \
	src/cli/session.c src/cli/text.c
%C%_test_scan_cells_SOURCES = %D%/test_scan_cells.c $(scan_parts)
%C%_test_scan_crossover_SOURCES = %D%/test_scan_crossover.c $(scan_parts)
%C%_test_scan_plan_SOURCES = %D%/test_scan_plan.c $(scan_parts)
%C%_test_scan_stats_SOURCES = %D%/test_scan_stats.c $(scan_parts)
%C%_test_scan_virtual_SOURCES = %D%/test_scan_virtual.c src/cli/scan_crossover.c src/cli/scan_measure.c \
	src/cli/scan_stats.c src/cli/text.c
%C%_test_scan_virtual_LDADD = plugins/sim/libsim-model.la $(LDADD)

EXTRA_DIST += %D%/custom_fixture.h %D%/floats_fixture.h %D%/op_fixture.h %D%/executor_fixture.h %D%/fake_fixture.h %D%/levelzero_fixture.h \
	%D%/opencl_fixture.h %D%/plugin_fixture.h %D%/profile_fixture.h %D%/signatures_fixture.h %D%/store_fixture.h %D%/vm_fixture.h
%C%_test_op_ecdsa_CPPFLAGS = $(openssl_cppflags) $(SECP256K1_CFLAGS)
%C%_test_op_ecdsa_LDADD = $(LDADD) $(SECP256K1_LIBS) $(OPENSSL_LIBS)
%C%_test_op_ecrecover_CPPFLAGS = $(AM_CPPFLAGS) $(SECP256K1_CFLAGS)
%C%_test_op_ecrecover_LDADD = $(LDADD) $(SECP256K1_LIBS)
%C%_test_op_ed25519_CPPFLAGS = $(openssl_cppflags) $(SODIUM_CFLAGS)
%C%_test_op_ed25519_LDADD = $(LDADD) $(SODIUM_LIBS) $(OPENSSL_LIBS)
%C%_test_op_field_CPPFLAGS = $(openssl_cppflags)
%C%_test_op_field_LDADD = $(LDADD) $(OPENSSL_LIBS)
%C%_test_op_merkle_CPPFLAGS = $(openssl_cppflags)
%C%_test_op_merkle_LDADD = $(LDADD) $(OPENSSL_LIBS)
%C%_test_op_keccak256_CPPFLAGS = $(openssl_cppflags)
%C%_test_op_keccak256_LDADD = $(LDADD) $(OPENSSL_LIBS)
%C%_test_op_sha256_CPPFLAGS = $(openssl_cppflags)
%C%_test_op_sha256_LDADD = $(LDADD) $(OPENSSL_LIBS)

# Of examples/contract-vm, as an embedder links it.
%C%_test_vm_opcodes_LDADD = examples/contract-vm/libcontract-vm.la libsvmx.la $(CRITERION_LIBS)
%C%_test_vm_schedule_LDADD = examples/contract-vm/libcontract-vm.la libsvmx.la $(CRITERION_LIBS)
%C%_test_vm_state_LDADD = examples/contract-vm/libcontract-vm.la libsvmx.la $(CRITERION_LIBS)

%C%_test_sim_model_LDADD = plugins/sim/libsim-model.la $(CRITERION_LIBS)
if BUILD_SIM
criterion_suites += %D%/test_sim_plugin
%C%_test_sim_plugin_LDADD = plugins/sim/libsim.la $(LDADD)
endif

# Allocations of the core go by way of the suite, which lets them fail.
%C%_test_choice_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=calloc
# The simulation of `make bench SUITE=routing`.
%C%_test_routing_virtual_SOURCES = %D%/test_routing_virtual.c tests/bench/regret.c tests/bench/regret.h \
	tests/bench/virtual.c tests/bench/virtual.h tests/bench/workloads.c tests/bench/workloads.h
%C%_test_routing_virtual_LDADD = plugins/sim/libsim-model.la $(LDADD)

if BUILD_SIMD
criterion_suites += \
	%D%/test_simd_ed25519 \
	%D%/test_simd_fe52 \
	%D%/test_simd_field \
	%D%/test_simd_floats \
	%D%/test_simd_matmul \
	%D%/test_simd_pairs \
	%D%/test_simd_points \
	%D%/test_simd_near \
	%D%/test_simd_pool \
	%D%/test_simd_secp256k1 \
	%D%/test_simd_small_group \
	%D%/test_simd_small_group_7 \
	%D%/test_simd_small_group_13 \
	%D%/test_simd_torsion \
	%D%/test_simd_variant
%C%_test_simd_ed25519_CPPFLAGS = $(AM_CPPFLAGS) $(SODIUM_CFLAGS)
%C%_test_simd_ed25519_LDADD = $(simd_parts) $(LDADD) $(SODIUM_LIBS)
%C%_test_simd_matmul_LDADD = $(simd_parts) $(LDADD)
%C%_test_simd_fe52_CPPFLAGS = $(AM_CPPFLAGS) $(SECP256K1_CFLAGS) $(SODIUM_CFLAGS)
%C%_test_simd_fe52_LDADD = $(fe52_calls) $(simd_parts) $(LDADD)
%C%_test_simd_points_CPPFLAGS = $(AM_CPPFLAGS) $(SECP256K1_CFLAGS) $(SODIUM_CFLAGS)
%C%_test_simd_points_LDADD = $(fe52_calls) $(simd_parts) $(LDADD)
%C%_test_simd_small_group_CPPFLAGS = $(AM_CPPFLAGS) $(SECP256K1_CFLAGS) $(SODIUM_CFLAGS)
%C%_test_simd_small_group_LDADD = $(small_group) $(fe52_calls) $(simd_parts) $(LDADD)
%C%_test_simd_torsion_CPPFLAGS = $(AM_CPPFLAGS) $(SECP256K1_CFLAGS) $(SODIUM_CFLAGS)
%C%_test_simd_torsion_LDADD = $(fe52_calls) $(simd_parts) $(LDADD)
%C%_test_simd_small_group_7_SOURCES = %D%/test_simd_small_group.c
%C%_test_simd_small_group_7_CPPFLAGS = $(%C%_test_simd_small_group_CPPFLAGS) -DSMALL_ORDER=7
%C%_test_simd_small_group_7_LDADD = $(small_group_7) $(fe52_calls) $(simd_parts) $(LDADD)
%C%_test_simd_small_group_13_SOURCES = %D%/test_simd_small_group.c
%C%_test_simd_small_group_13_CPPFLAGS = $(%C%_test_simd_small_group_CPPFLAGS) -DSMALL_ORDER=13
%C%_test_simd_small_group_13_LDADD = $(small_group_13) $(fe52_calls) $(simd_parts) $(LDADD)
EXTRA_DIST += %D%/big_fixture.h %D%/fe52_calls.h %D%/fe52_calls_body.h %D%/group_logs.h %D%/points_fixture.h %D%/small_group.h \
	%D%/device_run.h %D%/ed25519_hard.h %D%/signatures_hard.h
fe52_calls =
small_group =
small_group_7 =
small_group_13 =
if BUILD_SIMD_X86
if HAVE_SECP256K1
if HAVE_SODIUM
EXTRA_LTLIBRARIES += %D%/libfe52-calls.la
fe52_calls += %D%/libfe52-calls.la
CLEANFILES += %D%/libfe52-calls.la
%C%_libfe52_calls_la_CFLAGS = $(AM_CFLAGS) $(SVMX_IFMA_CFLAGS)
%C%_libfe52_calls_la_CPPFLAGS = $(public_cppflags)
%C%_libfe52_calls_la_SOURCES = %D%/fe52_calls_secp256k1.c %D%/fe52_calls_ed25519.c
# Signatures on secp256k1 three times more, in groups of 199, 7 and 13 points.
EXTRA_LTLIBRARIES += %D%/libsmall-group.la %D%/libsmall-group-7.la %D%/libsmall-group-13.la
small_group += %D%/libsmall-group.la
small_group_7 += %D%/libsmall-group-7.la
small_group_13 += %D%/libsmall-group-13.la
CLEANFILES += %D%/libsmall-group.la %D%/libsmall-group-7.la %D%/libsmall-group-13.la
%C%_libsmall_group_la_CFLAGS = $(AM_CFLAGS) $(SVMX_IFMA_CFLAGS)
%C%_libsmall_group_7_la_CFLAGS = $(%C%_libsmall_group_la_CFLAGS)
%C%_libsmall_group_13_la_CFLAGS = $(%C%_libsmall_group_la_CFLAGS)
%C%_libsmall_group_la_CPPFLAGS = $(public_cppflags) -I$(srcdir)/%D% -DSECP_GROUP='"small_group.h"' \
	-include $(srcdir)/%D%/small_group.h
%C%_libsmall_group_7_la_CPPFLAGS = -DSMALL_ORDER=7 $(%C%_libsmall_group_la_CPPFLAGS)
%C%_libsmall_group_13_la_CPPFLAGS = -DSMALL_ORDER=13 $(%C%_libsmall_group_la_CPPFLAGS)
%C%_libsmall_group_la_SOURCES = plugins/simd/ecrecover_ifma.c plugins/simd/ecdsa_ifma.c \
	plugins/simd/secp256k1_point_ifma.c plugins/simd/secp256k1_scalar_ifma.c
%C%_libsmall_group_7_la_SOURCES = $(%C%_libsmall_group_la_SOURCES)
%C%_libsmall_group_13_la_SOURCES = $(%C%_libsmall_group_la_SOURCES)
endif
endif
endif
%C%_test_simd_field_LDADD = $(simd_parts) $(LDADD)
%C%_test_simd_floats_LDADD = $(simd_parts) $(LDADD)
%C%_test_simd_pairs_LDADD = $(simd_parts) $(CRITERION_LIBS) -lm
%C%_test_simd_near_CPPFLAGS = $(AM_CPPFLAGS) $(HWLOC_CFLAGS)
%C%_test_simd_near_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=getauxval
%C%_test_simd_near_LDADD = $(simd_parts) $(CRITERION_LIBS) -lm
%C%_test_simd_pool_LDADD = $(simd_parts) $(CRITERION_LIBS) -lm
%C%_test_simd_secp256k1_CPPFLAGS = $(AM_CPPFLAGS) $(SECP256K1_CFLAGS)
%C%_test_simd_secp256k1_LDADD = $(simd_parts) $(LDADD) $(SECP256K1_LIBS)
%C%_test_simd_variant_LDADD = $(simd_parts) $(CRITERION_LIBS) -lm
endif

if BUILD_DEVICE_CODE
criterion_suites += %D%/test_kernels_binary %D%/test_opencl_catalog
%C%_test_kernels_binary_LDADD = plugins/kernels/libkernels.la $(CRITERION_LIBS)
%C%_test_opencl_catalog_LDADD = plugins/kernels/libkernels.la $(CRITERION_LIBS)
endif

if BUILD_OPENCL
criterion_suites += \
	%D%/test_opencl_backend \
	%D%/test_opencl_describe \
	%D%/test_opencl_drivers \
	%D%/test_opencl_faults
if BUILD_SIMD
criterion_suites += %D%/test_opencl_ed25519 %D%/test_opencl_secp256k1 %D%/test_opencl_small_group \
	%D%/test_opencl_small_group_7 %D%/test_opencl_small_group_13
%C%_test_opencl_ed25519_CPPFLAGS = $(AM_CPPFLAGS) $(SODIUM_CFLAGS)
%C%_test_opencl_ed25519_LDADD = $(simd_parts) $(LDADD) $(SODIUM_LIBS)
%C%_test_opencl_secp256k1_CPPFLAGS = $(AM_CPPFLAGS) $(SECP256K1_CFLAGS)
%C%_test_opencl_secp256k1_LDADD = $(simd_parts) $(LDADD) $(SECP256K1_LIBS)
%C%_test_opencl_small_group_LDADD = plugins/kernels/libkernels.la $(simd_parts) $(LDADD)
%C%_test_opencl_small_group_7_SOURCES = %D%/test_opencl_small_group.c
%C%_test_opencl_small_group_7_CPPFLAGS = $(AM_CPPFLAGS) -DSMALL_ORDER=7
%C%_test_opencl_small_group_7_LDADD = $(%C%_test_opencl_small_group_LDADD)
%C%_test_opencl_small_group_13_SOURCES = %D%/test_opencl_small_group.c
%C%_test_opencl_small_group_13_CPPFLAGS = $(AM_CPPFLAGS) -DSMALL_ORDER=13
%C%_test_opencl_small_group_13_LDADD = $(%C%_test_opencl_small_group_LDADD)
endif
%C%_test_opencl_backend_LDADD = plugins/opencl/libopencl.la $(CRITERION_LIBS)
%C%_test_opencl_describe_LDADD = plugins/opencl/libopencl.la $(CRITERION_LIBS)
%C%_test_opencl_drivers_LDADD = plugins/opencl/libopencl.la $(CRITERION_LIBS)
%C%_test_opencl_faults_LDADD = plugins/opencl/libopencl.la $(CRITERION_LIBS)
endif

if BUILD_LEVELZERO
criterion_suites += %D%/test_levelzero_backend %D%/test_levelzero_kernels %D%/test_levelzero_newer
%C%_test_levelzero_backend_LDADD = plugins/levelzero/liblevelzero.la $(CRITERION_LIBS)
%C%_test_levelzero_kernels_LDADD = plugins/levelzero/liblevelzero.la $(LDADD)
# the same once more, with the test driver in the place of the loader
%C%_test_levelzero_newer_SOURCES = %D%/test_levelzero_backend.c
%C%_test_levelzero_newer_CPPFLAGS = $(AM_CPPFLAGS) -DLOADER_IS_NEWER=true
%C%_test_levelzero_newer_LDFLAGS = $(AM_LDFLAGS) -Wl,-rpath,$(abs_top_builddir)/tests/drivers/ze_cpu/loader
%C%_test_levelzero_newer_LDADD = plugins/levelzero/liblevelzero.la $(CRITERION_LIBS)
endif

# By way of a variable: automake would take a rule for the log itself for the whole of its rule.
operations_doc_log = %D%/test_operations_doc.log
$(operations_doc_log): docs/OPERATIONS.md
