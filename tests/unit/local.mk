criterion_suites += \
	%D%/test_op_reduce_f32 \
	%D%/test_op_table \
	%D%/test_op_vec_f32

if BUILD_SIMD
criterion_suites += \
	%D%/test_simd_pool \
	%D%/test_simd_variant
%C%_test_simd_pool_LDADD = $(simd_parts) $(CRITERION_LIBS)
%C%_test_simd_variant_LDADD = $(simd_parts) $(CRITERION_LIBS)
endif
