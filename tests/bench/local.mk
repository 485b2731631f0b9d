# `make bench [SUITE=name] [QUICK=1]`: builds the benchmarks, runs them, prints a table and writes bench-results.json and a page
# of it here. A program belongs to the suite that its name begins with: overhead, overhead_route; ops_hash. Each is a process
# of its own, and those that take the least come first.
bench_programs = \
	%D%/overhead_route \
	%D%/overhead \
	%D%/faults \
	%D%/chains \
	%D%/devices_virtual \
	%D%/devices \
	%D%/signatures \
	%D%/overlap \
	%D%/overlap_opencl \
	%D%/vm $(opencl_bench_programs) $(levelzero_bench_programs) $(watching_bench_programs) \
	%D%/routing \
	%D%/scan \
	%D%/routing_devices \
	%D%/ops_field \
	%D%/ops_hash \
	%D%/ops_matmul \
	%D%/ops_float
EXTRA_PROGRAMS += $(bench_programs)

bench_common = %D%/bench.c %D%/bench.h %D%/row.c
bench_cppflags = $(public_cppflags)
if HAVE_STARPU
bench_cppflags += -DHAVE_STARPU $(STARPU_CFLAGS)
endif

# As an embedder links it.
%C%_overhead_SOURCES = %D%/overhead.c %D%/plain.c %D%/plain.h %D%/peer_starpu.c %D%/peer_starpu.h $(bench_common)
%C%_overhead_CPPFLAGS = $(bench_cppflags)
%C%_overhead_LDADD = libsvmx.la $(STARPU_LIBS) -lm

%C%_chains_SOURCES = %D%/chains.c %D%/chains_devices.c %D%/chains_devices.h $(bench_common)
%C%_chains_CPPFLAGS = $(public_cppflags)
%C%_chains_LDADD = libsvmx.la plugins/sim/libsim-model.la -lm

# Suite devices: modelled GPUs in real time, and drivers on the same cores.
%C%_devices_SOURCES = %D%/devices.c $(bench_common)
%C%_devices_CPPFLAGS = $(public_cppflags)
%C%_devices_LDADD = libsvmx.la -lm
%C%_devices_virtual_SOURCES = %D%/devices_virtual.c $(bench_common)
%C%_devices_virtual_LDADD = libsvmx-core.la plugins/sim/libsim-model.la -lm

# Calls one stage by itself.
%C%_overhead_route_SOURCES = %D%/overhead_route.c $(bench_common)
%C%_overhead_route_LDADD = libsvmx-core.la -lm

# Switches off what no option does.
%C%_faults_SOURCES = %D%/faults.c $(bench_common)
%C%_faults_LDADD = libsvmx-core.la -lm
%C%_faults_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=svmx__guard_lay -Wl,--wrap=svmx__guard_check -Wl,--wrap=svmx__call_begin \
	-Wl,--wrap=svmx__call_end

# Suite routing: the router on modelled machines. The simulation is linked by a unit suite as well.
virtual_time = %D%/regret.c %D%/regret.h %D%/virtual.c %D%/virtual.h %D%/workloads.c %D%/workloads.h
%C%_routing_SOURCES = %D%/routing.c $(virtual_time) $(bench_common)
%C%_routing_LDADD = libsvmx-core.la plugins/sim/libsim-model.la -lm

# Suite scan: the command by itself.
%C%_scan_SOURCES = %D%/scan.c $(bench_common)
%C%_scan_LDADD = -lm

# Suite overlap: a stream of batches; the model also by itself.
%C%_overlap_SOURCES = %D%/overlap.c %D%/stream.c %D%/stream.h $(bench_common)
%C%_overlap_CPPFLAGS = $(public_cppflags)
%C%_overlap_LDADD = libsvmx.la plugins/sim/libsim-model.la -lm
%C%_overlap_opencl_SOURCES = %D%/overlap_opencl.c %D%/stream.c %D%/stream.h $(bench_common)
%C%_overlap_opencl_CPPFLAGS = $(public_cppflags)
%C%_overlap_opencl_LDADD = libsvmx.la -lm

