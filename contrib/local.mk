# For those who watch executors; read by people and by suites, installed by nobody.
contrib_files = \
	%D%/README.md \
	%D%/grafana/svmx.json \
	%D%/prometheus/prometheus.yml \
	%D%/prometheus/svmx-alerts.test.yml \
	%D%/prometheus/svmx-alerts.yml \
	%D%/systemd/svmx-demo.service
EXTRA_DIST += $(contrib_files)
