// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Macros that other libraries bring, and that no standard header survives. So the standard's come first.
// header_rules.cmake compiles weft's headers after them.

// clang-format off
#include <bits/stdc++.h>

#include <dirent.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

// X11
#define None 0L
#define Bool int
#define Status int
#define True 1
#define False 0
#define Always 2
#define Success 0
#define Complex 0
#define Convex 2
#define Nonconvex 1
#define Above 0
#define Below 1
#define TopIf 2
#define Opposite 4
#define CursorShape 0
#define KeyPress 2
#define KeyRelease 3
#define FocusIn 9
#define FocusOut 10
#define Expose 12
#define Unsorted 0
#define YSorted 1
#define DestroyAll 0
#define RetainPermanent 1
#define GrayScale 1
#define StaticColor 2
#define ParentRelative 1L
#define CurrentTime 0L
#define NoSymbol 0L
#define ControlMask (1<<2)
#define InputOnly 2
#define IsViewable 2
#define Button1 1
#define LineSolid 0
#define CoordModeOrigin 0
#define GXcopy 3
#define Destroy 1
#define Root 1
#define Screen 1
#define Depth 1

// windows.h
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define near
#define far
#define small char
#define interface struct
#define ERROR 0
#define DELETE 1
#define IN
#define OUT
#define OPTIONAL
#define CALLBACK
#define CONST const
#define VOID void
#define IGNORE 0
#define INFINITE 0xFFFFFFFF
#define STRICT 1
#define Yield()
#define CreateEvent CreateEventW
#define CreateMutex CreateMutexW
#define CreateSemaphore CreateSemaphoreW
#define SendMessage SendMessageW
#define GetObject GetObjectW
#define GetMessage GetMessageW
#define SetPort SetPortW
#define WAIT_TIMEOUT 258
#define TRUE 1
#define FALSE 0
#define MAX_PATH 260
#define ABSOLUTE 1
#define RELATIVE 2
#define NO_ERROR 0
#define TIMEOUT 1

// complex.h
#define I (0)
#define complex _Complex
#define imaginary _Imaginary

// Unreal
#define check(expression) (void)(expression)
#define verify(expression) (void)(expression)
#define checkf(expression, ...) (void)(expression)
#define ensure(expression) (expression)
#define PI 3.14f
#define TEXT(x) L##x
#define FORCEINLINE inline

// Qt
#define slots
#define signals public
#define emit
#define foreach(a, b) for (a : b)
#define forever for (;;)
#define Q_OBJECT

// curses, and libraries of coroutines
#define move(y, x) (0)
#define clear() (0)
#define timeout(x) (0)
#define yield(x) (x)
#define await(x) (x)

// OpenCV, BSD and glibc
#define MIN(a, b) 0
#define MAX(a, b) 0
#define CLAMP(a, b) 0
#define major(x) 0
#define minor(x) 0
#define linux 1
#define unix 1
#define howmany(x, y) 0
#define roundup(x, y) 0
#define powerof2(x) 0
#define NDELAY 0
#define BLOCK 1
#define READY 1

// common words of projects
#define DEBUG 1
#define INFO 1
#define LOG(x) 0
#define ASSERT(x) 0
#define CHECK(x) 0
#define EMPTY
#define ENABLED 1
#define THREAD 1
#define ALIGN(x) 0
#define UNUSED(x) 0
#define TRACE 1
#define VERSION "1"
#define PACKAGE "x"
// clang-format on
