# The command. It sees the public headers only.
bin_PROGRAMS += svmx
svmx_CPPFLAGS = $(public_cppflags)
svmx_LDADD = libsvmx.la -lm
if BUILD_METRICS
svmx_CPPFLAGS += -DSVMX_HAVE_METRICS
svmx_LDADD += libsvmx-metrics.la
endif
svmx_SOURCES = \
	%D%/answer.c \
	%D%/args.c %D%/args.h \
	%D%/cmd_bandwidth.c \
	%D%/cmd_cache.c \
	%D%/cmd_config.c \
	%D%/cmd_conform.c \
	%D%/cmd_devices.c \
	%D%/cmd_explain.c \
	%D%/cmd_ops.c \
	%D%/cmd_profile.c \
	%D%/cmd_replay.c \
	%D%/cmd_scan.c \
	%D%/cmd_run.c \
	%D%/cmd_serve.c \
	%D%/cmd_stats.c \
	%D%/cmd_top.c \
	%D%/cmd_trace.c \
	%D%/cmd_tune.c \
	%D%/command.h \
	%D%/conform.h \
	%D%/conform_op.c \
	%D%/conform_report.c \
	%D%/demo.c %D%/demo.h \
	%D%/devices.h \
	%D%/devices_probe.c \
	%D%/devices_words.c \
	%D%/help.c %D%/help.h \
	%D%/hex.c %D%/hex.h \
	%D%/items.c %D%/items.h \
	%D%/json.c %D%/json.h \
	%D%/lines.c %D%/lines.h \
	%D%/load.c %D%/load.h \
	%D%/log.c %D%/log.h \
	%D%/main.c \
	%D%/outputs.c %D%/outputs.h \
	%D%/plot_svg.c \
	%D%/plot_text.c \
	%D%/profile.h \
	%D%/profile_curves.c \
	%D%/profile_view.c \
	%D%/run.h \
	%D%/run_example.c \
	%D%/run_receipts.c \
	%D%/run_report.c \
	%D%/run_shadow.c \
	%D%/run_stdin.c \
	%D%/samples.c %D%/samples.h \
	%D%/scan.h \
	%D%/scan_cells.c \
	%D%/scan_crossover.c \
	%D%/scan_csv.c \
	%D%/scan_json.c \
	%D%/scan_measure.c \
	%D%/scan_options.c \
	%D%/scan_plan.c \
	%D%/scan_progress.c \
	%D%/scan_side.c \
	%D%/scan_stats.c \
	%D%/scan_stop.c \
	%D%/scan_task.c \
	%D%/session.c %D%/session.h \
	%D%/table.c %D%/table.h \
	%D%/text.c %D%/text.h \
	%D%/top.h \
	%D%/top_more.c \
	%D%/top_source.c \
	%D%/top_view.c \
	%D%/trace.h \
	%D%/trace_events.c \
	%D%/trial.h \
	%D%/wild.c %D%/wild.h
