# The SIMD plugin. One library an instruction set, each with its own flags, so that nothing of AVX leaks into what runs
# on every machine: common code, which decides what may run, must not use what it has not yet found.

if BUILD_SIMD
noinst_LTLIBRARIES += %D%/libsimd-common.la
simd_parts = %D%/libsimd-common.la
%C%_libsimd_common_la_CPPFLAGS = $(public_cppflags) -I%D% $(SECP256K1_CFLAGS) $(SODIUM_CFLAGS) $(HWLOC_CFLAGS)
%C%_libsimd_common_la_LIBADD = $(SECP256K1_LIBS) $(SODIUM_LIBS) $(HWLOC_LIBS) -lm
%C%_libsimd_common_la_SOURCES = \
	%D%/plugin.c \
	%D%/variant.c %D%/variant.h \
	%D%/near.c %D%/near.h \
	%D%/pool.c %D%/pool.h \
	%D%/chain.c %D%/chain.h \
	%D%/hosted.c %D%/hosted.h \
	%D%/kernel.h %D%/kernels.h %D%/tasks.h \
	%D%/f32_scalar.c %D%/f32.h %D%/lanes_f32_scalar.h %D%/lanes_f32_avx2.h %D%/lanes_f32_avx512.h \
	%D%/f64_scalar.c %D%/f64.h %D%/lanes_f64_scalar.h %D%/lanes_f64_avx2.h %D%/lanes_f64_avx512.h \
	%D%/map.h %D%/map_pack.h %D%/pack.h %D%/reduce.h %D%/recipe_f32.h %D%/softmax_f32.h \
	%D%/field_scalar.c %D%/field.h %D%/field_spare.h %D%/field_lanes.h \
	%D%/goldilocks_scalar.c %D%/goldilocks.h \
	%D%/sha256_scalar.c %D%/sha256.h \
	%D%/keccak256_scalar.c %D%/keccak256.h \
	%D%/hash_lanes.h %D%/hash_group.h %D%/transpose_avx512.h \
	%D%/signatures.h %D%/fe52.h %D%/scalar52.h %D%/secp256k1_lanes.h %D%/secp256k1_group.h \
	%D%/secp256k1_stage.h \
	%D%/ed25519_lanes.h \
	%D%/merkle.c \
	%D%/grid.c \
	%D%/eigh_scalar.c %D%/eigh.h \
	%D%/matmul_scalar.c %D%/matmul.h
if HAVE_SECP256K1
%C%_libsimd_common_la_SOURCES += %D%/signatures_secp256k1.c
endif
if HAVE_SODIUM
%C%_libsimd_common_la_SOURCES += %D%/signatures_ed25519.c
endif

if BUILD_SIMD_X86
simd_isas = %D%/libsimd-avx2.la %D%/libsimd-avx2-lanes.la %D%/libsimd-avx512.la %D%/libsimd-avx512-lanes.la \
	%D%/libsimd-ifma.la %D%/libsimd-shani.la
noinst_LTLIBRARIES += $(simd_isas)
simd_parts += $(simd_isas)
%C%_libsimd_avx2_la_CFLAGS = $(AM_CFLAGS) $(SVMX_AVX2_CFLAGS) $(SVMX_KERNEL_CFLAGS)
%C%_libsimd_avx2_la_CPPFLAGS = $(public_cppflags)
%C%_libsimd_avx2_la_SOURCES = \
	%D%/eigh_avx2.c \
	%D%/f32_avx2.c \
	%D%/f64_avx2.c \
	%D%/field_avx2.c \
	%D%/goldilocks_avx2.c \
	%D%/matmul_avx2.c
%C%_libsimd_avx2_lanes_la_CFLAGS = $(AM_CFLAGS) $(SVMX_AVX2_CFLAGS) $(SVMX_KERNEL_CFLAGS) $(SVMX_LANES_CFLAGS)
%C%_libsimd_avx2_lanes_la_CPPFLAGS = $(public_cppflags)
%C%_libsimd_avx2_lanes_la_SOURCES = \
	%D%/sha256_avx2.c \
	%D%/keccak256_avx2.c
