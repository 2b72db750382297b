#!/usr/bin/env python3
"""A lock with fencing tokens, from Python: the shared library through ctypes, no binding needed.

    lock.py /path/to/liblapse.so

The structures below repeat the public headers as far as they are used; what follows their last
field here is left as room that the library fills."""

import ctypes as c
import sys

SECOND = 10**9


class Bytes(c.Structure):
    _fields_ = [("data", c.c_char_p), ("len", c.c_size_t)]

    @classmethod
    def of(cls, text):
        data = text.encode()
        return cls(data, len(data))


class Reading(c.Structure):  # also the whole of a manual clock
    _fields_ = [("boot", c.c_uint64), ("raw_ns", c.c_int64), ("wall_ns", c.c_int64)]


class Clock(c.Structure):
    _fields_ = [("read", c.c_void_p), ("ctx", c.c_void_p)]


class Options(c.Structure):
    _fields_ = [("alloc", c.c_void_p), ("clock", Clock), ("room", c.c_char * 512)]


class End(c.Structure):
    _fields_ = [("kind", c.c_int), ("ns", c.c_int64)]


class Result(c.Structure):
    _fields_ = [("status", c.c_int), ("verb", c.c_int), ("at_ns", c.c_int64),
                ("wall_ns", c.c_int64), ("command_seq", c.c_int64), ("durable_point", c.c_int64),
                ("revision", c.c_int64), ("end", End), ("left_ns", c.c_int64),
                ("renewed", c.c_bool), ("repeated", c.c_bool), ("token", c.c_int64),
                ("watcher", c.c_int64), ("value", Bytes), ("owner", Bytes),
                ("room", c.c_char * 512)]


class Locks:
    """Locks of one store in memory, on a clock that `pass_time` moves."""

    def __init__(self, library):
        self.lib = c.CDLL(library)
        self.lib.lapse_clock_manual_vtable.restype = Clock
        self.lib.lapse_status_word.restype = c.c_char_p
        self.clock, self.result, self.store = Reading(), Result(), c.c_void_p()
        self.lib.lapse_clock_manual_init(c.byref(self.clock), c.c_int64(0))
        options = Options(clock=self.lib.lapse_clock_manual_vtable(c.byref(self.clock)))
        if self.lib.lapse_open(c.byref(options), c.byref(self.store), None) != 0:
            raise OSError("the store does not open")
        self.lib.lapse_result_init(c.byref(self.result), None)

    def acquire(self, name, owner, seconds):
        """(the answer's word, the fencing token or 0)"""
        status = self.lib.lapse_acquire(self.store, Bytes.of(name), Bytes.of(owner),
                                        c.c_int64(seconds * SECOND), c.byref(self.result), None)
        return self.lib.lapse_status_word(status).decode(), self.result.token

    def pass_time(self, seconds):
        self.lib.lapse_clock_manual_advance(c.byref(self.clock), c.c_int64(seconds * SECOND))

    def close(self):
        self.lib.lapse_result_free(c.byref(self.result))
        self.lib.lapse_close(self.store)


def main():
    locks = Locks(sys.argv[1])
    answers = [locks.acquire("jobs/nightly", "w1", 30), locks.acquire("jobs/nightly", "w2", 30)]
    locks.pass_time(30)
    answers.append(locks.acquire("jobs/nightly", "w2", 30))
    locks.close()
    for who, (word, token) in zip(("w1", "w2", "w2"), answers):
        print("%s: %s, token %d" % (who, word, token))
    return 0 if answers == [("ok", 1), ("held", 0), ("ok", 2)] else 1


if __name__ == "__main__":
    sys.exit(main())
