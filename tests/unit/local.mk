criterion_suites += \
	%D%/test_check_plugin \
	%D%/test_elf \
	%D%/test_example \
	%D%/test_loader \
	%D%/test_op_keccak256 \
	%D%/test_op_messages \
	%D%/test_op_reduce_f32 \
	%D%/test_op_reference \
	%D%/test_op_sha256 \
	%D%/test_op_table \
	%D%/test_op_vec_f32 \
	%D%/test_operations_doc \
	%D%/test_registry \
	%D%/test_selection
EXTRA_DIST += %D%/plugin_fixture.h
%C%_test_op_keccak256_CPPFLAGS = $(openssl_cppflags)
%C%_test_op_keccak256_LDADD = $(LDADD) $(OPENSSL_LIBS)
%C%_test_op_sha256_CPPFLAGS = $(openssl_cppflags)
%C%_test_op_sha256_LDADD = $(LDADD) $(OPENSSL_LIBS)

if BUILD_SIMD
criterion_suites += \
	%D%/test_simd_pool \
	%D%/test_simd_variant
%C%_test_simd_pool_LDADD = $(simd_parts) $(CRITERION_LIBS) -lm
%C%_test_simd_variant_LDADD = $(simd_parts) $(CRITERION_LIBS) -lm
endif

%D%/test_operations_doc.log: docs/OPERATIONS.md
