# Through libsvmx as it is installed: what embedders get is what must keep the contract.
criterion_suites += %D%/contract
%C%_contract_LDADD = libsvmx.la $(CRITERION_LIBS)
