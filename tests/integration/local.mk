if BUILD_SIMD
plain_suites += %D%/tsan_simd_pool
%C%_tsan_simd_pool_LDADD = $(simd_parts)
endif