# Suite ops: a program for each group of peers.
ops_common = %D%/ops.c %D%/ops.h %D%/ops_team.c %D%/ops_team.h %D%/ops_others.c %D%/ops_others.h $(bench_common)

%C%_ops_hash_SOURCES = %D%/ops_hash.c %D%/peer_openssl.c %D%/peer_openssl.h %D%/peer_ipsec.c %D%/peer_ipsec.h \
	$(ops_common)
%C%_ops_hash_CPPFLAGS = $(public_cppflags)
%C%_ops_hash_LDADD = libsvmx.la -lm
if HAVE_OPENSSL
%C%_ops_hash_CPPFLAGS += -DHAVE_OPENSSL $(OPENSSL_CFLAGS)
%C%_ops_hash_LDADD += $(OPENSSL_LIBS)
endif
if HAVE_IPSEC_MB
%C%_ops_hash_CPPFLAGS += -DHAVE_IPSEC_MB
%C%_ops_hash_LDADD += $(IPSEC_MB_LIBS)
endif

%C%_ops_float_SOURCES = %D%/ops_float.c %D%/peer_mvec.c %D%/peer_mvec.h %D%/peer_mvec_lanes.h $(ops_common)
%C%_ops_float_CPPFLAGS = $(public_cppflags)
%C%_ops_float_LDADD = libsvmx.la -lm
if HAVE_LIBMVEC
%C%_ops_float_CPPFLAGS += -DHAVE_LIBMVEC
%C%_ops_float_LDADD += $(LIBMVEC_LIBS)
endif

# OpenBLAS is loaded at run time: it must be told which kernels to use before it starts.
%C%_ops_matmul_SOURCES = %D%/ops_matmul.c %D%/peer_openblas.c %D%/peer_openblas.h $(ops_common)
%C%_ops_matmul_CPPFLAGS = $(public_cppflags)
%C%_ops_matmul_LDADD = libsvmx.la -lm

%C%_ops_field_SOURCES = %D%/ops_field.c %D%/peer_mulx.c %D%/peer_mulx.h %D%/peer_bn.c %D%/peer_bn.h $(ops_common)
%C%_ops_field_CPPFLAGS = $(public_cppflags)
%C%_ops_field_LDADD = libsvmx.la -lm
if HAVE_OPENSSL
%C%_ops_field_CPPFLAGS += -DHAVE_OPENSSL $(OPENSSL_CFLAGS)
%C%_ops_field_LDADD += $(OPENSSL_LIBS)
endif

# Suite signatures: like ops, many sizes of a batch.
%C%_signatures_SOURCES = %D%/signatures.c %D%/peer_secp256k1.c %D%/peer_secp256k1.h %D%/peer_sodium.c \
	%D%/peer_sodium.h $(ops_common)
%C%_signatures_CPPFLAGS = $(AM_CPPFLAGS) $(SECP256K1_CFLAGS) $(SODIUM_CFLAGS)
%C%_signatures_LDADD = libsvmx-core.la $(SECP256K1_LIBS) $(SODIUM_LIBS) -lm

# Suite routing: choosing, on the devices that are here.
%C%_routing_devices_SOURCES = %D%/routing_devices.c $(bench_common)
%C%_routing_devices_CPPFLAGS = $(public_cppflags)
%C%_routing_devices_LDADD = libsvmx.la -lm

# Suite vm: examples/contract-vm.
%C%_vm_SOURCES = %D%/vm.c $(bench_common)
%C%_vm_CPPFLAGS = $(public_cppflags)
%C%_vm_LDADD = examples/contract-vm/libcontract-vm.la libsvmx.la -lm

