criterion_suites += %D%/contract
%C%_contract_SOURCES = %D%/contract.c %D%/compare.c %D%/compare.h %D%/tasks.c %D%/tasks.h src/cli/wild.c src/cli/wild.h
%C%_contract_LDADD = libsvmx.la $(CRITERION_LIBS)

criterion_suites += %D%/shuffled
%C%_shuffled_SOURCES = %D%/shuffled.c %D%/compare.c %D%/compare.h %D%/tasks.c %D%/tasks.h src/cli/wild.c src/cli/wild.h
%C%_shuffled_LDADD = libsvmx.la $(CRITERION_LIBS)

criterion_suites += %D%/chains
%C%_chains_SOURCES = %D%/chains.c %D%/runs.c %D%/runs.h %D%/compare.c %D%/compare.h %D%/tasks.c %D%/tasks.h src/cli/wild.c src/cli/wild.h
%C%_chains_LDADD = libsvmx.la $(CRITERION_LIBS)

if BUILD_OPENCL
on_opencl_sources = %D%/on_opencl.c %D%/on_opencl.h %D%/compare.c %D%/compare.h %D%/tasks.c %D%/tasks.h src/cli/wild.c \
	src/cli/wild.h
on_opencl_libraries = libsvmx.la plugins/kernels/libkernels.la $(CRITERION_LIBS)
criterion_suites += %D%/opencl_pocl
%C%_opencl_pocl_SOURCES = %D%/opencl_pocl.c %D%/on_variants.c $(on_opencl_sources)
%C%_opencl_pocl_LDADD = $(on_opencl_libraries)
criterion_suites += %D%/opencl_rusticl
%C%_opencl_rusticl_SOURCES = %D%/opencl_rusticl.c $(on_opencl_sources)
%C%_opencl_rusticl_LDADD = $(on_opencl_libraries)
criterion_suites += %D%/opencl_oclgrind
%C%_opencl_oclgrind_SOURCES = %D%/opencl_oclgrind.c $(on_opencl_sources)
%C%_opencl_oclgrind_LDADD = $(on_opencl_libraries)
criterion_suites += %D%/opencl_local
%C%_opencl_local_SOURCES = %D%/opencl_local.c
%C%_opencl_local_LDADD = libsvmx.la plugins/kernels/libkernels.la $(CRITERION_LIBS)
criterion_suites += %D%/opencl_others
%C%_opencl_others_SOURCES = %D%/opencl_others.c $(on_opencl_sources)
%C%_opencl_others_LDADD = $(on_opencl_libraries)
endif

if BUILD_LEVELZERO
criterion_suites += %D%/levelzero
%C%_levelzero_SOURCES = %D%/levelzero.c %D%/compare.c %D%/compare.h %D%/tasks.c %D%/tasks.h src/cli/wild.c \
	src/cli/wild.h
%C%_levelzero_LDADD = libsvmx.la plugins/kernels/libkernels.la $(CRITERION_LIBS)
endif
