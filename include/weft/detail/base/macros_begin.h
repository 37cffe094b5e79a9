// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Hides macros that have names of weft's, until macros_end.h restores them: those of X11 (None), windows.h
// (min, max), Qt (emit, slots), curses (clear, move), complex.h (I), Unreal (check) and others. Each public
// header includes both files, so they have no include guard.
#pragma push_macro("Destroy")
#undef Destroy
#pragma push_macro("I")
#undef I
#pragma push_macro("None")
#undef None
#pragma push_macro("check")
#undef check
#pragma push_macro("clear")
#undef clear
#pragma push_macro("emit")
#undef emit
#pragma push_macro("erase")
#undef erase
#pragma push_macro("max")
#undef max
#pragma push_macro("min")
#undef min
#pragma push_macro("move")
#undef move
#pragma push_macro("slots")
#undef slots
#pragma push_macro("timeout")
#undef timeout
#pragma push_macro("yield")
#undef yield
