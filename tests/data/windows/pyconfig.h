/* What Python.h asks of pyconfig.h, as a Windows build of CPython answers it: enough to compile an extension for it, not
   to link one. A compiler that reads this first does not read the pyconfig.h beside Python.h. */
#ifndef Py_PYCONFIG_H
#define Py_PYCONFIG_H

#define MS_WIN32 1
#define MS_WIN64 1
#define MS_WINDOWS 1
#define NT_THREADS 1
#define Py_ENABLE_SHARED 1
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_TIME_T 8
#define SIZEOF_WCHAR_T 2
#define ALIGNOF_MAX_ALIGN_T 8
#define HAVE_STDDEF_H 1
#define HAVE_WCHAR_H 1
#define HAVE_UINTPTR_T 1
#define WITH_THREAD 1

#endif
