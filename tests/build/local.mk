# Suites about what was built, rather than what it does.
build_suites = \
	%D%/embedding.sh \
	%D%/examples.sh \
	%D%/isa.sh \
	%D%/links.sh \
	%D%/packed.sh \
	%D%/symbols.sh \
	%D%/test_sum_tests.sh
shell_suites += $(build_suites)
EXTRA_DIST += $(build_suites) %D%/installed.sh %D%/same-bits.sh

# `make installcheck`, also part of distcheck: what was installed, used as a stranger would.
if NATIVE
installcheck-local:
	@PKG_CONFIG='$(PKG_CONFIG)' SVMX_TEST_CC='$(CC) $(SVMX_BUILD_CFLAGS)' SVMX_TEST_SRCDIR='$(abs_top_srcdir)' \
	  DESTDIR='$(DESTDIR)' $(SHELL) $(top_srcdir)/%D%/installed.sh '$(bindir)' '$(libdir)' '$(includedir)' '$(mandir)'
endif

# What these read besides what all suites depend on.
%D%/embedding.log: docs/EMBEDDING.md examples/embed.cpp examples/embed.py
%D%/examples.log: README.md examples/embed.c examples/embed$(EXEEXT) examples/grid-objects$(EXEEXT) \
	examples/chain$(EXEEXT)
%D%/symbols.log: src/libsvmx.map include/svmx/svmx.h
%D%/test_sum_tests.log: scripts/sum-tests
%D%/packed.log %D%/links.log: always
always:
.PHONY: always
