# What the suites share. Four kinds, all run by `make check` through tests/run-suite:
#
#   criterion_suites   programs that need Criterion: unit, contract and most integration suites
#   plain_suites       programs that count for themselves: thread suites, which run under the thread sanitizer as well,
#                      and fuzzing
#   TESTS *.sh, *.py   shell suites; Python suites, for scripts in Python
#   check_LTLIBRARIES  no suites but check-only plugins for them, in test-backends/, never installed
#   opencl_layer, ze_cpu_driver   nor these: what stands below a plugin, see tests/drivers
#
# Suites choose devices by their order (SUPERVM_POLICY=order), so that they know who computes; those of the router say
# otherwise themselves.
#
# What drivers compile is kept in SVMX_TEST_CACHES, for all suites; scripts/test.sh has one folder for all configurations.
#
# Every suite ends with a line `N passed, N failed, N skipped`; tests/run-suite writes it for Criterion.

AM_TESTS_ENVIRONMENT = \
	SVMX_TEST_BACKEND_PATH='$(abs_top_builddir)/backends'; export SVMX_TEST_BACKEND_PATH; \
	SUPERVM_BACKEND_PATH='$(abs_top_builddir)/backends'; export SUPERVM_BACKEND_PATH; \
	SVMX_TEST_DRIVER_PATH='$(abs_top_builddir)/test-backends'; export SVMX_TEST_DRIVER_PATH; \
	SVMX_TEST_COMMAND='$(abs_top_builddir)/svmx'; export SVMX_TEST_COMMAND; \
	SVMX_TEST_SRCDIR='$(abs_top_srcdir)'; export SVMX_TEST_SRCDIR; \
	SVMX_TEST_BUILDDIR='$(abs_top_builddir)'; export SVMX_TEST_BUILDDIR; \
	SVMX_TEST_OBJDIR='$(SVMX_OBJDIR)'; export SVMX_TEST_OBJDIR; \
	SVMX_TEST_LIBTOOL='$(abs_top_builddir)/libtool'; export SVMX_TEST_LIBTOOL; \
	SVMX_TEST_SANITIZER='$(SVMX_SANITIZER)'; export SVMX_TEST_SANITIZER; \
	SVMX_TEST_RUNNER='$(SVMX_RUNNER)'; export SVMX_TEST_RUNNER; \
	SVMX_TEST_CRITERION_SUITES='$(criterion_suites)'; export SVMX_TEST_CRITERION_SUITES; \
	SVMX_TEST_CRITERION_REASON='$(CRITERION_REASON)'; export SVMX_TEST_CRITERION_REASON; \
	SVMX_TEST_CC='$(CC)'; export SVMX_TEST_CC; \
	SVMX_TEST_OPENCL_VENDORS="$${OCL_ICD_VENDORS-}"; export SVMX_TEST_OPENCL_VENDORS; \
	OCL_ICD_VENDORS=/no/drivers/but/those/a/suite/asks/for; export OCL_ICD_VENDORS; \
	: "$${SVMX_TEST_CACHES:=$(abs_top_builddir)/tests/run}"; \
	POCL_CACHE_DIR="$$SVMX_TEST_CACHES/pocl-cache"; export POCL_CACHE_DIR; \
	MESA_SHADER_CACHE_DIR="$$SVMX_TEST_CACHES/mesa-cache"; export MESA_SHADER_CACHE_DIR; \
	ZE_CPU_KEEP="$$SVMX_TEST_CACHES/ze_cpu-kept"; export ZE_CPU_KEEP; \
	unset SUPERVM_BACKENDS SUPERVM_VARIANT SUPERVM_THREADS SUPERVM_QUEUE_DEPTH SUPERVM_MIN_BUCKET SUPERVM_POOL_BYTES \
	  SUPERVM_MAX_PIPELINES SUPERVM_TIMEOUT_MS SUPERVM_TIMEOUT_MIN_MS SUPERVM_DEBUG SUPERVM_VERIFY SUPERVM_LOAD_WARNING SUPERVM_LOAD_CRITICAL SUPERVM_STATS_DIR SUPERVM_WINDOW SUPERVM_PATIENCE_MS SUPERVM_GATHER_US SUPERVM_LOG SUPERVM_CACHE_BYTES SUPERVM_LEARN SUPERVM_PROBE_PERCENT \
	  SUPERVM_RECEIPTS SUPERVM_SIM_MODEL SUPERVM_ISOLATE SUPERVM_DRIVER_PROBE; \
	SUPERVM_POLICY=order; export SUPERVM_POLICY; \
	SUPERVM_PROFILE=off; export SUPERVM_PROFILE; \
	SUPERVM_CACHE_DIR=off; export SUPERVM_CACHE_DIR;
TEST_EXTENSIONS = .sh .py
LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/run-suite
SH_LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/run-suite $(SHELL)
PY_LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/run-suite $(SHELL) $(top_srcdir)/tests/scripts/run-python
EXTRA_DIST += %D%/run-suite %D%/run-valgrind %D%/valgrind.supp %D%/leaks.supp %D%/cpu_share.h %D%/sanitized.h %D%/stats_taken.h

# A suite in these lists finds its source (NAME.c beside it), include path and libraries by itself.
criterion_suites =
plain_suites =
shell_suites =
LDADD = libsvmx-core.la $(CRITERION_LIBS) -lm

# For a suite that compares with OpenSSL where it is there: NAME_CPPFLAGS = $(openssl_cppflags), NAME_LDADD = $(LDADD)
# $(OPENSSL_LIBS).
openssl_cppflags = $(AM_CPPFLAGS)
if HAVE_OPENSSL
openssl_cppflags += -DHAVE_LIBCRYPTO $(OPENSSL_CFLAGS)
endif

if HAVE_CRITERION
check_PROGRAMS += $(criterion_suites)
TESTS += $(criterion_suites)
else
shell_suites += %D%/build/criterion-missing.sh
endif
check_PROGRAMS += $(plain_suites)
TESTS += $(plain_suites) $(shell_suites)
EXTRA_DIST += %D%/build/criterion-missing.sh

# Plugins are loaded by name, so make has to be told that suites depend on them, and on what runs them.
test-backends.stamp: $(check_LTLIBRARIES)
	$(AM_V_GEN)$(SHELL) $(top_srcdir)/scripts/place-modules $(abs_top_builddir)/test-backends $(SVMX_OBJDIR) \
	  $(check_LTLIBRARIES) && : >$@
CLEANFILES += test-backends.stamp
$(TEST_LOGS): backends.stamp test-backends.stamp $(opencl_layer) $(ze_cpu_driver) svmx$(EXEEXT) $(top_srcdir)/tests/run-suite
