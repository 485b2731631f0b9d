#!/usr/bin/env python3
"""vm_differential.py VM COUNT: examples/contract-vm against pyrevm, on transactions of generated blocks.

Every transaction is run by itself, on accounts without storage and with the balances of the block: pyrevm keeps slots and
accounts that are set by hand as if the transaction had touched them. For the same reason accounts other than the sender and
the contract are left out. Gas is free: pyrevm takes no fee for such a call. Compared: whether it succeeds, gas, output, logs,
storage that was written. What contract-vm does not support is counted as left out.

Status 77: there is no pyrevm (pip install pyrevm).

SPDX-License-Identifier: Apache-2.0
"""
import json
import subprocess
import sys

try:
    import pyrevm
except ImportError:
    print("there is no pyrevm for this Python: pip install pyrevm")
    sys.exit(77)


def number(value):
    return int(value, 16) if isinstance(value, str) else value


def raw(text):
    return bytes.fromhex(text[2:])


def alone(block, tx):
    """The block with one transaction, and of its accounts the sender and the contract, without storage."""
    accounts = [dict(a) for a in block["accounts"] if a["address"] in (tx["from"], tx["to"])]
    for account in accounts:
        account.pop("storage", None)
    return {**block, "baseFee": 0, "accounts": accounts, "transactions": [{**tx, "nonce": 0}]}


def ours(command, block):
    words = [command, "run", "-", "--json"]
    done = subprocess.run(words, input=json.dumps(block).encode(), capture_output=True, check=True)
    outcome = json.loads(done.stdout)
    result = outcome["transactions"][0]
    return result, {
        "success": result["status"] == "succeeded",
        "gas": result["gasUsed"],
        "output": raw(result["output"]),
        "logs": [([number(t) for t in log["topics"]], raw(log["data"])) for log in result.get("logs", [])],
        "storage": {
            (c["address"], number(c["slot"])): number(c["value"]) for c in outcome["changes"] if c["kind"] == "storage"
        },
    }


def theirs(block, slots):
    tx = block["transactions"][0]
    environment = pyrevm.Env(
        cfg=pyrevm.CfgEnv(chain_id=block["chainId"]),
        block=pyrevm.BlockEnv(
            number=block["number"],
            coinbase=block["coinbase"],
            timestamp=block["timestamp"],
            prevrandao=number(block["prevRandao"]).to_bytes(32, "big"),
            basefee=0,
            gas_limit=block["gasLimit"],
            excess_blob_gas=0,
        ),
    )
    evm = pyrevm.EVM(env=environment, gas_limit=block["gasLimit"], spec_id="CANCUN")
    for account in block["accounts"]:
        code = {"code": raw(account["code"])} if "code" in account else {}
        evm.insert_account_info(account["address"], pyrevm.AccountInfo(nonce=account["nonce"], **code))
        evm.set_balance(account["address"], number(account["balance"]))
    output = b""
    try:
        output = evm.message_call(
            caller=tx["from"], to=tx["to"], calldata=raw(tx["data"]), value=number(tx["value"]), gas=tx["gas"]
        )
    except RuntimeError:
        pass  # evm.result says how it ended
    result = evm.result
    if result is None:  # refused: it may not be in a block
        return {"success": False, "gas": 0, "output": b"", "logs": [], "storage": {}}
    logs = [([number(t) for t in log.topics], bytes(log.data[1])) for log in result.logs] if result.is_success else []
    return {
        "success": result.is_success,
        "gas": result.gas_used,
        "output": bytes(output) if result.is_success else b"",
        "logs": logs,
        "storage": {slot: evm.storage(*slot) for slot in slots},
    }


def blocks(command, count):
    """Of the random kind a block a seed, because a block has two contracts only."""
    wishes = [("random", 3, seed) for seed in range(count)]
    wishes += [(kind, count // 8 + 1, 1) for kind in ["transfers", "hashes", "signatures", "conflicts", "mixed"]]
    for kind, transactions, seed in wishes:
        words = [command, "gen", kind, "--count", str(transactions), "--seed", str(seed), "--unsigned"]
        yield f"{kind}, seed {seed}", json.loads(subprocess.run(words, capture_output=True, check=True).stdout)


def main():
    command, count = sys.argv[1], int(sys.argv[2])
    passed = failed = left_out = 0
    for name, block in blocks(command, count):
        for i, tx in enumerate(block["transactions"]):
            if "to" not in tx:
                left_out += 1
                continue
            one = alone(block, tx)
            result, mine = ours(command, one)
            if "not supported" in result.get("error", ""):
                left_out += 1
                continue
            other = theirs(one, mine["storage"])
            if not mine["success"]:
                mine["output"] = b""  # pyrevm does not tell what was reverted with
            if mine == other:
                passed += 1
                continue
            failed += 1
            print(f"{name}, transaction {i}\n  ours {result.get('error', '')} {mine}\n  theirs {other}")
    print(f"{left_out} left out: not supported")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


sys.exit(main())
