libsvmx_core_la_SOURCES += \
	%D%/alloc.c %D%/alloc.h \
	%D%/aside.c %D%/aside.h \
	%D%/clock.c %D%/clock.h \
	%D%/fork.c %D%/fork.h \
	%D%/json_read.c %D%/json_read.h \
	%D%/log.c %D%/log.h \
	%D%/near.c %D%/near.h \
	%D%/out.c %D%/out.h \
	%D%/queue.c %D%/queue.h \
	%D%/sketch.c %D%/sketch.h \
	%D%/spin.c %D%/spin.h \
	%D%/status.c \
	%D%/team.c %D%/team.h \
	%D%/text.c %D%/text.h \
	%D%/turns.c %D%/turns.h \
	%D%/versioned.h
