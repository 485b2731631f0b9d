# The SIMD plugin. One library an instruction set, each with its own flags, so that nothing of AVX leaks into what runs
# on every machine: common code, which decides what may run, must not use what it has not yet found.

if BUILD_SIMD
noinst_LTLIBRARIES += %D%/libsimd-common.la
simd_parts = %D%/libsimd-common.la
%C%_libsimd_common_la_CPPFLAGS = $(public_cppflags)
%C%_libsimd_common_la_SOURCES = \
	%D%/plugin.c \
	%D%/variant.c %D%/variant.h \
	%D%/pool.c %D%/pool.h \
	%D%/kernel.h %D%/kernels.h %D%/tasks.h \
	%D%/vec_scalar.c %D%/vec.h \
	%D%/reduce_scalar.c %D%/reduce.h \
	%D%/sha256_scalar.c %D%/sha256.h \
	%D%/keccak256_scalar.c %D%/keccak256.h \
	%D%/hash_lanes.h %D%/hash_group.h

if BUILD_SIMD_X86
simd_isas = %D%/libsimd-avx2.la %D%/libsimd-avx2-lanes.la %D%/libsimd-avx512.la %D%/libsimd-avx512-lanes.la \
	%D%/libsimd-shani.la
noinst_LTLIBRARIES += $(simd_isas)
simd_parts += $(simd_isas)
%C%_libsimd_avx2_la_CFLAGS = $(AM_CFLAGS) $(SVMX_AVX2_CFLAGS)
%C%_libsimd_avx2_la_CPPFLAGS = $(public_cppflags)
%C%_libsimd_avx2_la_SOURCES = \
	%D%/vec_avx2.c \
	%D%/reduce_avx2.c
%C%_libsimd_avx2_lanes_la_CFLAGS = $(AM_CFLAGS) $(SVMX_AVX2_CFLAGS) $(SVMX_LANES_CFLAGS)
%C%_libsimd_avx2_lanes_la_CPPFLAGS = $(public_cppflags)
%C%_libsimd_avx2_lanes_la_SOURCES = \
	%D%/sha256_avx2.c \
	%D%/keccak256_avx2.c
%C%_libsimd_avx512_la_CFLAGS = $(AM_CFLAGS) $(SVMX_AVX512_CFLAGS)
%C%_libsimd_avx512_la_CPPFLAGS = $(public_cppflags)
%C%_libsimd_avx512_la_SOURCES = \
	%D%/vec_avx512.c \
	%D%/reduce_avx512.c
%C%_libsimd_avx512_lanes_la_CFLAGS = $(AM_CFLAGS) $(SVMX_AVX512_CFLAGS) $(SVMX_LANES_CFLAGS)
%C%_libsimd_avx512_lanes_la_CPPFLAGS = $(public_cppflags)
%C%_libsimd_avx512_lanes_la_SOURCES = \
	%D%/sha256_avx512.c \
	%D%/keccak256_avx512.c
%C%_libsimd_shani_la_CFLAGS = $(AM_CFLAGS) $(SVMX_SHANI_CFLAGS)
%C%_libsimd_shani_la_CPPFLAGS = $(public_cppflags)
%C%_libsimd_shani_la_SOURCES = \
	%D%/sha256_shani.c
endif

if HAVE_SHARED
backend_LTLIBRARIES += %D%/simd.la
%C%_simd_la_SOURCES =
%C%_simd_la_LIBADD = $(simd_parts)
%C%_simd_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -no-undefined $(SVMX_DEFS_LDFLAGS)
endif
endif
