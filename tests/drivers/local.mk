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
EXTRA_LTLIBRARIES += %D%/opencl/layer.la
opencl_layer = %D%/opencl/layer.la
%C%_opencl_layer_la_LDFLAGS = $(driver_ldflags)
CLEANFILES += %D%/opencl/layer.la
endif
EXTRA_DIST += %D%/plugins/abi_1_0/plugin.h %D%/plugins/abi_1_0/types.h %D%/plugins/check_look.h %D%/plugins/check_script.h %D%/plugins/check_state.h
