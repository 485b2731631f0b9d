# The sim plugin: a device that keeps the clock of a modelled GPU. The model is an archive of its own, which tests and
# benchmarks in virtual time link; the texts of the models that are shipped are compiled in, and installed to be read and
# copied. A new model is one line in sim_models.

sim_models = \
	%D%/models/dx12-laptop.model \
	%D%/models/integrated.model \
	%D%/models/pcie4-discrete.model \
	%D%/models/rtx4070-tiny.model \
	%D%/models/rtx4090-wgpu.model
EXTRA_DIST += $(sim_models) %D%/embed

noinst_LTLIBRARIES += %D%/libsim-model.la
%C%_libsim_model_la_CPPFLAGS = $(public_cppflags) -I$(srcdir)/%D%
%C%_libsim_model_la_SOURCES = \
	%D%/model.c %D%/model.h \
	%D%/parse.c \
	%D%/scan.c %D%/scan.h
nodist_%C%_libsim_model_la_SOURCES = %D%/models.c
%C%_libsim_model_la_LIBADD = -lm
%D%/models.c: $(sim_models) %D%/embed
	$(AM_V_GEN)$(MKDIR_P) %D% && (cd $(srcdir) && $(SHELL) %D%/embed $(sim_models)) >$@-t && mv $@-t $@
CLEANFILES += %D%/models.c %D%/models.c-t

if BUILD_SIM
simmodeldir = $(pkgdatadir)/models
simmodel_DATA = $(sim_models)

noinst_LTLIBRARIES += %D%/libsim.la
%C%_libsim_la_CPPFLAGS = $(public_cppflags)
%C%_libsim_la_SOURCES = \
	%D%/plugin.c %D%/sim.h \
	%D%/device.c \
	%D%/memory.c \
	%D%/queue.c \
	%D%/worker.c
%C%_libsim_la_LIBADD = %D%/libsim-model.la

backend_LTLIBRARIES += %D%/sim.la
%C%_sim_la_SOURCES =
%C%_sim_la_LIBADD = %D%/libsim.la
%C%_sim_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -no-undefined $(SVMX_DEFS_LDFLAGS)
endif