%C%_libsimd_avx512_la_CFLAGS = $(AM_CFLAGS) $(SVMX_AVX512_CFLAGS) $(SVMX_KERNEL_CFLAGS)
%C%_libsimd_avx512_la_CPPFLAGS = $(public_cppflags)
%C%_libsimd_avx512_la_SOURCES = \
	%D%/eigh_avx512.c \
	%D%/f32_avx512.c \
	%D%/f64_avx512.c \
	%D%/field_avx512.c \
	%D%/goldilocks_avx512.c \
	%D%/matmul_avx512.c
%C%_libsimd_avx512_lanes_la_CFLAGS = $(AM_CFLAGS) $(SVMX_AVX512_CFLAGS) $(SVMX_KERNEL_CFLAGS) $(SVMX_LANES_CFLAGS)
%C%_libsimd_avx512_lanes_la_CPPFLAGS = $(public_cppflags)
%C%_libsimd_avx512_lanes_la_SOURCES = \
	%D%/sha256_avx512.c \
	%D%/keccak256_avx512.c
%C%_libsimd_ifma_la_CFLAGS = $(AM_CFLAGS) $(SVMX_IFMA_CFLAGS) $(SVMX_KERNEL_CFLAGS)
%C%_libsimd_ifma_la_CPPFLAGS = $(public_cppflags)
%C%_libsimd_ifma_la_SOURCES = \
	%D%/field_ifma.c
if HAVE_SECP256K1
%C%_libsimd_ifma_la_CPPFLAGS += $(SECP256K1_CFLAGS)
%C%_libsimd_ifma_la_SOURCES += \
	%D%/ecrecover_ifma.c \
	%D%/ecdsa_ifma.c \
	%D%/secp256k1_field_ifma.c \
	%D%/secp256k1_point_ifma.c \
	%D%/secp256k1_scalar_ifma.c \
	%D%/secp256k1_table_ifma.c
endif
if HAVE_SODIUM
%C%_libsimd_ifma_la_CPPFLAGS += $(SODIUM_CFLAGS)
%C%_libsimd_ifma_la_SOURCES += \
	%D%/ed25519_ifma.c \
	%D%/ed25519_field_ifma.c \
	%D%/ed25519_hash_ifma.c \
	%D%/ed25519_point_ifma.c \
	%D%/ed25519_scalar_ifma.c
endif
%C%_libsimd_shani_la_CFLAGS = $(AM_CFLAGS) $(SVMX_SHANI_CFLAGS) $(SVMX_KERNEL_CFLAGS)
%C%_libsimd_shani_la_CPPFLAGS = $(public_cppflags)
%C%_libsimd_shani_la_SOURCES = \
	%D%/sha256_shani.c
endif

# A number that changes with the kernels: part of the plugin's version, so that what was measured of other code is not believed.
simd_sources = $(%C%_libsimd_common_la_SOURCES) \
	$(%C%_libsimd_avx2_la_SOURCES) \
	$(%C%_libsimd_avx2_lanes_la_SOURCES) \
	$(%C%_libsimd_avx512_la_SOURCES) \
	$(%C%_libsimd_avx512_lanes_la_SOURCES) \
	$(%C%_libsimd_ifma_la_SOURCES) \
	$(%C%_libsimd_shani_la_SOURCES)
%D%/sources_hash.h: $(simd_sources)
	$(AM_V_GEN)$(MKDIR_P) %D% && (cd $(srcdir) && cat $(simd_sources)) | cksum | \
	  sed 's/^\([0-9]*\) .*/#define SIMD_HASH "\1"/' >$@-t && mv $@-t $@
%D%/plugin.lo %D%/libsimd_common_la-plugin.lo: %D%/sources_hash.h
BUILT_SOURCES += %D%/sources_hash.h
CLEANFILES += %D%/sources_hash.h %D%/sources_hash.h-t

if HAVE_SHARED
backend_LTLIBRARIES += %D%/simd.la
%C%_simd_la_SOURCES =
%C%_simd_la_LIBADD = $(simd_parts)
%C%_simd_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -no-undefined $(SVMX_DEFS_LDFLAGS)
endif
endif
