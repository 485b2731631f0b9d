# Fuzzing by plain programs with a generator of their own: the same rounds every time. SVMX_FUZZ_ROUNDS makes them longer;
# scripts/test-long.sh does.
plain_suites += %D%/fuzz_sim_model
fuzz_suites = %D%/fuzz_sim_model
%C%_fuzz_sim_model_LDADD = plugins/sim/libsim-model.la
