criterion_suites += %D%/contract
%C%_contract_SOURCES = %D%/contract.c %D%/compare.c %D%/compare.h %D%/tasks.c %D%/tasks.h src/cli/wild.c src/cli/wild.h
%C%_contract_LDADD = libsvmx.la $(CRITERION_LIBS)

criterion_suites += %D%/chains
%C%_chains_SOURCES = %D%/chains.c %D%/compare.c %D%/compare.h %D%/tasks.c %D%/tasks.h src/cli/wild.c src/cli/wild.h
%C%_chains_LDADD = libsvmx.la $(CRITERION_LIBS)

if BUILD_OPENCL
criterion_suites += %D%/opencl
%C%_opencl_SOURCES = %D%/opencl.c %D%/compare.c %D%/compare.h %D%/tasks.c %D%/tasks.h src/cli/wild.c src/cli/wild.h
%C%_opencl_LDADD = libsvmx.la plugins/kernels/libkernels.la $(CRITERION_LIBS)
endif

if BUILD_LEVELZERO
criterion_suites += %D%/levelzero
%C%_levelzero_SOURCES = %D%/levelzero.c %D%/compare.c %D%/compare.h %D%/tasks.c %D%/tasks.h src/cli/wild.c \
	src/cli/wild.h
%C%_levelzero_LDADD = libsvmx.la plugins/kernels/libkernels.la $(CRITERION_LIBS)
endif
