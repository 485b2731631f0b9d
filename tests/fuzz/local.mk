# Fuzzing by plain programs with a generator of their own: the same rounds every time. SVMX_FUZZ_ROUNDS makes them longer;
# scripts/test-long.sh does.
fuzz_suites = %D%/fuzz_profile %D%/fuzz_receipts %D%/fuzz_sim_model %D%/fuzz_vm_block
plain_suites += $(fuzz_suites)
%C%_fuzz_profile_LDADD = libsvmx-core.la
%C%_fuzz_sim_model_LDADD = plugins/sim/libsim-model.la
%C%_fuzz_receipts_LDADD = libsvmx-core.la
%C%_fuzz_vm_block_LDADD = examples/contract-vm/libcontract-vm.la libsvmx.la
