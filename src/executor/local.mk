libsvmx_core_la_SOURCES += \
	%D%/arena.c %D%/arena.h \
	%D%/ask.c %D%/ask.h \
	%D%/bandwidth.c \
	%D%/batch.c %D%/batch.h \
	%D%/bucket.c \
	%D%/buffer.c %D%/buffer.h \
	%D%/builder.c \
	%D%/building.h \
	%D%/cached.c \
	%D%/cell.c %D%/cell.h \
	%D%/chain.c %D%/chain.h \
	%D%/choice.c %D%/choice.h \
	%D%/collect.c \
	%D%/compare.c \
	%D%/completion.c \
	%D%/contention.c \
	%D%/config.c %D%/config.h \
	%D%/copy.c \
	%D%/curve.h \
	%D%/curves.c \
	%D%/cut.c %D%/cut.h \
	%D%/deadline.c \
	%D%/device.c \
	%D%/dispatch.c \
	%D%/examples.c \
	%D%/executor.c %D%/executor.h \
	%D%/explain.c \
	%D%/gather.c %D%/gather.h \
	%D%/guard.c \
	%D%/health.c %D%/health.h \
	%D%/host.c \
	%D%/infer.c \
	%D%/inspect.c \
	%D%/kept.c \
	%D%/lay.c %D%/lay.h \
	%D%/learn.c \
	%D%/life.c \
	%D%/line.h \
	%D%/log_read.c %D%/log_read.h \
	%D%/loop.c %D%/loop.h \
	%D%/loop_plan.c \
	%D%/min_bucket.c \
	%D%/model.c %D%/model.h \
	%D%/order.c %D%/order.h \
	%D%/pipeline.c \
	%D%/policy.c \
	%D%/pressure.c \
	%D%/prewarm.c \
	%D%/prepare.c \
	%D%/profile.c \
	%D%/profiled.c \
	%D%/publish.c \
	%D%/quarantine.c \
	%D%/receipt.c \
	%D%/receipt_json.c \
	%D%/record.c %D%/record.h \
	%D%/recorded.c \
	%D%/post.c %D%/post.h \
	%D%/recovery.c \
	%D%/register.c \
	%D%/replay.c \
	%D%/results.c \
	%D%/route.c \
	%D%/selftest.c \
	%D%/slices.c \
	%D%/split.c \
	%D%/spread.c %D%/spread.h \
	%D%/stage.c \
	%D%/stages.h \
	%D%/stats_folder.c \
	%D%/stats_json.c \
	%D%/stats_prometheus.c \
	%D%/stats_text.c %D%/stats_text.h \
	%D%/stretch.c %D%/stretch.h \
	%D%/stretch_commands.c \
	%D%/stretch_place.c %D%/stretch_place.h \
	%D%/stretch_runs.c \
	%D%/submit.c \
	%D%/sweep.c %D%/sweep.h \
	%D%/tally.c %D%/tally.h \
	%D%/trial.c \
	%D%/verify.c \
	%D%/wants.c %D%/wants.h \
	%D%/weigh.c \
	%D%/window.c %D%/window.h \
	%D%/words.c %D%/words.h
