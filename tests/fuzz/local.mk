# Fuzzing by plain programs with a generator of their own: the same rounds every time. SVMX_FUZZ_ROUNDS makes them longer;
# scripts/test-long.sh does.
plain_suites += %D%/fuzz_profile
fuzz_suites = %D%/fuzz_profile
%C%_fuzz_profile_LDADD = libsvmx-core.la
