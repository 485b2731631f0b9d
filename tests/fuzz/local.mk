# Fuzzing by plain programs with a generator of their own: the same rounds every time. SVMX_FUZZ_ROUNDS makes them longer;
# scripts/test-long.sh does.
EXTRA_DIST += %D%/fuzz.h
fuzz_suites = %D%/fuzz_profile %D%/fuzz_receipts %D%/fuzz_sim_model %D%/fuzz_vm_block $(signature_suites) \
	%D%/fuzz_batch %D%/fuzz_binary %D%/fuzz_selection %D%/fuzz_spirv %D%/fuzz_wire
plain_suites += $(fuzz_suites)
%C%_fuzz_profile_LDADD = libsvmx-core.la
%C%_fuzz_sim_model_LDADD = plugins/sim/libsim-model.la
%C%_fuzz_receipts_LDADD = libsvmx-core.la
%C%_fuzz_batch_LDADD = libsvmx.la
%C%_fuzz_binary_LDADD = libsvmx-core.la
%C%_fuzz_selection_LDADD = libsvmx-core.la
%C%_fuzz_spirv_LDADD = libsvmx.la
%C%_fuzz_wire_LDADD = libsvmx-core.la
%C%_fuzz_vm_block_LDADD = examples/contract-vm/libcontract-vm.la libsvmx.la

signature_suites =
if BUILD_SIMD
signature_suites += %D%/fuzz_ed25519 %D%/fuzz_signatures
%C%_fuzz_ed25519_CPPFLAGS = $(AM_CPPFLAGS) $(SODIUM_CFLAGS)
%C%_fuzz_ed25519_LDADD = $(simd_parts) $(SODIUM_LIBS)
%C%_fuzz_signatures_CPPFLAGS = $(AM_CPPFLAGS) $(SECP256K1_CFLAGS)
%C%_fuzz_signatures_LDADD = $(simd_parts) $(SECP256K1_LIBS)
endif
