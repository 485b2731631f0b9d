# The Level Zero plugin: a module only, since it must be possible to go without libze_loader. Its parts are an archive that
# unit tests link.

if BUILD_LEVELZERO
noinst_LTLIBRARIES += %D%/liblevelzero.la
%C%_liblevelzero_la_CPPFLAGS = $(public_cppflags) -Iplugins/kernels -I$(srcdir)/plugins/kernels
%D%/plugin.lo %D%/liblevelzero_la-plugin.lo: plugins/kernels/hash.h
%C%_liblevelzero_la_SOURCES = \
	%D%/plugin.c %D%/levelzero.h \
	%D%/describe.c \
	%D%/device.c \
	%D%/error.c \
	%D%/event.c \
	%D%/memory.c \
	%D%/newer.c %D%/newer.h \
	%D%/pipeline.c \
	%D%/program.c \
	%D%/queue.c \
	%D%/ticket.c
nodist_%C%_liblevelzero_la_SOURCES = plugins/kernels/spirv.c
%C%_liblevelzero_la_LIBADD = plugins/kernels/libkernels.la $(LEVELZERO_LIBS) -lm

backend_LTLIBRARIES += %D%/levelzero.la
%C%_levelzero_la_SOURCES =
%C%_levelzero_la_LIBADD = %D%/liblevelzero.la
%C%_levelzero_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -no-undefined $(SVMX_DEFS_LDFLAGS)
endif
