libsvmx_core_la_SOURCES += \
	%D%/access.h \
	%D%/elements.h \
	%D%/example.c \
	%D%/exp_f32.c \
	%D%/extremes_f32.c \
	%D%/items.c %D%/items.h \
	%D%/keccak256.c \
	%D%/messages.c %D%/messages.h \
	%D%/op.h \
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