# Suite opencl: the executor beside the plain API on the same device.
opencl_bench_programs =
if BUILD_OPENCL
opencl_bench_programs += %D%/chains_threads %D%/opencl_compositions %D%/opencl_features %D%/opencl_isolate %D%/opencl_start %D%/opencl_tasks
endif
cl_common = %D%/cl_scene.c %D%/cl_scene.h %D%/peer_cl.c %D%/peer_cl.h $(bench_common)
# Suite chains, beside the plain API.
%C%_chains_threads_SOURCES = %D%/chains_threads.c %D%/peer_cl.c %D%/peer_cl.h $(bench_common)
%C%_chains_threads_CPPFLAGS = $(public_cppflags)
%C%_chains_threads_LDADD = libsvmx.la $(OPENCL_LIBS) -lm
%C%_opencl_tasks_SOURCES = %D%/opencl_tasks.c $(cl_common)
%C%_opencl_tasks_CPPFLAGS = $(public_cppflags)
%C%_opencl_tasks_LDADD = libsvmx.la $(OPENCL_LIBS) -lm
%C%_opencl_compositions_SOURCES = %D%/opencl_compositions.c $(cl_common)
%C%_opencl_compositions_CPPFLAGS = $(public_cppflags)
%C%_opencl_compositions_LDADD = libsvmx.la $(OPENCL_LIBS) -lm
%C%_opencl_features_SOURCES = %D%/opencl_features.c $(bench_common)
%C%_opencl_features_CPPFLAGS = $(public_cppflags)
%C%_opencl_features_LDADD = plugins/kernels/libkernels.la $(OPENCL_LIBS) -lm
%C%_opencl_isolate_SOURCES = %D%/opencl_isolate.c $(bench_common)
%C%_opencl_isolate_CPPFLAGS = $(public_cppflags)
%C%_opencl_isolate_LDADD = libsvmx.la -lm
%C%_opencl_start_SOURCES = %D%/opencl_start.c $(bench_common)
%C%_opencl_start_CPPFLAGS = $(public_cppflags)
%C%_opencl_start_LDADD = libsvmx.la -lm

# Suite levelzero: the plugin beside the plain API on the same device; the test driver, where there is no other.
levelzero_bench_programs =
if BUILD_LEVELZERO
levelzero_bench_programs += %D%/levelzero
endif
%C%_levelzero_SOURCES = %D%/levelzero.c %D%/peer_ze.c %D%/peer_ze.h $(bench_common)
%C%_levelzero_CPPFLAGS = $(public_cppflags)
%C%_levelzero_LDADD = libsvmx.la plugins/levelzero/liblevelzero.la -lm

# Suite watching: somebody asks for metrics while it works.
watching_bench_programs =
if BUILD_METRICS
watching_bench_programs += %D%/watching
endif
%C%_watching_SOURCES = %D%/watching.c $(bench_common)
%C%_watching_CPPFLAGS = $(public_cppflags)
%C%_watching_LDADD = libsvmx-metrics.la libsvmx.la -lm

bench: all $(bench_programs) $(ze_cpu_driver) examples/scf
	@list=; driver='$(firstword $(ze_cpu_driver))'; for program in $(bench_programs); do list="$$list $(abs_top_builddir)/$$program"; done; \
	  SUITE='$(SUITE)' QUICK='$(QUICK)' SVMX_BENCH_VERSION='$(PACKAGE_VERSION)' SVMX_BENCH_LIST="$$list" SVMX_BENCH_RESULTS='$(abs_top_builddir)/bench-results.json' \
	  SVMX_BENCH_COMMAND='$(abs_top_builddir)/svmx' SVMX_BENCH_ZE_DRIVER="$${driver:+$(abs_top_builddir)/$$driver}" \
	  SVMX_BENCH_EXAMPLES='$(abs_top_builddir)/examples' SVMX_BENCH_SCRIPTS='$(abs_top_srcdir)/scripts' \
	  SUPERVM_BACKEND_PATH='$(abs_top_builddir)/backends' $(SHELL) $(top_srcdir)/%D%/run.sh
EXTRA_DIST += %D%/run.sh
CLEANFILES += bench-results.json bench-results.html $(bench_programs)
