# A small Ethereum machine with svmx inside: docs/EMBEDDING.md. All but main.c is an archive, for its tests and its bench
# (`make bench SUITE=vm`); it is built when something asks for it.
EXTRA_LTLIBRARIES += %D%/libcontract-vm.la
CLEANFILES += %D%/libcontract-vm.la
%C%_libcontract_vm_la_SOURCES = \
	%D%/after.c \
	%D%/after.h \
	%D%/batcher.c \
	%D%/batcher.h \
	%D%/before.c \
	%D%/before.h \
	%D%/block.c \
	%D%/block.h \
	%D%/block_file.h \
	%D%/block_read.c \
	%D%/block_write.c \
	%D%/bytes.h \
	%D%/contracts.c \
	%D%/contracts.h \
	%D%/generate.c \
	%D%/generate.h \
	%D%/journal.c \
	%D%/journal.h \
	%D%/json.c \
	%D%/json.h \
	%D%/memo.h \
	%D%/memory.h \
	%D%/messages.h \
	%D%/opcodes.c \
	%D%/opcodes.h \
	%D%/ops_call.c \
	%D%/ops_data.c \
	%D%/ops_env.c \
	%D%/ops_flow.c \
	%D%/ops_math.c \
	%D%/ops_state.c \
	%D%/outcome_write.c \
	%D%/outcome_write.h \
	%D%/precompiles.c \
	%D%/precompiles.h \
	%D%/random_code.c \
	%D%/rlp.h \
	%D%/run.c \
	%D%/run.h \
	%D%/schedule.c \
	%D%/schedule.h \
	%D%/settle.c \
	%D%/settle.h \
	%D%/sign.c \
	%D%/sign.h \
	%D%/state.c \
	%D%/state.h \
	%D%/table.c \
	%D%/table.h \
	%D%/transaction.c \
	%D%/transaction.h \
	%D%/u256.c \
	%D%/u256.h \
	%D%/vm.c \
	%D%/vm.h
%C%_libcontract_vm_la_CPPFLAGS = $(public_cppflags) $(SECP256K1_CFLAGS)
%C%_libcontract_vm_la_LIBADD = $(SECP256K1_LIBS)

check_PROGRAMS += %D%/contract-vm
%C%_contract_vm_SOURCES = %D%/main.c
%C%_contract_vm_CPPFLAGS = $(public_cppflags)
%C%_contract_vm_LDADD = %D%/libcontract-vm.la libsvmx.la

EXTRA_DIST += \
	%D%/README.md \
	%D%/blocks/ROOTS \
	%D%/blocks/conflicts.json \
	%D%/blocks/hashes.json \
	%D%/blocks/mixed.json \
	%D%/blocks/random.json \
	%D%/blocks/signatures.json \
	%D%/blocks/transfers.json
