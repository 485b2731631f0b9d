criterion_suites += \
	%D%/test_async \
	%D%/test_bad_input \
	%D%/test_chains \
	%D%/test_faults
EXTRA_DIST += %D%/fake.h %D%/trial.h

plain_suites += %D%/steady_state
%C%_steady_state_LDADD = libsvmx.la

shell_suites += %D%/cli.sh
EXTRA_DIST += %D%/cli.sh

if BUILD_SIMD
plain_suites += %D%/tsan_simd_pool
%C%_tsan_simd_pool_LDADD = $(simd_parts)
endif
