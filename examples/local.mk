# Compiled with every `make check` against the headers that embedders see, and run by tests/build/examples.sh.
check_PROGRAMS += %D%/embed
%C%_embed_CPPFLAGS = $(public_cppflags)
%C%_embed_LDADD = libsvmx.la
