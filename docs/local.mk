EXTRA_DIST += \
	%D%/ARCHITECTURE.md \
	%D%/BENCHMARKS.md \
	%D%/FIGURES.md \
	%D%/GPU-CODE.md \
	%D%/INDEX.md \
	%D%/KERNELS.md \
	%D%/MIGRATION.md \
	%D%/OPENCL.md \
	%D%/OPERATIONS.md \
	%D%/PLUGIN-GUIDE.md \
	%D%/PROFILE.md \
	%D%/RECEIPTS.md \
	%D%/RELIABILITY.md \
	%D%/ROUTING.md \
	%D%/SIM.md \
	%D%/adr/0001-error-text-in-the-batch.md \
	%D%/adr/0002-outputs-never-overlap.md \
	%D%/adr/0003-inline-devices.md \
	%D%/adr/0004-same-pipeline-for-several-buckets.md \
	%D%/adr/0005-unnamed-backends-follow.md \
	%D%/adr/0006-two-roundings-where-one-would-do.md \
	%D%/adr/0007-operations-say-invalid-by-an-output.md \
	%D%/adr/0008-a-builder-beside-the-submitter.md \
	%D%/adr/0009-the-core-measures-variants.md \
	%D%/adr/0010-arithmetic-is-measured-not-declared.md
