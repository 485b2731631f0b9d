libsvmx_core_la_SOURCES += \
	%D%/access.h \
	%D%/chain_f32.c %D%/chain_f32.h \
	%D%/custom.c %D%/custom.h \
	%D%/eigh_f64.c \
	%D%/elements.h \
	%D%/example.c \
	%D%/exp_f32.c \
	%D%/extremes_f32.c \
	%D%/field.c %D%/field.h \
	%D%/field_u256.c %D%/field_u256_known.h \
	%D%/field_u384.c %D%/field_u384_known.h \
	%D%/goldilocks.c \
	%D%/grid_u8.c \
	%D%/items.c %D%/items.h \
	%D%/keccak256.c \
	%D%/matmul_f32.c %D%/matmul_f32_known.h \
	%D%/merkle.c %D%/merkle.h \
	%D%/messages.c %D%/messages.h \
	%D%/op.h \
	%D%/operations.c %D%/operations.h \
	%D%/recipe_f32.h \
	%D%/rectify_f32.c \
	%D%/reduce_f32.c \
	%D%/reduce_f64.c \
	%D%/reference.c \
	%D%/sha256.c \
	%D%/softmax_f32.c \
	%D%/table.c \
	%D%/tree.c %D%/tree.h \
	%D%/vec_f32.c \
	%D%/vec_f64.c
if HAVE_SECP256K1
libsvmx_core_la_SOURCES += %D%/ecdsa.c %D%/ecrecover.c %D%/secp256k1_example.c %D%/secp256k1_example.h
endif
if HAVE_SODIUM
libsvmx_core_la_SOURCES += %D%/ed25519.c
endif
