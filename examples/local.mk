# Compiled with every `make check` against the headers that embedders see, and run by tests/build/examples.sh.
example_programs = %D%/chain %D%/embed %D%/grid-objects %D%/scf
check_PROGRAMS += $(example_programs)
%C%_chain_CPPFLAGS = $(public_cppflags)
%C%_chain_LDADD = libsvmx.la
%C%_embed_CPPFLAGS = $(public_cppflags)
%C%_embed_LDADD = libsvmx.la
%C%_grid_objects_CPPFLAGS = $(public_cppflags)
%C%_grid_objects_LDADD = libsvmx.la
%C%_scf_CPPFLAGS = $(public_cppflags)
%C%_scf_LDADD = libsvmx.la

# From other languages: compiled and run by tests/build/embedding.sh.
EXTRA_DIST += %D%/embed.cpp %D%/embed.py

if HAVE_SHARED
check_LTLIBRARIES += %D%/template-plugin/template.la
%C%_template_plugin_template_la_CPPFLAGS = $(public_cppflags)
%C%_template_plugin_template_la_LDFLAGS = $(driver_ldflags)
endif
