libsvmx_core_la_SOURCES += \
	%D%/abi.h \
	%D%/elf.c %D%/elf.h \
	%D%/isolated.c %D%/isolated.h \
	%D%/loader.c %D%/loader.h \
	%D%/registry.c %D%/registry.h \
	%D%/selection.c %D%/selection.h \
	%D%/watched.c %D%/watched.h
