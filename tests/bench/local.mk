# `make bench [SUITE=name]`: builds the benchmarks, runs them, prints a table and writes bench-results.json here.
bench_programs =
EXTRA_PROGRAMS += $(bench_programs)

bench: all $(bench_programs)
	SUITE='$(SUITE)' SVMX_BENCH_RESULTS='$(abs_top_builddir)/bench-results.json' \
	  SVMX_BENCH_PROGRAMS='$(abs_top_builddir)/%D%' SUPERVM_BACKEND_PATH='$(abs_top_builddir)/backends' \
	  SVMX_TEST_COMMAND='$(abs_top_builddir)/svmx' $(SHELL) $(top_srcdir)/%D%/run.sh
CLEANFILES += bench-results.json
