libsvmx_core_la_SOURCES += \
	%D%/calls.h \
	%D%/channel.c %D%/channel.h \
	%D%/drivers.c %D%/drivers.h \
	%D%/helper.c %D%/helper.h \
	%D%/probe.c %D%/probe.h \
	%D%/proxy.c %D%/proxy.h %D%/proxy_state.h \
	%D%/proxy_submit.c \
	%D%/wire.c %D%/wire.h

# The program that runs a plugin for a proxy, installed beside the plugins. It has the core linked in: the loader, and the
# reference code for the upcall.
if HAVE_SHARED
backend_PROGRAMS += svmx-host
svmx_host_SOURCES = \
	%D%/host.c %D%/host.h \
	%D%/host_calls.c \
	%D%/host_open.c \
	%D%/host_submit.c
svmx_host_LDADD = libsvmx-core.la
endif
