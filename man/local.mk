dist_man_MANS += \
	%D%/svmx-plugin.7 \
	%D%/svmx-metrics.3 \
	%D%/svmx.1 \
	%D%/svmx.3 \
	%D%/svmx.7
