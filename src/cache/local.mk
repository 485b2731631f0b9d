libsvmx_core_la_SOURCES += \
	%D%/binary_file.c %D%/binary_file.h \
	%D%/binary_list.c %D%/binary_list.h \
	%D%/binary_secret.c %D%/binary_secret.h \
	%D%/binary_store.c %D%/binary_store.h \
	%D%/folder.c %D%/folder.h \
	%D%/key.c %D%/key.h \
	%D%/layout_cache.c %D%/layout_cache.h \
	%D%/pipeline_cache.c %D%/pipeline_cache.h \
	%D%/profile_disk.c \
	%D%/profile_file.c %D%/profile_file.h \
	%D%/profile_parse.c \
	%D%/seal.c %D%/seal.h \
	%D%/staging_pool.c %D%/staging_pool.h
