// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

// Which Asio weft/asio.h is for, and what it needs of it.

#if !defined(WEFT_ASIO_BOOST)
#if __has_include(<asio/async_result.hpp>)
#define WEFT_ASIO_BOOST 0
#else
#define WEFT_ASIO_BOOST 1
#endif
#endif

// Asio has such functions. For further headers of Asio the program must include them before weft/defer.h.
#pragma push_macro("defer")
#undef defer

#if !WEFT_ASIO_BOOST && __has_include(<asio/async_result.hpp>)
#include <asio/any_io_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/bind_executor.hpp>
#include <asio/error.hpp>
#include <asio/execution.hpp>
#include <asio/execution_context.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/system_error.hpp>
#if __has_include(<asio/cancellation_signal.hpp>)
#include <asio/cancellation_signal.hpp>
#define WEFT_ASIO_CAN_CANCEL 1
#endif
#elif WEFT_ASIO_BOOST && __has_include(<boost/asio/async_result.hpp>)
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/system_error.hpp>
#if __has_include(<boost/asio/cancellation_signal.hpp>)
#include <boost/asio/cancellation_signal.hpp>
#define WEFT_ASIO_CAN_CANCEL 1
#endif
#else
#error "weft/asio.h needs Asio: install libasio-dev or libboost-dev, or add Asio to the include path."
#endif

#pragma pop_macro("defer")

#if !defined(WEFT_ASIO_CAN_CANCEL)
#define WEFT_ASIO_CAN_CANCEL 0
#endif

// For specializations of Asio's templates, since an alias of a namespace cannot be opened.
#if WEFT_ASIO_BOOST
#define WEFT_ASIO_NAMESPACE boost::asio
#else
#define WEFT_ASIO_NAMESPACE asio
#endif

namespace weft::inline v0_1 {

namespace asio = ::WEFT_ASIO_NAMESPACE;

namespace detail {
#if WEFT_ASIO_BOOST
using AsioErrorCode = ::boost::system::error_code;
using AsioSystemError = ::boost::system::system_error;
#else
using AsioErrorCode = ::asio::error_code;
using AsioSystemError = ::asio::system_error;
#endif
}  // namespace detail

}  // namespace weft::inline v0_1
