"""Writes an integer as a .npy file, where there is no NumPy: npy.py NUMBER > FILE."""

import struct
import sys

header = "{'descr': '<i8', 'fortran_order': False, 'shape': (), }"
# The header ends with a line, at a multiple of 64 bytes.
header = header.ljust(-(10 + len(header) + 1) % 64 + len(header)) + "\n"
magic = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
sys.stdout.buffer.write(magic + header.encode() + struct.pack("<q", int(sys.argv[1])))
