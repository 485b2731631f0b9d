libsvmx_core_la_SOURCES += \
	%D%/batch.c %D%/batch.h \
	%D%/bucket.c \
	%D%/collect.c \
	%D%/completion.c \
	%D%/config.c %D%/config.h \
	%D%/dispatch.c \
	%D%/executor.h \
	%D%/host.c \
	%D%/learn.c \
	%D%/pipeline.c \
	%D%/prepare.c \
	%D%/receipt.c \
	%D%/route.c \
	%D%/selftest.c \
	%D%/stage.c \
	%D%/stages.h \
	%D%/submit.c
