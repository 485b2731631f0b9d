# Device code, shared by the plugins that run it. A new source is one line in kernel_sources.

kernel_sources = \
	%D%/chain.cl \
	%D%/common.cl \
	%D%/ecdsa.cl \
	%D%/ecrecover.cl \
	%D%/ed25519.cl \
	%D%/ed25519_rows.cl \
	%D%/eigh.cl \
	%D%/exp.cl \
	%D%/extremes.cl \
	%D%/fe32.cl \
	%D%/field.cl \
	%D%/field_lanes.cl \
	%D%/goldilocks.cl \
	%D%/grid.cl \
	%D%/keccak256.cl \
	%D%/lanes.cl \
	%D%/map.cl \
	%D%/matmul.cl \
	%D%/merkle.cl \
	%D%/messages.cl \
	%D%/rectify.cl \
	%D%/reduce.cl \
	%D%/scalar32.cl \
	%D%/secp256k1.cl \
	%D%/secp256k1_rows.cl \
	%D%/sha256.cl \
	%D%/sha512.cl \
	%D%/softmax.cl \
	%D%/sums.cl \
	%D%/transpose.cl \
	%D%/tree.cl \
	%D%/vec.cl \
	%D%/width.cl
EXTRA_DIST += $(kernel_sources) %D%/embed %D%/compile-spirv %D%/spirv-of %D%/list.c %D%/make-rows

if BUILD_DEVICE_CODE
noinst_LTLIBRARIES += %D%/libkernels.la
%C%_libkernels_la_CPPFLAGS = $(public_cppflags) -I$(srcdir)/%D%
%C%_libkernels_la_SOURCES = %D%/catalog.c %D%/catalog.h %D%/binary.c %D%/binary.h %D%/name.c %D%/name.h \
	%D%/opening.c %D%/opening.h %D%/pause.c %D%/pause.h %D%/recipe.c %D%/recipe.h %D%/say.h %D%/sharing.c %D%/sharing.h
nodist_%C%_libkernels_la_SOURCES = %D%/sources.c
%D%/sources.c: $(kernel_sources) %D%/embed
	$(AM_V_GEN)$(MKDIR_P) %D% && (cd $(srcdir) && $(SHELL) %D%/embed $(kernel_sources)) >$@-t && mv $@-t $@
# A number that changes with the device code: part of a plugin's version, so that nothing compiled from other code is used.
%D%/hash.h: $(kernel_sources) %D%/catalog.c
	$(AM_V_GEN)$(MKDIR_P) %D% && (cd $(srcdir) && cat $(kernel_sources) %D%/catalog.c) | cksum | \
	  sed 's/^\([0-9]*\) .*/#define KERNELS_HASH "\1"/' >$@-t && mv $@-t $@
BUILT_SOURCES += %D%/hash.h
CLEANFILES += %D%/sources.c %D%/sources.c-t %D%/hash.h %D%/hash.h-t
endif

# The same as SPIR-V. Part of the tarball, so that who builds from it needs no clang.
%D%/spirv.c: $(kernel_sources) %D%/catalog.c %D%/list.c %D%/compile-spirv %D%/spirv-of
	$(AM_V_GEN)$(MKDIR_P) %D% && CLANG='$(CLANG_CL)' LLVM_SPIRV='$(LLVM_SPIRV)' SPIRV_VAL='$(SPIRV_VAL)' \
	  CC_FOR_BUILD='$(CC_FOR_BUILD)' $(SHELL) $(srcdir)/%D%/compile-spirv $@
if HAVE_SPIRV
EXTRA_DIST += %D%/spirv.c
endif
MAINTAINERCLEANFILES = %D%/spirv.c
