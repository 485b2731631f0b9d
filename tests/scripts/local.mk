# Suites of the scripts that read scans and benchmarks. Without Python they are skipped, without a browser one of them is.
script_suites = \
	%D%/test_bench.py \
	%D%/test_compare.py \
	%D%/test_dashboard.py \
	%D%/test_metrics.py \
	%D%/test_profile_run.py \
	%D%/test_report.py \
	%D%/test_report_browser.py \
	%D%/test_svmx_scan.py \
	%D%/test_trace_browser.py
TESTS += $(script_suites)
EXTRA_DIST += $(script_suites) %D%/browsing.py %D%/made_scan.py %D%/run-python %D%/serving.py %D%/suite.py

%D%/test_bench.log: $(report_scripts) %D%/suite.py tests/bench/run.sh
%D%/test_compare.log: $(report_scripts) %D%/suite.py %D%/made_scan.py
%D%/test_report.log: $(report_scripts) %D%/suite.py %D%/made_scan.py docs/examples/scan.csv docs/examples/scalar.csv \
	docs/examples/summary.md docs/examples/report.html docs/examples/panels.html
%D%/test_report_browser.log: $(report_scripts) %D%/browsing.py %D%/suite.py %D%/made_scan.py
%D%/test_svmx_scan.log: $(report_scripts) %D%/suite.py %D%/made_scan.py
%D%/test_metrics.log: %D%/suite.py %D%/serving.py $(contrib_files)
%D%/test_profile_run.log: scripts/profile-run scripts/svmx_scan.py %D%/suite.py
%D%/test_trace_browser.log: $(report_scripts) %D%/browsing.py %D%/suite.py
%D%/test_dashboard.log: %D%/browsing.py %D%/suite.py %D%/serving.py
