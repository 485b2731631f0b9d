# libsvmx-metrics: an executor watched over HTTP. A library of its own, on libmicrohttpd; it sees the public headers only.
if BUILD_METRICS
lib_LTLIBRARIES += libsvmx-metrics.la
svmxinclude_HEADERS += include/svmx/metrics.h
pkgconfig_DATA += svmx-metrics.pc
libsvmx_metrics_la_SOURCES = \
	%D%/address.c \
	%D%/answer.c \
	%D%/body.c \
	%D%/server.c %D%/server.h
nodist_libsvmx_metrics_la_SOURCES = %D%/page.c
libsvmx_metrics_la_CPPFLAGS = $(public_cppflags) -I$(top_srcdir)/%D% $(MICROHTTPD_CFLAGS)
libsvmx_metrics_la_LIBADD = libsvmx.la $(MICROHTTPD_LIBS)
libsvmx_metrics_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -no-undefined $(SVMX_DEFS_LDFLAGS)
if HAVE_VERSION_SCRIPT
libsvmx_metrics_la_LDFLAGS += -Wl,--version-script=$(top_srcdir)/%D%/libsvmx-metrics.map
EXTRA_libsvmx_metrics_la_DEPENDENCIES = $(top_srcdir)/%D%/libsvmx-metrics.map
endif
endif
EXTRA_DIST += %D%/libsvmx-metrics.map

# The page. Part of the tarball, so that who builds from it needs no Chart.js.
dashboard_pieces = \
	%D%/page/charts.js \
	%D%/page/dashboard.css \
	%D%/page/dashboard.html \
	%D%/page/dashboard.js \
	%D%/page/embed
EXTRA_DIST += $(dashboard_pieces)
%D%/page.c: $(dashboard_pieces) scripts/report/page.html scripts/report/chart.html \
		scripts/report/page.css scripts/report/common.js
	$(AM_V_GEN)$(MKDIR_P) %D% && $(SHELL) $(srcdir)/%D%/page/embed $(srcdir) '$(CHART_JS)' >$@-t && mv $@-t $@
if HAVE_DASHBOARD
EXTRA_DIST += %D%/page.c
endif
CLEANFILES += %D%/page.c-t
MAINTAINERCLEANFILES += %D%/page.c
