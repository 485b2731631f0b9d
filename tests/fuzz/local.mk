# Fuzzing. By plain programs with a generator of their own: the same rounds every time. SVMX_FUZZ_ROUNDS makes them longer;
# scripts/test-long.sh does. And by libFuzzer (configure --enable-fuzzer), which makes the same programs others: they take
# libFuzzer's options, and are run by run-fuzzers, not by `make check`. Inputs that are worth keeping are in corpus/.
EXTRA_DIST += %D%/fuzz.h %D%/run-fuzzers %D%/corpus
fuzz_suites = %D%/fuzz_profile %D%/fuzz_receipts %D%/fuzz_sim_model %D%/fuzz_vm_block $(signature_suites) \
	%D%/fuzz_batch %D%/fuzz_binary %D%/fuzz_selection %D%/fuzz_spirv %D%/fuzz_wire
plain_suites += $(fuzz_suites)
fuzz_cppflags = $(AM_CPPFLAGS) $(SVMX_FUZZER_CPPFLAGS)
%C%_fuzz_profile_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_profile_LDADD = libsvmx-core.la $(SVMX_FUZZER_LIBS)
%C%_fuzz_sim_model_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_sim_model_LDADD = plugins/sim/libsim-model.la $(SVMX_FUZZER_LIBS)
%C%_fuzz_receipts_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_receipts_LDADD = libsvmx-core.la $(SVMX_FUZZER_LIBS)
%C%_fuzz_batch_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_batch_LDADD = libsvmx.la $(SVMX_FUZZER_LIBS)
%C%_fuzz_binary_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_binary_LDADD = libsvmx-core.la $(SVMX_FUZZER_LIBS)
%C%_fuzz_selection_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_selection_LDADD = libsvmx-core.la $(SVMX_FUZZER_LIBS)
%C%_fuzz_spirv_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_spirv_LDADD = libsvmx.la $(SVMX_FUZZER_LIBS)
%C%_fuzz_wire_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_wire_LDADD = libsvmx-core.la $(SVMX_FUZZER_LIBS)
%C%_fuzz_vm_block_CPPFLAGS = $(fuzz_cppflags)
%C%_fuzz_vm_block_LDADD = examples/contract-vm/libcontract-vm.la libsvmx.la $(SVMX_FUZZER_LIBS)

signature_suites =
if BUILD_SIMD
signature_suites += %D%/fuzz_ed25519 %D%/fuzz_signatures
%C%_fuzz_ed25519_CPPFLAGS = $(fuzz_cppflags) $(SODIUM_CFLAGS)
%C%_fuzz_ed25519_LDADD = $(simd_parts) $(SODIUM_LIBS) $(SVMX_FUZZER_LIBS)
%C%_fuzz_signatures_CPPFLAGS = $(fuzz_cppflags) $(SECP256K1_CFLAGS)
%C%_fuzz_signatures_LDADD = $(simd_parts) $(SECP256K1_LIBS) $(SVMX_FUZZER_LIBS)
endif
