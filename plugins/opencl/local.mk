# The OpenCL plugin: a module only, since it must be possible to go without libOpenCL. Its parts are an archive that unit
# tests link.

if BUILD_OPENCL
noinst_LTLIBRARIES += %D%/libopencl.la
%C%_libopencl_la_CPPFLAGS = $(public_cppflags) -Iplugins/kernels
%D%/plugin.lo %D%/libopencl_la-plugin.lo: plugins/kernels/hash.h
%C%_libopencl_la_SOURCES = \
	%D%/plugin.c %D%/opencl.h \
	%D%/describe.c \
	%D%/device.c \
	%D%/error.c \
	%D%/memory.c \
	%D%/pipeline.c \
	%D%/program.c \
	%D%/queue.c \
	%D%/shared.c \
	%D%/ticket.c
%C%_libopencl_la_LIBADD = plugins/kernels/libkernels.la $(OPENCL_LIBS) -lm

backend_LTLIBRARIES += %D%/opencl.la
%C%_opencl_la_SOURCES =
%C%_opencl_la_LIBADD = %D%/libopencl.la
%C%_opencl_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -no-undefined $(SVMX_DEFS_LDFLAGS)
endif
