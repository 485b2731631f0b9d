# Fuzzing by plain programs with a generator of their own: the same rounds every time. SVMX_FUZZ_ROUNDS makes them longer.
plain_suites += %D%/fuzz_receipts
fuzz_suites = %D%/fuzz_receipts
%C%_fuzz_receipts_LDADD = libsvmx-core.la
