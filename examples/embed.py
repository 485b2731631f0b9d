#!/usr/bin/env python3
"""embed.py: the same from Python, by ctypes: nothing to compile.

    python3 embed.py                 needs libsvmx.so.0 where the loader looks (LD_LIBRARY_PATH)

The typed calls of ops.h are inline C and not in the library, so a binding uses svmx_batch_add, with arguments in the order
of the signature that `svmx ops` and docs/OPERATIONS.md show: outputs first.

SPDX-License-Identifier: Apache-2.0
"""
import ctypes
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p

OK, ARG_HOST, U8, U64 = 0, 1, 1, 3  # enum svmx_status, svmx_arg_kind, svmx_type


class Error(ctypes.Structure):  # struct svmx_error
    _fields_ = [("status", c_int), ("text", ctypes.c_char * 508)]


class Arg(ctypes.Structure):  # struct svmx_arg; `address` is its union
    _fields_ = [("kind", c_uint32), ("type", c_uint32), ("bytes", c_uint64), ("address", c_void_p), ("offset", c_uint64)]


svmx = ctypes.CDLL("libsvmx.so.0")
svmx.svmx_open.argtypes = [POINTER(c_void_p), c_void_p, POINTER(Error)]
svmx.svmx_close.argtypes = svmx.svmx_batch_destroy.argtypes = svmx.svmx_run.argtypes = [c_void_p]
svmx.svmx_batch_create.argtypes = [c_void_p, POINTER(c_void_p)]
svmx.svmx_batch_add.argtypes = [c_void_p, c_uint32, POINTER(Arg), c_size_t]
svmx.svmx_op_find.argtypes = [c_void_p, c_char_p, POINTER(c_uint32), POINTER(Error)]
svmx.svmx_batch_error.argtypes, svmx.svmx_batch_error.restype = [c_void_p], c_char_p


def host(kind, buffer):
    """An argument in memory of Python's. The buffer must live until the batch has run: the library has its address only."""
    return Arg(ARG_HOST, kind, ctypes.sizeof(buffer), ctypes.addressof(buffer), 0)


def keccak256(executor, messages):
    op, batch, error = c_uint32(), c_void_p(), Error()
    if svmx.svmx_op_find(executor, b"keccak256", byref(op), byref(error)) != OK:
        raise RuntimeError(error.text.decode())
    if svmx.svmx_batch_create(executor, byref(batch)) != OK:
        raise MemoryError("no memory for a batch")
    offsets = (c_uint64 * (len(messages) + 1))()
    for i, message in enumerate(messages):
        offsets[i + 1] = offsets[i] + len(message)
    data = ctypes.create_string_buffer(b"".join(messages), offsets[len(messages)])
    digests = ctypes.create_string_buffer(32 * len(messages))
    args = (Arg * 3)(host(U8, digests), host(U8, data), host(U64, offsets))
    try:
        if svmx.svmx_batch_add(batch, op, args, 3) != OK or svmx.svmx_run(batch) != OK:
            raise RuntimeError(svmx.svmx_batch_error(batch).decode())
    finally:
        svmx.svmx_batch_destroy(batch)
    return [digests.raw[32 * i : 32 * i + 32] for i in range(len(messages))]


executor, error = c_void_p(), Error()
if svmx.svmx_open(byref(executor), None, byref(error)) != OK:
    raise SystemExit(error.text.decode())
for digest in keccak256(executor, [b"abc", b""]):
    print(digest.hex()[:8] + "...")  # 4e03657a... c5d24601...
svmx.svmx_close(executor)
