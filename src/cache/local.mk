libsvmx_core_la_SOURCES += \
	%D%/key.c %D%/key.h \
	%D%/layout_cache.c %D%/layout_cache.h \
	%D%/pipeline_cache.c %D%/pipeline_cache.h \
	%D%/staging_pool.c %D%/staging_pool.h
