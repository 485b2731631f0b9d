# `make bench [SUITE=name]`: builds the benchmarks, runs them, prints a table and writes bench-results.json here. A program
# belongs to the suite that its name begins with: overhead, overhead_route.
bench_programs = \
	%D%/overhead \
	%D%/overhead_route
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

# Calls one stage by itself.
%C%_overhead_route_SOURCES = %D%/overhead_route.c $(bench_common)
%C%_overhead_route_LDADD = libsvmx-core.la -lm

bench: all $(bench_programs)
	@list=; for program in $(bench_programs); do list="$$list $(abs_top_builddir)/$$program"; done; \
	  SUITE='$(SUITE)' SVMX_BENCH_LIST="$$list" SVMX_BENCH_RESULTS='$(abs_top_builddir)/bench-results.json' \
	  SUPERVM_BACKEND_PATH='$(abs_top_builddir)/backends' $(SHELL) $(top_srcdir)/%D%/run.sh
EXTRA_DIST += %D%/run.sh
CLEANFILES += bench-results.json $(bench_programs)
