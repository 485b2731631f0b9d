libsvmx_core_la_SOURCES += \
	%D%/batch.c %D%/batch.h \
	%D%/bucket.c \
	%D%/collect.c \
	%D%/completion.c \
	%D%/config.c %D%/config.h \
	%D%/device.c \
	%D%/dispatch.c \
	%D%/examples.c \
	%D%/executor.c %D%/executor.h \
	%D%/host.c \
	%D%/inspect.c \
	%D%/learn.c \
	%D%/pipeline.c \
	%D%/prepare.c \
	%D%/receipt.c \
	%D%/route.c \
	%D%/selftest.c \
	%D%/stage.c \
	%D%/stages.h \
	%D%/submit.c
