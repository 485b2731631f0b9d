# Check-only plugins, each a module in test-backends/, never installed. libtool makes a shared object only of a module
# that has a place to be installed in: hence -rpath, which is not used.
driver_ldflags = $(AM_LDFLAGS) -module -avoid-version -shared -no-undefined $(SVMX_DEFS_LDFLAGS) -rpath /nowhere

if HAVE_SHARED
check_LTLIBRARIES += \
	%D%/plugins/bad_abi.la \
	%D%/plugins/check.la \
	%D%/plugins/constructor.la \
	%D%/plugins/first_abi.la \
	%D%/plugins/holes.la \
	%D%/plugins/no_symbol.la \
	%D%/plugins/open_fails.la \
	%D%/plugins/open_unsupported.la \
	%D%/plugins/wrong_name.la
%C%_plugins_bad_abi_la_LDFLAGS = $(driver_ldflags)
%C%_plugins_check_la_LDFLAGS = $(driver_ldflags)
%C%_plugins_constructor_la_LDFLAGS = $(driver_ldflags)
%C%_plugins_first_abi_la_LDFLAGS = $(driver_ldflags)
%C%_plugins_holes_la_LDFLAGS = $(driver_ldflags)
%C%_plugins_no_symbol_la_LDFLAGS = $(driver_ldflags)
%C%_plugins_open_fails_la_LDFLAGS = $(driver_ldflags)
%C%_plugins_open_unsupported_la_LDFLAGS = $(driver_ldflags)
%C%_plugins_wrong_name_la_LDFLAGS = $(driver_ldflags)
endif

# No plugin but a layer between the loader of OpenCL and a driver, so not in test-backends/.
if BUILD_OPENCL
EXTRA_LTLIBRARIES += %D%/cl_fault/layer.la
opencl_layer = %D%/cl_fault/layer.la
%C%_cl_fault_layer_la_SOURCES = %D%/cl_fault/alive.c %D%/cl_fault/harm.c %D%/cl_fault/layer.c %D%/cl_fault/layer.h \
	%D%/cl_fault/oclgrind.c
%C%_cl_fault_layer_la_LDFLAGS = $(driver_ldflags)
CLEANFILES += %D%/cl_fault/layer.la
endif
EXTRA_DIST += %D%/cl_fault/use.h
EXTRA_DIST += %D%/plugins/abi_1_0/plugin.h %D%/plugins/abi_1_0/types.h %D%/plugins/check_look.h %D%/plugins/check_script.h %D%/plugins/check_state.h

# The Level Zero driver for tests, twice: for the real loader, and as a stand-in for it (see its README.md). It must stay
# when the loader lets go of it: what it reports at the end is in its memory.
if BUILD_ZE_CPU
EXTRA_LTLIBRARIES += %D%/ze_cpu/libze_cpu.la %D%/ze_cpu/ze_cpu.la %D%/ze_cpu/ze_loader.la
%C%_ze_cpu_libze_cpu_la_SOURCES = \
	%D%/ze_cpu/append.c \
	%D%/ze_cpu/calls.c \
	%D%/ze_cpu/clock.c \
	%D%/ze_cpu/context.c \
	%D%/ze_cpu/ddi.c \
	%D%/ze_cpu/device.c \
	%D%/ze_cpu/driver.c \
	%D%/ze_cpu/engine.c \
	%D%/ze_cpu/event.c \
	%D%/ze_cpu/hazard.c \
	%D%/ze_cpu/kernel.c \
	%D%/ze_cpu/list.c \
	%D%/ze_cpu/memory.c \
	%D%/ze_cpu/module.c \
	%D%/ze_cpu/content.h %D%/ze_cpu/newer.h %D%/ze_cpu/use.h \
	%D%/ze_cpu/object.c \
	%D%/ze_cpu/queue.c \
	%D%/ze_cpu/report.c \
	%D%/ze_cpu/run.c \
	%D%/ze_cpu/settings.c \
	%D%/ze_cpu/spirv.c \
	%D%/ze_cpu/translate.c \
	%D%/ze_cpu/worker.c \
	%D%/ze_cpu/ze_cpu.h
%C%_ze_cpu_ze_cpu_la_SOURCES =
%C%_ze_cpu_ze_cpu_la_LIBADD = %D%/ze_cpu/libze_cpu.la
%C%_ze_cpu_ze_cpu_la_LDFLAGS = $(driver_ldflags) -Wl,-z,nodelete -export-symbols-regex '^ze[st]*Get.*ProcAddrTable$$'
%C%_ze_cpu_ze_loader_la_SOURCES = %D%/ze_cpu/loader.c
%C%_ze_cpu_ze_loader_la_LIBADD = %D%/ze_cpu/libze_cpu.la
%C%_ze_cpu_ze_loader_la_LDFLAGS = $(driver_ldflags) -Wl,-z,nodelete -export-symbols-regex '^ze[A-Zl]'

ze_cpu_driver = %D%/ze_cpu/ze_cpu.so %D%/ze_cpu/loader/libze_loader.so.1
%D%/ze_cpu/ze_cpu.so: %D%/ze_cpu/ze_cpu.la
	$(AM_V_GEN)cp %D%/ze_cpu/$(SVMX_OBJDIR)/ze_cpu.so $@
%D%/ze_cpu/loader/libze_loader.so.1: %D%/ze_cpu/ze_loader.la
	$(AM_V_GEN)$(MKDIR_P) %D%/ze_cpu/loader && cp %D%/ze_cpu/$(SVMX_OBJDIR)/ze_loader.so $@

# Its own suite.
shell_suites += %D%/ze_cpu/ze_cpu.sh
check_PROGRAMS += %D%/ze_cpu/client
%C%_ze_cpu_client_SOURCES = %D%/ze_cpu/client.c %D%/ze_cpu/client.h %D%/ze_cpu/client_work.c %D%/ze_cpu/client_wrong.c
%C%_ze_cpu_client_LDADD = $(LEVELZERO_LIBS)
CLEANFILES += $(ze_cpu_driver) %D%/ze_cpu/libze_cpu.la %D%/ze_cpu/ze_cpu.la %D%/ze_cpu/ze_loader.la
endif
EXTRA_DIST += %D%/ze_cpu/README.md %D%/ze_cpu/translate-once %D%/ze_cpu/client.cl %D%/ze_cpu/client_constant.spvasm %D%/ze_cpu/client_fp64.cl \
	%D%/ze_cpu/ze_cpu.sh
