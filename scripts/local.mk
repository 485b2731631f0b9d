EXTRA_DIST += \
	%D%/check-gpu-compile.sh \
	%D%/common.sh \
	%D%/coverage.sh \
	%D%/format.sh \
	%D%/place-modules \
	%D%/quickstart.sh \
	%D%/run-threshold-scan.sh \
	%D%/setup.sh \
	%D%/sum-tests \
	%D%/test-long.sh \
	%D%/test.sh
