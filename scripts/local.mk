EXTRA_DIST += \
	%D%/check-gpu-compile.sh \
	%D%/common.sh \
	%D%/compile-op \
	%D%/coverage.sh \
	%D%/fault-report.sh \
	%D%/format.sh \
	%D%/place-modules \
	%D%/predict-gpu-rate \
	%D%/profile-run \
	%D%/quickstart.sh \
	%D%/run-threshold-scan.sh \
	%D%/setup.sh \
	%D%/sum-tests \
	%D%/test-long.sh \
	%D%/test.sh

# Python: those that read scans and benchmarks, and what they share.
report_scripts = \
	%D%/bench-document \
	%D%/compare-backends \
	%D%/compare-platforms \
	%D%/report-html \
	%D%/report/bench.html \
	%D%/report/bench.js \
	%D%/report/chart.html \
	%D%/report/common.js \
	%D%/report/compositions.html \
	%D%/report/compositions.js \
	%D%/report/page.css \
	%D%/report/page.html \
	%D%/report/scan.html \
	%D%/report/scan.js \
	%D%/report/trace.html \
	%D%/report/trace.js \
	%D%/run-batch-compositions \
	%D%/sampling-robustness \
	%D%/summarize \
	%D%/svmx_report.py \
	%D%/svmx_scan.py \
	%D%/trace-html
EXTRA_DIST += $(report_scripts)
